//! Tests calls that move, copy or delete several files.

use lango_tool::ToolError;
use serde_json::{Value, json};

use crate::support::Bench;

async fn bench() -> Bench {
    let bench = Bench::new().await;
    for name in ["a.txt", "b.txt", "c.md", "sub/d.txt", "sub/deep/e.txt", ".hidden.txt"] {
        bench.put(name, format!("content of {name}\n"));
    }
    bench
}

fn words(bench: &Bench, tool: &str, arguments: &Value) -> Vec<String> {
    let steps = bench.propose(tool, arguments).steps;
    steps.iter().map(|step| step.words.join(" ")).collect()
}

#[tokio::test]
async fn a_glob_is_shown_as_the_paths_that_it_matches() {
    let bench = bench().await;
    for (path, expected) in [
        (json!("*.txt"), vec!["a.txt", "b.txt"]),
        (json!("**/*.txt"), vec!["a.txt", "b.txt", "sub/d.txt", "sub/deep/e.txt"]),
        (json!(["c.md", "sub/*.txt"]), vec!["c.md", "sub/d.txt"]),
        (json!(["a.txt", "*.txt"]), vec!["a.txt", "b.txt"]),
        (json!("{a,c}.*"), vec!["a.txt", "c.md"]),
        (json!(".*.txt"), vec![".hidden.txt"]),
        (json!("sub/*"), vec!["sub/d.txt", "sub/deep"]),
    ] {
        assert_eq!(words(&bench, "fs_delete", &json!({"path": path})), expected, "{path}");
    }
    let shown = bench.summary("fs_delete", &json!({"path": "*.txt"}));
    assert_eq!(shown, "Delete 2 entries:\n  - a.txt\n  - b.txt");
    bench.put("what?[1].txt", "");
    assert_eq!(words(&bench, "fs_delete", &json!({"path": "what?[1].txt"})), ["what?[1].txt"]);
    let nothing = bench.summary("fs_delete", &json!({"path": "*.pdf"}));
    assert!(nothing.contains("will be refused: nothing matches *.pdf"), "{nothing}");
}

#[tokio::test]
async fn several_are_deleted_and_nothing_else() {
    let bench = bench().await;
    let report = bench.report("fs_delete", json!({"path": ["*.txt", "sub/d.txt"]})).await;
    assert_eq!(report.summary, "Deleted 3 entries:");
    assert_eq!(report.files().unwrap().paths, ["a.txt", "b.txt", "sub/d.txt"]);
    let left = bench.report("fs_find", json!({})).await.files().unwrap().paths;
    assert_eq!(left, [".hidden.txt", "c.md", "sub/deep/e.txt"]);
    let why = bench.failure("fs_delete", json!({"path": ["c.md", "gone"]})).await;
    assert!(why.contains("gone does not exist"), "{why}");
    assert!(bench.path("c.md").exists(), "all or nothing");
    let why = bench.failure("fs_delete", json!({"path": ["sub", "sub/deep/e.txt"]})).await;
    assert!(why.contains("lies in another one of the paths"), "{why}");
    for path in [json!([]), json!(7), json!([["x"]])] {
        let result = bench.call("fs_delete", json!({"path": path})).await;
        assert!(matches!(result, Err(ToolError::Arguments(_))), "{path}: {result:?}");
    }
}

#[tokio::test]
async fn a_question_says_what_is_in_a_directory() {
    let bench = Bench::new().await;
    for number in 10..30 {
        bench.put(&format!("old/{number}.log"), "x".repeat(1000));
    }
    bench.put("old/sub/last", "");
    let shown = bench.summary("fs_delete", &json!({"path": "old", "recursive": true}));
    let (first, names) = shown.split_once('\n').unwrap();
    assert_eq!(first, "Delete old and all that is in it: 21 files and 1 directory, 20 kB");
    assert!(names.starts_with("  10.log\n  11.log\n"), "{shown}");
    assert!(names.ends_with("  19.log\n  … and 12 more"), "{shown}");
    let refused = bench.summary("fs_delete", &json!({"path": "old"}));
    assert!(refused.contains("will be refused: old is a directory with 21 entries"), "{refused}");
    bench.put("b", "");
    let both = bench.summary("fs_delete", &json!({"path": ["old", "b"], "recursive": true}));
    let start =
        "Delete 2 entries:\n  - old and all that is in it: 21 files and 1 directory, 20 kB\n";
    assert!(both.starts_with(start) && both.ends_with("\n  - b"), "{both}");
}

