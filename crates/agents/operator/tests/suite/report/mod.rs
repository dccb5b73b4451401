//! Tests what users are told about calls.

mod changes;
mod commands;
mod files;
mod skills;

use lango_protocol::{CallReport, ReportDetails};
use serde_json::json;

use crate::support::Bench;

/// Returns the sentence, the details below it, and the notes.
fn parts(report: &CallReport) -> (&str, Option<&ReportDetails>, Vec<&str>) {
    let notes = report.notes.iter().map(String::as_str).collect();
    (report.summary.as_str(), report.details.as_ref(), notes)
}

fn verbatim(text: &str) -> ReportDetails {
    ReportDetails::Verbatim(text.to_owned())
}

#[tokio::test(flavor = "current_thread")]
async fn every_tool_says_what_a_call_is_about() {
    let bench = Bench::new().await;
    for (tool, arguments, description) in [
        ("fs_list", json!({}), "Listing the workspace"),
        ("fs_list", json!({"path": "src"}), "Listing `src`"),
        ("fs_read", json!({"path": "notes.md"}), "Reading `notes.md`"),
        ("fs_search", json!({"pattern": "TODO"}), "Searching files for `TODO`"),
        ("fs_stat", json!({"path": "a"}), "Looking at `a`"),
        ("fs_write", json!({"path": "a", "content": ""}), "Writing `a`"),
        ("fs_edit", json!({"path": "a", "old_text": "b", "new_text": "c"}), "Editing `a`"),
        ("fs_mkdir", json!({"path": "a"}), "Making the directory `a`"),
        ("fs_move", json!({"from": "a", "to": "b"}), "Moving `a` to `b`"),
        ("fs_delete", json!({"path": "sub"}), "Deleting `sub`"),
        ("fs_delete", json!({"path": ["a", "b"]}), "Deleting 2 paths"),
        ("fs_copy", json!({"from": "*.txt", "to": "b"}), "Copying `*.txt` to `b`"),
        ("fs_append", json!({"path": "a", "content": "x"}), "Adding to `a`"),
        ("fs_find", json!({"glob": "*.txt"}), "Finding `*.txt`"),
        ("fs_find", json!({"kind": "image"}), "Finding images"),
        ("exec_shell", json!({"command": "rm -rf build"}), "Running `rm -rf build`"),
        ("exec_background", json!({"command": "make"}), "Starting `make`"),
        ("exec_status", json!({"id": "p1"}), "Asking about the background command `p1`"),
        ("exec_stop", json!({"id": "p1"}), "Stopping the background command `p1`"),
    ] {
        assert_eq!(bench.description(tool, &arguments).as_deref(), Some(description));
    }
    // Without an object to name, the name of the tool is shown.
    assert_eq!(bench.description("fs_read", &json!({"path": ""})), None);
    let hostile = json!({"command": "echo \u{202e}\u{1b}[2K\nrm x"});
    let described = bench.description("exec_shell", &hostile);
    assert_eq!(described.as_deref(), Some("Running `echo \\u{202e}\\u{1b}[2K …`"));
}
