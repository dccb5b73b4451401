//! What people ask for about their files, in whole turns: a model that calls the file tools, the
//! question, the result, and `lango undo`.

use std::collections::BTreeMap;
use std::path::Path;

use lango_protocol::{CallStatus, EventBody, ReportedFiles};

use crate::approvals::question;
use crate::fixture::{Lango, TO_OPERATOR, calling};
use crate::journal::Turn;

const FILES: [(&str, &str); 6] = [
    ("README.md", "# Sample\n\nTODO one\ntodo two\n"),
    ("notes/a.txt", "first\nsecond\nthird"),
    ("notes/b.txt", "TODO three\n"),
    ("notes/old/c.txt", "x"),
    ("photo.JPG", "not really a photo"),
    ("secret/key.txt", "4711"),
];

/// The operator makes these calls, one after the other, in a workspace with some files.
async fn lango(calls: &[(&str, &str)]) -> Lango {
    let lango = Lango::playing(&[TO_OPERATOR, &calling("operator", calls)]).await;
    for (name, content) in FILES {
        let path = lango.workspace().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    lango
}

/// All files below a directory with their contents.
fn contents(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(path) = pending.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                found.insert(format!("{name}/"), String::new());
                pending.push(path);
            } else {
                found.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// The files that the results of a turn are about.
fn reported(turn: &Turn) -> Vec<ReportedFiles> {
    let files = turn.events.iter().filter_map(|event| match &event.body {
        EventBody::ToolResult { report: Some(report), .. } => report.files(),
        _ => None,
    });
    files.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_tools_answer_without_a_question() {
    let lango = lango(&[
        ("fs_find", r#"{ kind = "image" }"#),
        ("fs_find", r#"{ kind = "directory", sort = "size", limit = 1 }"#),
        ("fs_find", r#"{ glob = "*.txt", count = true }"#),
        ("fs_read", r#"{ path = "notes/a.txt", last = 2 }"#),
        ("fs_search", r#"{ pattern = "todo", ignore_case = true, count = true }"#),
        ("fs_search", r#"{ pattern = "TODO", files_without = true, glob = "notes/**" }"#),
    ])
    .await;
    let turn = lango.ask("look").turn().await;
    let outputs: Vec<&str> = turn.results().iter().map(|(_, _, output)| *output).collect();
    assert_eq!((turn.code, outputs.len()), (0, 6), "{outputs:?}");
    assert!(outputs[0].starts_with("1 image found, 18 bytes in all\n"), "{}", outputs[0]);
    assert!(outputs[1].contains("; the first 1 are shown\ndirectory"), "{}", outputs[1]);
    assert!(outputs[1].ends_with(" notes/"), "{}", outputs[1]);
    assert_eq!(outputs[2], "4 entries found, 34 bytes in all");
    assert_eq!(outputs[3], "notes/a.txt: lines 2-3 of 3\nsecond\nthird");
    assert!(outputs[4].starts_with("3 matches in 3 lines of 2 files"), "{}", outputs[4]);
    let without = "2 files without a match, 3 files searched\nnotes/a.txt\nnotes/old/c.txt";
    assert_eq!(outputs[5], without);
    let paths: Vec<Vec<String>> = reported(&turn).into_iter().map(|files| files.paths).collect();
    assert_eq!(paths[0], ["photo.JPG"]);
    assert_eq!(paths[3], ["notes/a.txt"]);
    assert_eq!(paths[5], ["notes/a.txt", "notes/old/c.txt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_needs_a_yes_and_is_taken_back() {
    for (tool, arguments, changed) in [
        ("fs_copy", r#"{ from = "notes", to = "copy" }"#, "copy/old/c.txt"),
        (
            "fs_copy",
            r#"{ from = ["notes/*.txt", "README.md"], to = "new/place" }"#,
            "new/place/b.txt",
        ),
        ("fs_copy", r#"{ from = "photo.JPG", to = "README.md", overwrite = true }"#, "README.md"),
        ("fs_append", r#"{ path = "notes/a.txt", content = "fourth" }"#, "notes/a.txt"),
        ("fs_append", r#"{ path = "new/list", content = "milk" }"#, "new/list"),
        (
            "fs_edit",
            r#"{ path = "README.md", old_text = "o", new_text = "0", expected_matches = "all" }"#,
            "README.md",
        ),
        ("fs_move", r#"{ from = ["notes/*.txt", "photo.JPG"], to = "moved" }"#, "moved/photo.JPG"),
        ("fs_move", r#"{ from = "photo.JPG", to = "README.md", overwrite = true }"#, "README.md"),
        ("fs_delete", r#"{ path = ["notes/*.txt", "README.md"] }"#, "notes/a.txt"),
        ("fs_delete", r#"{ path = "notes", recursive = true }"#, "notes/old/c.txt"),
    ] {
        let lango = lango(&[(tool, arguments)]).await;
        let workspace = lango.workspace();
        let before = contents(&workspace);
        let turn = lango.ask("change").turn().await;
        assert_eq!(turn.results_with(CallStatus::Denied), 1, "{tool} {arguments}");
        assert_eq!(contents(&workspace), before, "{tool} {arguments}: no user could be asked");
        let turn = lango.ask("change").with(&["--approve", "all"]).turn().await;
        assert_eq!(turn.results_with(CallStatus::Ok), 1, "{arguments}: {:?}", turn.results());
        let after = contents(&workspace);
        assert_ne!(after.get(changed), before.get(changed), "{tool} {arguments}");
        assert!(!reported(&turn)[0].paths.is_empty(), "{tool} {arguments}");
        let undone = lango.command(&["undo"]).run().await;
        assert_eq!(undone.code, 0, "{tool} {arguments}: {undone:?}");
        assert_eq!(contents(&workspace), before, "{tool} {arguments}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_question_lists_every_path() {
    let lango = lango(&[("fs_delete", r#"{ path = "**/*.txt" }"#)]).await;
    let running = lango.ask("delete the texts").with(&["--approve", "wait"]).start();
    let id = question(&lango).await;
    let shown = lango.command(&["approvals", "show", &id]).run().await.stdout;
    assert!(shown.contains("Delete 4 entries:"), "{shown}");
    for name in ["notes/a.txt", "notes/b.txt", "notes/old/c.txt", "secret/key.txt"] {
        assert!(shown.contains(&format!("- {name}")), "{name}: {shown}");
        assert!(shown.contains(&format!("exactly {name}")), "always, {name}: {shown}");
    }
    // What comes while the question is open was not agreed to.
    std::fs::write(lango.workspace().join("late.txt"), "mine").unwrap();
    let answered = lango.command(&["approvals", "approve", &id]).run().await;
    assert_eq!(answered.code, 0, "{answered:?}");
    let turn = running.turn().await;
    assert_eq!(turn.results_with(CallStatus::Refused), 1, "{:?}", turn.results());
    let left = contents(&lango.workspace());
    assert!(left.contains_key("late.txt") && left.contains_key("notes/a.txt"), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_denies_one_of_several_paths_denies_the_call() {
    for (tool, arguments) in [
        ("fs_delete", r#"{ path = "**/*.txt" }"#),
        ("fs_move", r#"{ from = ["README.md", "secret/*"], to = "moved" }"#),
        ("fs_copy", r#"{ from = ["README.md", "secret"], to = "copied" }"#),
        ("fs_copy", r#"{ from = ["README.md", "photo.JPG"], to = "secret" }"#),
    ] {
        let lango = lango(&[(tool, arguments)]).await;
        let rule = ["approvals", "add", "deny", "--tool", "fs_*", "--", "secret/*"];
        assert_eq!(lango.command(&rule).run().await.code, 0);
        let before = contents(&lango.workspace());
        let turn = lango.ask("do it").with(&["--approve", "all"]).turn().await;
        assert_eq!(turn.results_with(CallStatus::Ok), 0, "{arguments}: {:?}", turn.results());
        assert_eq!(contents(&lango.workspace()), before, "{tool} {arguments}");
    }
}

/// The operator makes these calls in a workspace that is the home, with a key in it.
async fn at_home(calls: &[(&str, &str)]) -> Lango {
    let lango = lango(calls).await;
    std::fs::create_dir(lango.workspace().join(".ssh")).unwrap();
    std::fs::write(lango.workspace().join(".ssh/id_ed25519"), "canary").unwrap();
    std::fs::write(lango.workspace().join(".bashrc"), "mine").unwrap();
    lango
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_places_are_not_found_nor_changed_even_with_a_yes() {
    let calls = [
        ("fs_find", r#"{ glob = "id_ed25519" }"#),
        ("fs_find", r#"{ kind = "directory" }"#),
        ("fs_copy", r#"{ from = ".ssh", to = "keys" }"#),
        ("fs_copy", r#"{ from = ".ssh/*", to = "keys" }"#),
        ("fs_move", r#"{ from = ["README.md", ".ssh/id_ed25519"], to = "keys" }"#),
        ("fs_delete", r#"{ path = "**/id_ed25519" }"#),
    ];
    let lango = at_home(&calls).await;
    let before = contents(&lango.workspace());
    let ask = lango.ask("look").with(&["--approve", "all"]).set("HOME", lango.workspace());
    let turn = ask.turn().await;
    let results = turn.results();
    assert_eq!(results.len(), calls.len(), "{results:?}");
    assert!(results[0].2.starts_with("0 entries found"), "{results:?}");
    assert!(!results[1].2.contains(".ssh"), "{results:?}");
    for (tool, status, output) in &results[2..] {
        assert_eq!(*status, CallStatus::Error, "{tool}: {output}");
    }
    assert_eq!(contents(&lango.workspace()), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn protected_places_are_asked_about_although_a_rule_allows_everything() {
    let calls = [
        ("fs_copy", r#"{ from = "README.md", to = "AGENTS.md" }"#),
        ("fs_copy", r#"{ from = ["README.md", "notes"], to = ".github/workflows" }"#),
        ("fs_copy", r#"{ from = "README.md", to = "allowed.md" }"#),
        ("fs_append", r#"{ path = ".bashrc", content = "evil" }"#),
        ("fs_delete", r#"{ path = ["README.md", ".bashrc"] }"#),
    ];
    let lango = at_home(&calls).await;
    let rule = ["approvals", "add", "allow", "--tool", "fs_*"];
    assert_eq!(lango.command(&rule).run().await.code, 0);
    let before = contents(&lango.workspace());
    let turn = lango.ask("change").set("HOME", lango.workspace()).turn().await;
    assert_eq!(turn.results_with(CallStatus::Denied), 4, "{:?}", turn.results());
    assert_eq!(turn.results_with(CallStatus::Ok), 1, "{:?}", turn.results());
    let mut after = contents(&lango.workspace());
    assert!(after.remove("allowed.md").is_some());
    assert_eq!(after, before);
}
