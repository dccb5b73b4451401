use lango_operator::OperatorSettings;
use lango_tool::ToolError;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::Bench;

#[tokio::test]
async fn matching_lines_are_found_with_path_and_number() {
    let bench = Bench::new().await;
    bench.put("a.rs", "fn one() {}\r\nfn two() {}\r\n");
    bench.put("sub/b.md", "call two()\n");
    bench.put("sub/latin.md", b"zwei \xfc two()\n");
    bench.put("binary", b"\0two()");
    let search = async |arguments| bench.call("fs_search", arguments).await.unwrap();
    assert_eq!(
        search(json!({"pattern": r"two\(\)"})).await,
        "3 matching lines in 4 files searched\na.rs:2: fn two() {}\nsub/b.md:1: call two()\n\
         sub/latin.md:1: zwei � two()"
    );
    for (path, glob) in [(".", "*.rs"), (".", "./a.*"), ("a.rs", "*")] {
        let text =
            search(json!({"pattern": "TWO(?-i:)|(?i)TWO", "path": path, "glob": glob})).await;
        assert_eq!(text, "1 matching lines in 1 files searched\na.rs:2: fn two() {}");
    }
    for (path, glob) in [(".", "sub/*.md"), ("sub", "*.md"), (".", "**/*.md"), ("sub", "sub/*")] {
        let text = search(json!({"pattern": "call", "path": path, "glob": glob})).await;
        assert!(text.ends_with("\nsub/b.md:1: call two()"), "{text}");
    }
}

#[tokio::test]
async fn what_git_ignores_is_skipped_unless_asked_for() {
    let bench = Bench::new().await;
    bench.put(".gitignore", "target/\n*.log\n!keep.log\n/only_here\n");
    bench.put("sub/.gitignore", "!again.log\nlocal\n");
    for name in [
        "target/x",
        "a.log",
        "keep.log",
        "only_here",
        "sub/only_here",
        "sub/again.log",
        "sub/b.log",
        "sub/local",
        ".github/x",
        ".git/x",
    ] {
        bench.put(name, "needle\n");
    }
    let found = async |path: &str| {
        let text =
            bench.call("fs_search", json!({"pattern": "needle", "path": path})).await.unwrap();
        text.lines().skip(1).map(|line| line.replace(":1: needle", "")).collect::<Vec<_>>()
    };
    let everything = [".github/x", "keep.log", "sub/again.log", "sub/only_here"];
    let mut all = found(".").await;
    all.sort();
    assert_eq!(all, everything);
    assert_eq!(found("sub").await, ["sub/again.log", "sub/only_here"]);
    assert_eq!(found("target").await, ["target/x"]);
}

#[tokio::test]
async fn a_search_is_bounded() {
    let settings =
        OperatorSettings { max_search_matches: 3, max_file_bytes: 1000, ..Default::default() };
    let bench = Bench::with(settings).await;
    bench.put("large", "x\n".repeat(1000));
    bench.put("long", format!("{}needle{}", "ä".repeat(100), "b".repeat(500)));
    bench.put("many", "x\n".repeat(10));
    let text = bench.call("fs_search", json!({"pattern": "^x"})).await.unwrap();
    assert!(text.starts_with("3 matching lines"), "{text}");
    assert!(text.contains("1 too large to search; stopped after 3 matches"), "{text}");
    let text = bench.call("fs_search", json!({"pattern": "needle"})).await.unwrap();
    assert!(text.contains("needle") && text.ends_with("b…") && text.len() < 700, "{text}");
}

#[tokio::test]
async fn bad_patterns_and_cancelled_turns_are_told() {
    let bench = Bench::new().await;
    for arguments in [json!({"pattern": "("}), json!({"pattern": "x", "glob": "{"})] {
        let result = bench.call("fs_search", arguments).await;
        assert!(matches!(result, Err(ToolError::Arguments(_))), "{result:?}");
    }
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let result = bench.call_with("fs_search", json!({"pattern": "x"}), cancelled).await;
    assert_eq!(result, Err(ToolError::Cancelled));
}

#[tokio::test]
async fn matches_are_counted_for_each_file() {
    let bench = Bench::new().await;
    bench.put("a.txt", "one One\ntwo\nONE\n");
    bench.put("b.txt", "one\n");
    bench.put("c.txt", "none of them: two\n");
    bench.put("binary", b"\0one");
    let search = async |arguments| bench.call("fs_search", arguments).await.unwrap();
    assert_eq!(
        search(json!({"pattern": r"\bone\b", "count": true})).await,
        "2 matches in 2 lines of 2 files, 4 files searched\na.txt: 1\nb.txt: 1"
    );
    assert_eq!(
        search(json!({"pattern": r"\bone\b", "count": true, "ignore_case": true})).await,
        "4 matches in 3 lines of 2 files, 4 files searched\na.txt: 3\nb.txt: 1"
    );
    assert_eq!(
        search(json!({"pattern": "ONE", "path": "a.txt", "ignore_case": true})).await,
        "2 matching lines in 1 files searched\na.txt:1: one One\na.txt:3: ONE"
    );
    assert_eq!(
        search(json!({"pattern": r"\bone\b", "files_without": true})).await,
        "1 file without a match, 4 files searched\nc.txt"
    );
    let counted = bench.report("fs_search", json!({"pattern": "two", "count": true})).await;
    assert_eq!(counted.summary, "`two` has 2 matches in 2 lines of 2 files (4 files searched):");
    assert_eq!(counted.files().unwrap().paths, ["a.txt", "c.txt"]);
    assert_eq!(counted.data.unwrap()["files"][1], json!({"path": "c.txt", "matches": 1}));
    let without = json!({"pattern": "one", "files_without": true, "glob": "*.txt"});
    let report = bench.report("fs_search", without).await;
    assert_eq!(report.summary, "0 files have no match for `one` (3 files searched).");
    let nothing = bench.report("fs_search", json!({"pattern": "zzz", "count": true})).await;
    assert_eq!(nothing.summary, "Nothing was found for `zzz` (4 files searched).");
}

#[tokio::test]
async fn a_count_goes_on_where_lines_would_end() {
    let settings = OperatorSettings { max_search_matches: 2, ..Default::default() };
    let bench = Bench::with(settings).await;
    for name in ["a", "b", "c"] {
        bench.put(name, "x x\nx\n");
    }
    let text = bench.call("fs_search", json!({"pattern": "x", "count": true})).await.unwrap();
    let expected = "9 matches in 6 lines of 3 files, 3 files searched; the first 2 are shown\n\
                    a: 3\nb: 3";
    assert_eq!(text, expected);
}
