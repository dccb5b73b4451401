//! Signals: the turn stops, its children with it, and the journal says so.

use std::time::{Duration, Instant};

use lango_protocol::CallStatus;
use rustix::process::Signal;

use crate::fixture::{Lango, TO_OPERATOR};
use crate::invocation::until;

/// Returns a script with a command that leaves a process in the background and never ends by
/// itself. Process ids differ in its sandbox, so the process is recognised by how long it sleeps.
fn sleep_for(seconds: &str) -> String {
    format!(
        r#"
[[reply]]
agent = "operator"
results = 0
call = [{{ name = "exec_shell", arguments = {{ command = "setsid sleep {seconds} & wait; touch done" }} }}]
[[reply]]
agent = "operator"
say = "Slept."
"#
    )
}

/// Returns whether a process sleeps for so long; a zombie does not count.
fn sleeps(seconds: &str) -> bool {
    let is_one = |line: Vec<u8>| line == format!("sleep\0{seconds}\0").into_bytes();
    let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.any(|process| std::fs::read(process.path().join("cmdline")).is_ok_and(is_one))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_stops_the_turn_and_its_command_and_leaves_a_valid_journal() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 143)] {
        let seconds = format!("{}.{code}{}", 3000 + std::process::id(), signal.as_raw());
        let lango = Lango::playing(&[TO_OPERATOR, &sleep_for(&seconds)]).await;
        let running = lango.ask("sleep").with(&["--approve", "all"]).start();
        until("the command", || sleeps(&seconds)).await;
        let stopped = Instant::now();
        running.signal(signal);
        let turn = running.turn().await;
        assert!(stopped.elapsed() < Duration::from_secs(5), "{:?}", stopped.elapsed());
        assert_eq!(
            (turn.code, turn.status().as_str(), turn.author()),
            (code, "cancelled", "lango")
        );
        until("the end of the command", || !sleeps(&seconds)).await;
        assert!(!lango.workspace().join("done").exists());
        assert_eq!(turn.results_with(CallStatus::Cancelled), 1);
        assert!(turn.results()[0].2.contains("part of its effect"), "{:?}", turn.results());
        let told = turn.answer();
        assert!(told.starts_with("Stopped.") && told.contains("1 refused or stopped"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_session_goes_on() {
    let script = "[[reply]]\nuser = \"wait\"\ndelay_ms = 60000\nsay = \"Late.\"\n[[reply]]\nsay = \"Here.\"\n";
    let lango = Lango::playing(&[script]).await;
    let running = lango.ask("wait for it").with(&["--session", "work"]).start();
    until("the request", || lango.requests().len() == 1).await;
    running.signal(Signal::INT);
    let stopped = running.turn().await;
    assert_eq!((stopped.code, stopped.status().as_str()), (130, "cancelled"));
    let next = lango.ask("are you there?").with(&["--session", "work"]).turn().await;
    assert_eq!((next.code, next.answer()), (0, "Here."));
    let resume = lango.command(&["resume"]).run().await;
    assert_eq!(resume.stdout, "There is nothing to resume.\n", "a stopped turn has ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_were_waiting_when_the_turn_was_stopped_never_start() {
    let script = r#"
[[reply]]
agent = "operator"
call = [
    { name = "exec_shell", arguments = { command = "touch first; sleep 30" } },
    { name = "exec_shell", arguments = { command = "touch second" } },
]
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let running = lango.ask("go").with(&["--approve", "all"]).start();
    until("the first command", || lango.workspace().join("first").exists()).await;
    running.signal(Signal::INT);
    let turn = running.turn().await;
    assert_eq!((turn.code, turn.results_with(CallStatus::Cancelled)), (130, 2));
    assert_eq!(turn.count("tool_started"), 1);
    assert!(!lango.workspace().join("second").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_waits_for_a_busy_session_can_leave() {
    let slow = "[[reply]]\nuser = \"first\"\ndelay_ms = 2000\nsay = \"One.\"\n";
    let lango = Lango::playing(&[slow]).await;
    let first = lango.ask("first").with(&["--session", "work"]).start();
    until("the first request", || lango.requests().len() == 1).await;
    let second = lango.ask("second").with(&["--session", "work"]).start();
    tokio::time::sleep(Duration::from_millis(300)).await;
    second.signal(Signal::INT);
    let second = second.finish().await;
    assert_eq!(second.code, 130, "{}", second.stderr);
    assert!(second.stderr.contains("in use by process"), "{}", second.stderr);
    let first = first.turn().await;
    assert_eq!((first.code, first.answer()), (0, "One."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_does_not_read_does_not_keep_the_turn_from_stopping() {
    // Far more than a pipe holds, and then a command that would run for long.
    let script = r#"
[[reply]]
agent = "operator"
results = 0
say = "All work and no play. "
repeat = 10000
call = [{ name = "exec_shell", arguments = { command = "touch begun; sleep 30" } }]
[[reply]]
agent = "operator"
say = "Slept."
"#;
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let lango = Lango::playing(&[TO_OPERATOR, script]).await;
        let ask = lango.ask("sleep").with(&["--approve", "all", "--session", "unread"]);
        let running = ask.start_unread();
        // The turn goes on, though its output is not read.
        until("the command", || lango.workspace().join("begun").exists()).await;
        let stopped = Instant::now();
        running.signal(signal);
        let finished = running.finish().await;
        assert_eq!(finished.code, code, "{}", finished.stderr);
        assert!(stopped.elapsed() < Duration::from_secs(10), "{:?}", stopped.elapsed());
        assert!(finished.stderr.contains("its reader did not take it"), "{}", finished.stderr);
        let export = lango.command(&["sessions", "export", "unread"]).run().await;
        let kept = crate::journal::events_in(&export.stdout);
        crate::journal::assert_valid_journal(&kept);
        assert!(export.stdout.contains("\"status\":\"cancelled\""), "{}", kept.len());
    }
}
