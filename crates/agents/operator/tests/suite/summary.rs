use serde_json::json;

use crate::support::Bench;

#[tokio::test(flavor = "current_thread")]
async fn a_command_is_shown_whole_with_its_directory() {
    let bench = Bench::new().await;
    bench.put("sub/file", "");
    let root = std::fs::canonicalize(bench.path("")).unwrap().display().to_string();
    let command =
        format!("echo {}\nRun in /tmp\u{202e}\r\u{1b}[2K; rm -rf \u{200b}x", "a".repeat(5000));
    let shown = bench.summary("exec_shell", &json!({"command": command, "cwd": "sub"}));
    let first = format!("Run in {root}/sub, for at most 30 s:\n  $ echo aaa");
    assert!(shown.starts_with(&first), "{shown}");
    let last = "a\n  $ Run in /tmp\\u{202e}\\r\\u{1b}[2K; rm -rf \\u{200b}x\n";
    let (_, surroundings) = shown.split_once(last).unwrap();
    let (confinement, variables) = surroundings.split_once('\n').unwrap();
    assert_eq!(confinement, format!("confined by bubblewrap; no network; may write to {root}"));
    assert!(variables.starts_with("variables: ") && variables.contains(" PATH "), "{variables}");
    let shown = bench.summary("exec_shell", &json!({"command": "x", "cwd": "/tmp\u{202e}"}));
    assert!(shown.starts_with("Run in /tmp\\u{202e} (will be refused: not permitted:"), "{shown}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_write_shows_its_place_size_and_first_lines() {
    let bench = Bench::new().await;
    bench.put("real/file", "");
    bench.link("real/file", "link");
    let content = "line\t\u{feff}\n".repeat(30);
    let shown = bench.summary("fs_write", &json!({"path": "link", "content": content}));
    let first = "Write 270 bytes, 30 lines, to link (which is real/file)\nThis replaces the file that \
                 is there. What changes:\n  | --- file\n  | +++ file\n  | @@ -0,0 +1,30 @@\n  | \
                 +line\\t\\u{feff}\n";
    assert!(shown.starts_with(first), "{shown}");
    assert_eq!(shown.lines().count(), 35, "every line is shown: {shown}");
    let shown = bench.summary("fs_write", &json!({"path": "new", "content": "one\n"}));
    assert_eq!(shown, "Write 4 bytes, 1 lines, to new\n  | one");
    let arguments = json!({"path": "n\u{202e}w", "content": "x".repeat(300), "create_only": true});
    let shown = bench.summary("fs_write", &arguments);
    assert!(shown.starts_with("Write 300 bytes, 1 lines, to n\\u{202e}w, only if it does not"));
    assert!(shown.ends_with(&format!("\n  | {}", "x".repeat(300))), "{shown}");
    let proposal =
        bench.propose("fs_write", &json!({"path": "x", "content": "ä\n".repeat(60_000)}));
    let shown = proposal.summary;
    assert!(shown.contains("\n(… 38155 more lines, 114465 bytes, not shown; SHA-256 "));
    assert!(proposal.not_shown.is_some(), "what is not shown whole cannot be approved");
    let shown = bench.summary("fs_write", &json!({"path": "../x", "content": ""}));
    assert!(shown.contains("will be refused"), "{shown}");
}

#[tokio::test(flavor = "current_thread")]
async fn an_edit_shows_both_texts_whole() {
    let bench = Bench::new().await;
    bench.put("file", "");
    let old = "old\n".repeat(100);
    let arguments = json!({"path": "file", "old_text": old, "new_text": "\u{2066}new"});
    let shown = bench.summary("fs_edit", &arguments);
    assert!(shown.starts_with("Edit file: replace, once (1 expected),\n  - old\n  - old\n"));
    assert_eq!(shown.matches("  - old\n").count(), 100);
    assert!(shown.ends_with("\nwith\n  + \\u{2066}new"), "{shown}");
}
