//! Tests the reports of commands.

use lango_protocol::ReportDetails;
use lango_sandbox::ConfinementLevel;
use serde_json::json;

use super::{parts, verbatim};
use crate::support::Bench;

#[tokio::test]
async fn a_command_says_how_it_ended_and_what_it_printed() {
    let bench = Bench::at(ConfinementLevel::None).await;
    for (command, summary, printed) in [
        (
            "echo hi; echo oops >&2",
            "`echo hi; echo oops >&2` ended with exit code 0:",
            Some("hi\nstderr:\noops\n"),
        ),
        ("echo hi", "`echo hi` ended with exit code 0:", Some("hi\n")),
        (
            "echo oops >&2; false",
            "`echo oops >&2; false` ended with exit code 1:",
            Some("stderr:\noops\n"),
        ),
        ("true", "`true` ended with exit code 0 and printed nothing.", None),
        ("echo", "`echo` ended with exit code 0 and printed only empty lines.", None),
        (
            "echo a; kill -9 $$",
            "`echo a; kill -9 $$` ended with exit code 137 (signal 9):",
            Some("a\n"),
        ),
    ] {
        let report = bench.report("exec_shell", json!({"command": command})).await;
        assert_eq!(report.unsuccessful, !summary.contains("exit code 0"));
        assert_eq!(parts(&report), (summary, printed.map(verbatim).as_ref(), vec![]));
    }
    let report = bench.report("exec_shell", json!({"command": "exit 3"})).await;
    assert!(report.unsuccessful);
    let data = report.data.unwrap();
    assert_eq!(data["exit_code"], 3);
    assert!(data["duration_ms"].is_u64(), "{data}");
}

#[tokio::test]
async fn a_long_output_is_cut_and_says_how_much_more_there_is() {
    let bench = Bench::at(ConfinementLevel::None).await;
    let report = bench.report("exec_shell", json!({"command": "seq 1 400000"})).await;
    assert_eq!(report.summary, "`seq 1 400000` ended with exit code 0:");
    let shown = report.details.as_ref().map_or("", ReportDetails::text);
    assert!(shown.starts_with("1\n2\n") && shown.len() < 7000, "{shown}");
    assert!(report.omitted_bytes > 1_000_000);
    // 2,688,895 bytes were printed.
    assert_eq!(report.notes, ["Not shown: 1640319 more bytes of stdout."]);
}

#[tokio::test]
async fn a_command_that_the_sandbox_stopped_is_told_so() {
    let bench = Bench::at(ConfinementLevel::Landlock).await;
    let report = bench.report("exec_shell", json!({"command": "touch new"})).await;
    assert_eq!(report.summary, "`touch new` ended with exit code 1:");
    assert!(report.notes[0].starts_with("The sandbox lets commands write only to"));
    assert!(report.notes[0].ends_with('.'));
}

#[tokio::test]
async fn a_command_in_the_background_is_followed_by_its_id() {
    let bench = Bench::at(ConfinementLevel::None).await;
    let command = json!({"command": "echo up; sleep 600"});
    let report = bench.report("exec_background", command).await;
    let summary = "Started `echo up; sleep 600` in the background, as `p1`.";
    assert_eq!(parts(&report), (summary, None, vec![]));
    assert_eq!(report.data, Some(json!({"id": "p1"})));
    let report = bench.report("exec_status", json!({"id": "p1"})).await;
    assert!(report.summary.starts_with("`p1` has been running for "), "{}", report.summary);
    // The output may arrive late.
    while bench.call("exec_status", json!({"id": "p1"})).await.unwrap().ends_with("(no output)") {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let report = bench.report("exec_stop", json!({"id": "p1"})).await;
    let summary = "`p1` was stopped. The last of what it printed:";
    assert_eq!(parts(&report), (summary, Some(&verbatim("up\n")), vec![]));
}
