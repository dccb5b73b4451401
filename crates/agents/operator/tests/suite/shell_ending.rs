//! Tests how commands are stopped, and that nothing of them remains, at every level of confinement.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use lango_sandbox::ConfinementLevel;
use lango_tool::ToolError;
use serde_json::json;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::support::{Bench, context};

const LEVELS: [ConfinementLevel; 2] = [ConfinementLevel::Bubblewrap, ConfinementLevel::Landlock];

/// Returns a number of seconds that no other process of this machine sleeps for. Process ids differ
/// inside a sandbox, so processes are recognised by their arguments.
fn seconds() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{}", 2000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Counts the processes that sleep for so long. A zombie has no command line any more.
fn sleepers(seconds: &str) -> usize {
    let is_one = |line: Vec<u8>| line == format!("sleep\0{seconds}\0").into_bytes();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter(|p| std::fs::read(p.path().join("cmdline")).is_ok_and(is_one)).count()
}

/// Waits until exactly so many processes sleep.
async fn until(seconds: &str, count: usize) {
    for _ in 0..3000 {
        if sleepers(seconds) == count {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("{} sleep, not {count}", sleepers(seconds));
}

/// Returns a command with one process in the background, one in a session of its own whose parent
/// has ended, and one in the foreground.
fn long(seconds: &str) -> String {
    format!("echo partial; sleep {seconds} & (setsid sleep {seconds} &) ; sleep {seconds}")
}

#[tokio::test]
async fn a_timeout_kills_everything_and_keeps_the_output_so_far() {
    for level in LEVELS {
        let (bench, seconds) = (Bench::at(level).await, seconds());
        let arguments = json!({"command": long(&seconds), "timeout_seconds": 1});
        let call = bench.call("exec_shell", arguments);
        // They are seen once, so that their absence afterwards means something.
        let (result, ()) = tokio::join!(call, until(&seconds, 3));
        let partial = "\nstdout so far:\npartial".to_owned();
        assert_eq!(result, Err(ToolError::TimedOut { seconds: 1, partial }));
        assert_eq!(sleepers(&seconds), 0, "{level}");
    }
}

#[tokio::test]
async fn a_cancelled_turn_kills_everything() {
    for level in LEVELS {
        let (bench, seconds) = (Bench::at(level).await, seconds());
        let cancel = CancellationToken::new();
        let call =
            bench.call_with("exec_shell", json!({"command": long(&seconds)}), cancel.clone());
        let stop = async {
            until(&seconds, 3).await;
            cancel.cancel();
        };
        let (result, ()) = tokio::join!(call, stop);
        assert_eq!(result, Err(ToolError::Cancelled));
        assert_eq!(sleepers(&seconds), 0, "{level}");
    }
}

#[tokio::test]
async fn a_dropped_call_kills_everything() {
    for level in LEVELS {
        let (bench, seconds) = (Bench::at(level).await, seconds());
        let prepared = bench.registry.get("exec_shell").unwrap();
        let prepared = prepared.prepare(&json!({"command": long(&seconds)}).to_string()).unwrap();
        let task = tokio::spawn(prepared.run(context(CancellationToken::new())));
        until(&seconds, 3).await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        until(&seconds, 0).await;
    }
}

#[tokio::test]
async fn what_a_command_leaves_behind_is_not_waited_for_and_killed() {
    for level in LEVELS {
        let (bench, seconds) = (Bench::at(level).await, seconds());
        let started = Instant::now();
        let command = format!(
            "sleep {seconds} & (setsid sleep {seconds} &)
             while [ $(grep -l {seconds} /proc/[0-9]*/cmdline 2>/dev/null | wc -l) -lt 2 ]; do sleep 0.01; done
             echo done"
        );
        let text = bench.call("exec_shell", json!({"command": command})).await.unwrap();
        assert!(text.starts_with("exit code 0") && text.ends_with("done"), "{text}");
        // Far less than they sleep, and more than an overloaded machine needs.
        assert!(started.elapsed() < Duration::from_mins(1));
        assert_eq!(sleepers(&seconds), 0, "{level}");
    }
}

#[tokio::test]
async fn a_flood_of_output_does_not_outlive_its_timeout() {
    for level in LEVELS {
        let (bench, seconds) = (Bench::at(level).await, seconds());
        let command = format!("sleep {seconds} & yes");
        let arguments = json!({"command": command, "timeout_seconds": 1});
        let result = bench.call("exec_shell", arguments).await;
        assert!(
            matches!(&result, Err(ToolError::TimedOut { partial, .. }) if partial.len() < 20_000)
        );
        assert_eq!(sleepers(&seconds), 0, "{level}");
    }
}
