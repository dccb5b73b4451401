//! The operator at ordinary work, and on a machine that is not in order.

use lango_protocol::CallStatus;

use crate::approvals::run_once;
use crate::fixture::{Lango, TO_OPERATOR, calling};
use crate::invocation::Invocation;

#[tokio::test(flavor = "multi_thread")]
async fn the_three_largest_files_are_found() {
    let find = "find . -type f -printf '%s %p\\n' | sort -rn | head -3";
    let lango = Lango::playing(&[TO_OPERATOR, &run_once(find)]).await;
    for (name, size) in [("big", 30_000), ("bigger", 40_000), ("src/biggest", 50_000), ("small", 9)]
    {
        std::fs::write(lango.workspace().join(name), vec![b'x'; size]).unwrap();
    }
    let turn =
        lango.ask("find the three largest files here").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.code, 0);
    let largest = "50000 ./src/biggest\n40000 ./bigger\n30000 ./big";
    assert!(turn.answer().contains(largest), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn output_that_is_no_text_breaks_nothing() {
    for command in [
        "head -c 100000 /dev/zero",
        "printf 'a\\377\\376\\200b\\000c'",
        "printf '\\355\\240\\200'; printf '\\033[2J\\007' >&2",
        "head -c 50000 /dev/urandom; exit 7",
    ] {
        let lango = Lango::playing(&[TO_OPERATOR, &run_once(command)]).await;
        let turn = lango.ask("run it").with(&["--approve", "all"]).turn().await;
        let code = if command.ends_with("exit 7") { 8 } else { 0 };
        assert_eq!((turn.code, turn.results_with(CallStatus::Ok)), (code, 1), "{command}");
        assert!(turn.results()[0].2.starts_with("exit code "), "{command}");
    }
}

/// `lango run` where the workspace is mounted in a certain way.
fn mounted<'a>(lango: &'a Lango, mount: &[&str]) -> Invocation<'a> {
    let workspace = lango.workspace().display().to_string();
    let run = ["run", "--output-format", "stream-json", "--approve", "all", "write it"];
    let mut arguments = vec!["--dev-bind", "/", "/"];
    arguments.extend(mount);
    arguments.extend(["--chdir", workspace.as_str(), "--", env!("CARGO_BIN_EXE_lango")]);
    arguments.extend(run);
    let invocation = Invocation::of("bwrap", lango, &arguments);
    invocation.set("OPENAI_BASE_URL", lango.base_url(lango_model::Wire::OpenAi))
}

fn write(bytes: usize) -> String {
    let arguments = format!("{{ path = \"new\", content = \"{}\" }}", "x".repeat(bytes));
    calling("operator", &[("fs_write", &arguments)])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_named_and_leaves_nothing_half_written() {
    // Little enough for a question to show it whole, and too much for the disk.
    let lango = Lango::playing(&[TO_OPERATOR, &write(60_000)]).await;
    let workspace = lango.workspace().display().to_string();
    let turn = mounted(&lango, &["--size", "32768", "--tmpfs", &workspace]).turn().await;
    assert_eq!(turn.results_with(CallStatus::Error), 1, "{:?}", turn.results());
    assert!(turn.answer().contains("the disk is full"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_workspace_is_named() {
    let lango = Lango::playing(&[TO_OPERATOR, &write(10)]).await;
    let workspace = lango.workspace().display().to_string();
    let turn = mounted(&lango, &["--ro-bind", &workspace, &workspace]).turn().await;
    assert_eq!(turn.results_with(CallStatus::Error), 1, "{:?}", turn.results());
    assert!(turn.answer().to_lowercase().contains("read-only"), "{}", turn.answer());
    assert!(!lango.workspace().join("new").exists());
}