#[tokio::test]
async fn several_are_moved_or_copied_into_a_directory() {
    let bench = bench().await;
    let arguments = json!({"from": ["*.txt", "sub"], "to": "new/place"});
    let shown = bench.summary("fs_move", &arguments);
    let expected = "Move 3 entries to the directory new/place, which this makes:\n  - a.txt\n  \
                    - b.txt\n  - sub";
    assert_eq!(shown, expected);
    let steps = ["a.txt new/place/a.txt", "b.txt new/place/b.txt", "sub new/place/sub"];
    assert_eq!(words(&bench, "fs_move", &arguments), steps);
    let report = bench.report("fs_move", arguments).await;
    assert_eq!(report.summary, "Moved 3 entries to `new/place`:");
    assert_eq!(
        report.files().unwrap().paths,
        ["new/place/a.txt", "new/place/b.txt", "new/place/sub"]
    );
    assert!(bench.path("new/place/sub/deep/e.txt").exists() && !bench.path("a.txt").exists());

    let arguments = json!({"from": ["new/place/*", "c.md"], "to": "new"});
    let shown = bench.summary("fs_copy", &arguments);
    let expected = "Copy 4 entries to the directory new, which exists:\n  - new/place/a.txt\n  \
                    - new/place/b.txt\n  - new/place/sub (2 files and 1 directory, 47 bytes)\n  \
                    - c.md";
    assert_eq!(shown, expected);
    let text = bench.call("fs_copy", arguments).await.unwrap();
    assert_eq!(text, "copied new/place/a.txt, new/place/b.txt, new/place/sub, c.md to new");
    assert_eq!(bench.content("new/sub/deep/e.txt"), bench.content("new/place/sub/deep/e.txt"));
    assert_eq!(bench.content("new/c.md"), b"content of c.md\n");
}

#[tokio::test]
async fn one_is_renamed_or_put_into_a_directory_that_is_there() {
    let bench = bench().await;
    for (tool, verb) in [("fs_move", "Move"), ("fs_copy", "Copy")] {
        let shown = bench.summary(tool, &json!({"from": "a.txt", "to": "sub"}));
        assert_eq!(shown, format!("{verb} a.txt to sub/a.txt"));
        let shown = bench.summary(tool, &json!({"from": "a.txt", "to": "x/y.txt"}));
        assert_eq!(shown, format!("{verb} a.txt to x/y.txt\nThis makes the directory x"));
        let shown = bench.summary(tool, &json!({"from": "a.txt", "to": "new/"}));
        assert_eq!(shown, format!("{verb} a.txt to new/a.txt\nThis makes the directory new"));
    }
    bench.call("fs_copy", json!({"from": "a.txt", "to": "sub"})).await.unwrap();
    bench.call("fs_copy", json!({"from": "sub/a.txt", "to": "x/y.txt"})).await.unwrap();
    bench.call("fs_move", json!({"from": ["a.txt"], "to": "z.txt"})).await.unwrap();
    for name in ["sub/a.txt", "x/y.txt", "z.txt"] {
        assert_eq!(bench.content(name), b"content of a.txt\n");
    }
    assert!(!bench.path("a.txt").exists());
}

#[tokio::test]
async fn what_is_there_is_not_replaced_unless_asked_for() {
    let bench = bench().await;
    for tool in ["fs_copy", "fs_move"] {
        for (from, to, why) in [
            (json!("a.txt"), "b.txt", "b.txt is there already and was left alone"),
            (json!(["a.txt", "c.md"]), "b.txt", "b.txt is there, not a directory"),
            (json!(["c.md", "a.txt"]), "sub/deep/e.txt/x", "not a directory"),
            (json!("a.txt"), "a.txt", "a.txt is there already"),
            (json!("sub"), "sub/deep/sub", "lies in sub itself"),
            (json!("none"), "x", "none does not exist"),
            (json!(["sub/d.txt", "sub/deep/../d.txt"]), "b.txt", "b.txt is there"),
        ] {
            let result = bench.call(tool, json!({"from": from, "to": to})).await;
            let Err(ToolError::Failed(error)) = result else { panic!("{tool} {from}: {result:?}") };
            assert!(error.contains(why), "{tool} {from} {to}: {error}");
        }
        bench.put("sub/a.txt", "another\n");
        let both = json!({"from": ["a.txt", "sub/a.txt"], "to": "x"});
        assert!(bench.failure(tool, both).await.contains("would both become x/a.txt"));
        assert!(!bench.path("x").exists(), "nothing was made");
    }
    let arguments = json!({"from": "a.txt", "to": "b.txt", "overwrite": true});
    let shown = bench.summary("fs_copy", &arguments);
    assert_eq!(shown, "Copy a.txt to b.txt\nThis replaces b.txt, 17 bytes");
    assert_eq!(words(&bench, "fs_copy", &arguments), ["a.txt b.txt --overwrite"]);
    bench.call("fs_copy", arguments).await.unwrap();
    assert_eq!(bench.content("b.txt"), b"content of a.txt\n");
    bench.call("fs_move", json!({"from": "c.md", "to": "b.txt", "overwrite": true})).await.unwrap();
    assert_eq!(bench.content("b.txt"), b"content of c.md\n");
    let directory = json!({"from": "sub", "to": "b.txt", "overwrite": true});
    assert!(bench.failure("fs_move", directory).await.contains("only a file is replaced"));
}

