//! Servers that take long, are stopped, crash, and never outlive us.

use lango_protocol::CallStatus;
use rustix::process::Signal;

use super::peer::{hostile, lango_with};
use crate::invocation::until;

/// Whether a process has this word among its arguments; one that is dead and not yet buried has
/// none.
fn runs(word: &str) -> bool {
    let has = |line: Vec<u8>| String::from_utf8_lossy(&line).contains(word);
    let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.any(|process| std::fs::read(process.path().join("cmdline")).is_ok_and(has))
}

#[tokio::test(flavor = "multi_thread")]
async fn f8_a_crash_in_the_middle_of_a_call_is_told_and_the_next_call_works() {
    let state = "state";
    let lango = lango_with("", &[("mcp_frail_greet", "{}"), ("mcp_frail_greet", "{}")]).await;
    let file = lango.workspace().join(state).display().to_string();
    let mode = ["crash", "--state", &file, "--times", "1"];
    super::peer::configure(&lango, &hostile("frail", &mode, "writable = [\".\"]"));
    let turn = lango.ask("greet").with(&["--approve", "all"]).turn().await;
    let results = turn.results();
    assert_eq!(results[0].1, CallStatus::Error, "{results:?}");
    assert!(results[0].2.contains("in the middle of the call"), "{results:?}");
    assert!(results[0].2.contains("code 3"), "{results:?}");
    assert_eq!(results[1].1, CallStatus::Ok, "{results:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_always_crashes_is_left_alone_and_others_work() {
    let calls = [
        ("mcp_frail_greet", r#"{ name = "a" }"#),
        ("mcp_frail_greet", r#"{ name = "b" }"#),
        ("mcp_frail_greet", r#"{ name = "c" }"#),
        ("mcp_good_greet", "{}"),
    ];
    let config = hostile("frail", &["crash"], "") + &hostile("good", &["plain"], "");
    let lango = lango_with(&config, &calls).await;
    let turn = lango.ask("greet").with(&["--approve", "all"]).turn().await;
    let results = turn.results();
    assert!(results[..3].iter().all(|(_, status, _)| *status == CallStatus::Error), "{results:?}");
    assert_eq!(results[3].1, CallStatus::Ok, "{results:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_turn_tells_the_server_and_ends_it() {
    let lango = lango_with("", &[("mcp_slow_greet", "{}")]).await;
    let log = lango.workspace().join(format!("log-{}", std::process::id()));
    let name = log.display().to_string();
    let misbehaviour = ["stall", "--log", &name];
    super::peer::configure(&lango, &hostile("slow", &misbehaviour, "writable = [\".\"]"));
    let running = lango.ask("greet").with(&["--approve", "all"]).start();
    let logged = || std::fs::read_to_string(&log).unwrap_or_default();
    until("the call", || logged().contains("tools/call")).await;
    running.signal(Signal::INT);
    let turn = running.turn().await;
    assert_eq!((turn.code, turn.results_with(CallStatus::Cancelled)), (130, 1));
    assert!(logged().contains("notifications/cancelled"), "{}", logged());
    until("the end of the server", || !runs(&name)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_makes_a_call_live_longer_than_its_limit_and_not_for_ever() {
    // It reports progress without end: one second without would be too much, ten seconds are.
    let config = hostile("slow", &["stall"], "tool_timeout_sec = 1");
    let lango = lango_with(&config, &[("mcp_slow_greet", "{}")]).await;
    let turn = lango.ask("greet").with(&["--approve", "all"]).turn().await;
    let results = turn.results();
    assert_eq!(results[0].1, CallStatus::Error, "{results:?}");
    assert!(results[0].2.contains("did not answer within 10 s"), "{results:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_server_outlives_a_killed_lango() {
    for confined in ["true", "false"] {
        let lango = lango_with("", &[("mcp_slow_greet", "{}")]).await;
        let log = lango.workspace().join(format!("log-{}-{confined}", std::process::id()));
        let name = log.display().to_string();
        let misbehaviour = ["stall", "--log", &name];
        let more = format!("writable = [\".\"]\nsandbox = {confined}");
        super::peer::configure(&lango, &hostile("slow", &misbehaviour, &more));
        let running = lango.ask("greet").with(&["--approve", "all"]).start();
        let logged = || std::fs::read_to_string(&log).unwrap_or_default();
        until("the call", || logged().contains("tools/call")).await;
        running.kill().await;
        until("the end of the server", || !runs(&name)).await;
    }
}
