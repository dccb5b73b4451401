//! How commands are stopped, and that nothing of them stays.

use std::time::{Duration, Instant};

use lango_tool::ToolError;
use serde_json::json;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::support::{Bench, context};

/// Writes the ids of the shell and of a child in the background, then waits for long.
const LONG: &str = "echo partial; sleep 60 & echo $$ $! > pids; sleep 60";

fn is_alive(pid: &str) -> bool {
    // A zombie is dead; whether it is reaped is up to the init of the machine.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
}

async fn pids(bench: &Bench) -> Vec<String> {
    for _ in 0..500 {
        let text = std::fs::read_to_string(bench.path("pids")).unwrap_or_default();
        if text.ends_with('\n') {
            return text.split_whitespace().map(str::to_owned).collect();
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("the command did not start");
}

async fn assert_all_dead(pids: &[String]) {
    for _ in 0..300 {
        if !pids.iter().any(|pid| is_alive(pid)) {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("still alive: {pids:?}");
}

#[tokio::test]
async fn a_timeout_kills_the_group_and_keeps_the_output_so_far() {
    let bench = Bench::new();
    let result = bench.call("exec_shell", json!({"command": LONG, "timeout_seconds": 1})).await;
    let partial = "\nstdout so far:\npartial".to_owned();
    assert_eq!(result, Err(ToolError::TimedOut { seconds: 1, partial }));
    let pids = pids(&bench).await;
    assert_eq!(pids.len(), 2);
    assert_all_dead(&pids).await;
}

#[tokio::test]
async fn a_cancelled_turn_kills_the_group() {
    let bench = Bench::new();
    let cancel = CancellationToken::new();
    let call = bench.call_with("exec_shell", json!({"command": LONG}), cancel.clone());
    let stop = async {
        let pids = pids(&bench).await;
        assert!(pids.iter().all(|pid| is_alive(pid)));
        cancel.cancel();
        pids
    };
    let (result, pids) = tokio::join!(call, stop);
    assert_eq!(result, Err(ToolError::Cancelled));
    assert_all_dead(&pids).await;
}

#[tokio::test]
async fn a_dropped_call_kills_the_group() {
    let bench = Bench::new();
    let prepared = bench.registry.get("exec_shell").unwrap();
    let prepared = prepared.prepare(&json!({"command": LONG}).to_string()).unwrap();
    let task = tokio::spawn(prepared.run(context(CancellationToken::new())));
    let pids = pids(&bench).await;
    assert!(pids.iter().all(|pid| is_alive(pid)));
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_all_dead(&pids).await;
}

#[tokio::test]
async fn a_child_that_keeps_the_pipes_is_not_waited_for_and_killed() {
    let bench = Bench::new();
    let started = Instant::now();
    let command = "sleep 60 & echo $! > pids; echo done";
    let text = bench.call("exec_shell", json!({"command": command})).await.unwrap();
    assert!(text.starts_with("exit code 0") && text.ends_with("done"), "{text}");
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_all_dead(&pids(&bench).await).await;
}

/// A process that leaves the group is out of reach until commands run in a sandbox. It must at
/// least not hold up the call.
#[tokio::test]
async fn a_child_that_leaves_the_group_is_not_waited_for() {
    let bench = Bench::new();
    let started = Instant::now();
    let command =
        "setsid sh -c 'echo $$ > pids; exec sleep 60' & while ! [ -s pids ]; do sleep 0.01; done";
    bench.call("exec_shell", json!({"command": command})).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(10));
    let pid = pids(&bench).await[0].parse().ok().and_then(rustix::process::Pid::from_raw).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

#[tokio::test]
async fn a_flood_of_output_does_not_outlive_its_timeout() {
    let bench = Bench::new();
    let started = Instant::now();
    let arguments = json!({"command": "echo $$ > pids; yes", "timeout_seconds": 1});
    let result = bench.call("exec_shell", arguments).await;
    assert!(matches!(&result, Err(ToolError::TimedOut { partial, .. }) if partial.len() < 20_000));
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_all_dead(&pids(&bench).await).await;
}