#[tokio::test]
async fn what_changed_since_the_question_is_not_touched() {
    let bench = bench().await;
    let tools = [
        ("fs_delete", json!({"path": "*.txt"})),
        ("fs_delete", json!({"path": "sub", "recursive": true})),
        ("fs_move", json!({"from": "*.txt", "to": "moved"})),
        ("fs_copy", json!({"from": ["*.txt", "sub"], "to": "copied"})),
    ];
    for (number, (tool, arguments)) in tools.into_iter().enumerate() {
        let prepared = bench.registry.get(tool).unwrap().prepare(&arguments.to_string()).unwrap();
        let decided = prepared.propose().unwrap();
        bench.put(&format!("late{number}.txt"), "");
        bench.put(&format!("sub/late{number}"), "");
        assert_ne!(prepared.propose().unwrap(), decided, "{tool} {arguments}");
        let error = bench.run(prepared).await.unwrap_err().to_string();
        assert!(
            error.contains("other files are concerned than when this was decided on"),
            "{error}"
        );
        for name in ["a.txt", "b.txt", "sub/d.txt"] {
            assert!(bench.path(name).exists(), "{tool} {arguments}: {name}");
        }
        assert!(!bench.path("moved").exists() && !bench.path("copied").exists());
    }
}

#[tokio::test]
async fn what_was_to_be_refused_is_refused() {
    let bench = bench().await;
    for (tool, arguments) in [
        ("fs_delete", json!({"path": "*.new"})),
        ("fs_move", json!({"from": "*.new", "to": "moved"})),
        ("fs_copy", json!({"from": "x.new", "to": "copied"})),
    ] {
        let prepared = bench.registry.get(tool).unwrap().prepare(&arguments.to_string()).unwrap();
        assert!(prepared.propose().unwrap().summary.contains("will be refused"), "{tool}");
        bench.put("x.new", "");
        assert!(bench.run(prepared).await.is_err(), "{tool}");
        assert!(bench.path("x.new").exists() && !bench.path("copied").exists(), "{tool}");
        std::fs::remove_file(bench.path("x.new")).unwrap();
    }
}

#[tokio::test]
async fn a_failure_takes_back_what_was_done_before_it() {
    let bench = bench().await;
    // There is room for these names where they are, and not in a directory with a long name.
    let names = vec!["x".repeat(240); 15];
    bench.put(&format!("deep/{}/file", names.join("/")), "");
    let to = format!("{}/{}", "y".repeat(250), "z".repeat(250));
    let error = bench.failure("fs_copy", json!({"from": ["a.txt", "deep"], "to": to})).await;
    assert!(error.contains("everything is as it was before"), "{error}");
    assert!(!bench.path(&"y".repeat(250)).exists(), "{error}");
    assert_eq!(bench.content("a.txt"), b"content of a.txt\n");
}

#[tokio::test]
async fn too_much_for_one_call_is_refused() {
    let bench = Bench::new().await;
    for number in 0..502 {
        bench.put(&format!("many/{number}"), "");
    }
    let why = bench.failure("fs_delete", json!({"path": "many/*"})).await;
    assert!(why.contains("many/* matches too much"), "{why}");
    bench.put("large/file", vec![b'x'; 65 * 1024 * 1024]);
    for (tool, arguments) in [
        ("fs_copy", json!({"from": "large", "to": "copy"})),
        ("fs_delete", json!({"path": "large", "recursive": true})),
    ] {
        let why = bench.failure(tool, arguments).await;
        assert!(why.contains("more than one call can take back"), "{why}");
    }
    assert!(bench.path("large/file").exists() && !bench.path("copy").exists());
}

#[tokio::test]
async fn links_are_copied_and_not_followed() {
    let bench = bench().await;
    bench.link("../a.txt", "sub/link");
    bench.link(bench.outside(), "sub/way");
    bench.call("fs_copy", json!({"from": "sub", "to": "copy"})).await.unwrap();
    let target = |name: &str| std::fs::read_link(bench.path(name)).unwrap();
    assert_eq!(target("copy/link"), std::path::Path::new("../a.txt"));
    assert_eq!(target("copy/way"), bench.outside());
    bench.assert_outside_untouched();
}
