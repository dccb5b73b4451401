//! Tests the reports of changed files.

use serde_json::json;

use super::{parts, verbatim};
use crate::support::Bench;

const UNDO: &str = "`lango undo` takes it back.";

#[tokio::test]
async fn a_change_says_what_changed_and_how_to_take_it_back() {
    let bench = Bench::new().await;
    bench.put("latin", b"\xfc");
    bench.put("sub/one", "");
    for (tool, arguments, summary, data) in [
        (
            "fs_write",
            json!({"content": "a\nb\n", "path": "new.txt"}),
            "Created `new.txt`: 4 bytes, +2 -0 lines.",
            json!({"paths": ["new.txt"], "path": "new.txt", "bytes": 4, "created": true,
                   "changes": {"added": 2, "removed": 0}}),
        ),
        (
            "fs_write",
            json!({"content": "a\nc\n", "path": "new.txt"}),
            "Replaced the content of `new.txt`: 4 bytes, +1 -1 lines.",
            json!({"paths": ["new.txt"], "path": "new.txt", "bytes": 4, "created": false,
                   "changes": {"added": 1, "removed": 1}}),
        ),
        (
            "fs_write",
            json!({"content": "x", "path": "latin"}),
            "Replaced the content of `latin`: 1 byte.",
            json!({"paths": ["latin"], "path": "latin", "bytes": 1, "created": false, "changes": null}),
        ),
        (
            "fs_mkdir",
            json!({"path": "sub/dir"}),
            "Made the directory `sub/dir`.",
            json!({"paths": ["sub/dir"], "path": "sub/dir", "created": true}),
        ),
        (
            "fs_move",
            json!({"from": "new.txt", "to": "sub/new.txt"}),
            "Moved `new.txt` to `sub/new.txt`.",
            json!({"paths": ["sub/new.txt"], "from": ["new.txt"]}),
        ),
        (
            "fs_delete",
            json!({"path": "latin"}),
            "Deleted `latin`.",
            json!({"paths": ["latin"], "entries": 1}),
        ),
        (
            "fs_delete",
            json!({"path": "sub", "recursive": true}),
            "Deleted `sub` with the 3 entries in it.",
            json!({"paths": ["sub"], "entries": 4}),
        ),
    ] {
        let report = bench.report(tool, arguments).await;
        assert_eq!(parts(&report), (summary, None, vec![UNDO]));
        assert_eq!(report.data, Some(data));
    }
}

#[tokio::test]
async fn a_directory_that_was_there_is_not_a_change() {
    let bench = Bench::new().await;
    bench.put("sub/one", "");
    let report = bench.report("fs_mkdir", json!({"path": "sub"})).await;
    let summary = "`sub` was there already; nothing was changed.";
    assert_eq!(parts(&report), (summary, None, vec![]));
    let report = bench.report("fs_delete", json!({"path": "sub", "recursive": true})).await;
    assert_eq!(report.summary, "Deleted `sub` with the one entry in it.");
}

#[tokio::test]
async fn an_edit_shows_the_difference() {
    let bench = Bench::new().await;
    bench.put("new.txt", "a\nc\n");
    let edit = |old: &str, new: &str, matches: usize| json!({"path": "new.txt", "old_text": old, "new_text": new, "expected_matches": matches});
    let report = bench.report("fs_edit", edit("c", "d", 1)).await;
    let difference = verbatim("--- new.txt\n+++ new.txt\n@@ -1,2 +1,2 @@\n a\n-c\n+d\n");
    let summary = "Edited `new.txt`, +1 -1 lines:";
    assert_eq!(parts(&report), (summary, Some(&difference), vec![UNDO]));
    let changes = json!({"added": 1, "removed": 1});
    let facts = json!({"paths": ["new.txt"], "path": "new.txt", "matches": 1, "changes": changes});
    assert_eq!(report.data, Some(facts), "no content in the data");

    bench.put("new.txt", "x\ny\nx\n");
    let report = bench.report("fs_edit", edit("x", "z", 2)).await;
    assert_eq!(report.summary, "Edited `new.txt` in 2 places, +2 -2 lines:");
}
