use lango_tool::ToolError;
use serde_json::{Value, json};

use crate::support::Bench;

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "file", "old_text": old, "new_text": new})
}

#[tokio::test]
async fn exact_text_is_replaced_and_the_diff_shown() {
    let bench = Bench::new().await;
    bench.put("file", "one\ntwo\nthree\n");
    let text = bench.call("fs_edit", edit("two\n", "2\n2.5\n")).await.unwrap();
    assert_eq!(
        text,
        "edited file, +2 -1 lines\n--- file\n+++ file\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three\n"
    );
    assert_eq!(bench.content("file"), b"one\n2\n2.5\nthree\n");
    let mut all = edit("e\n", "E\n");
    all["expected_matches"] = json!(2);
    let text = bench.call("fs_edit", all).await.unwrap();
    assert!(text.starts_with("edited file in 2 places, +2 -2 lines"), "{text}");
    assert_eq!(bench.content("file"), b"onE\n2\n2.5\nthreE\n");
}

#[tokio::test]
async fn a_stale_or_ambiguous_edit_changes_nothing() {
    let bench = Bench::new().await;
    let content = b"same\r\nsame\r\n  other\r\n";
    bench.put("file", content);
    for (arguments, why) in [
        (edit("same", "x"), "occurs 2 times in file, not 1"),
        (edit("gone", "x"), "does not occur in file"),
        (edit("same\nsame", "x"), "CRLF"),
        (edit("\tother", "x"), "At line 3"),
        (edit("other", "other"), "the same"),
        (
            json!({"path": "file", "old_text": "other", "new_text": "x", "expected_matches": 2}),
            "occurs 1 times in file, not 2",
        ),
        (json!({"path": "missing/file", "old_text": "a", "new_text": "b"}), "does not exist"),
        (json!({"path": ".", "old_text": "a", "new_text": "b"}), "is a directory"),
    ] {
        let error = bench.failure("fs_edit", arguments).await;
        assert!(error.contains(why), "{error}");
        assert_eq!(bench.content("file"), content);
    }
    assert!(!bench.path("missing").exists());
    for arguments in [
        edit("", "x"),
        json!({"path": "file", "old_text": "a", "new_text": "b", "expected_matches": 0}),
    ] {
        let result = bench.call("fs_edit", arguments).await;
        assert!(matches!(result, Err(ToolError::Arguments(_))), "{result:?}");
    }
}

#[tokio::test]
async fn bytes_that_are_not_edited_stay_as_they_are() {
    let bench = Bench::new().await;
    bench.put("file", b"\xfc\xdf\r\nold\r\n\xe4\xff");
    bench.call("fs_edit", edit("old\r\n", "größe\r\n")).await.unwrap();
    assert_eq!(bench.content("file"), b"\xfc\xdf\r\ngr\xc3\xb6\xc3\x9fe\r\n\xe4\xff");
    bench.put("file", b"a\0old");
    assert!(bench.failure("fs_edit", edit("old", "new")).await.contains("not text"));
    bench.put("file", "");
    assert!(bench.failure("fs_edit", edit("old", "new")).await.contains("does not occur"));
}

#[tokio::test]
async fn an_edit_that_would_explode_is_refused() {
    let bench = Bench::new().await;
    bench.put("file", "a".repeat(1_000_000));
    let mut arguments = edit("a", &"b".repeat(1_000_000));
    arguments["expected_matches"] = json!(1_000_000);
    assert!(bench.failure("fs_edit", arguments).await.contains("would grow"));
}

#[tokio::test]
async fn all_matches_are_replaced_if_that_is_asked_for() {
    let bench = Bench::new().await;
    bench.put("file", "a b a\na\n");
    let mut arguments = edit("a", "x");
    arguments["expected_matches"] = json!("all");
    let shown = bench.summary("fs_edit", &arguments);
    assert!(shown.starts_with("Edit file: replace, every time (3 now),\n  - a\n"), "{shown}");
    let report = bench.report("fs_edit", arguments.clone()).await;
    assert_eq!(report.summary, "Edited `file` in 3 places, +2 -2 lines:");
    assert_eq!(bench.content("file"), b"x b x\nx\n");
    assert!(bench.failure("fs_edit", arguments).await.contains("does not occur"));
    for word in ["some", "-1", ""] {
        let mut arguments = edit("x", "y");
        arguments["expected_matches"] = json!(word);
        let result = bench.call("fs_edit", arguments).await;
        assert!(matches!(result, Err(ToolError::Arguments(_))), "{word}: {result:?}");
    }
}
