//! Results of work that ran by itself reach the user, whichever process ran it.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::Lango;
use crate::invocation::{CommandOutput, Invocation};

/// Limits how long something may take that happens soon.
const SOON: Duration = Duration::from_secs(40);

const ANSWER: &str = "[[reply]]\nsay = \"It is sunny.\"\n";

fn enabled(invocation: Invocation<'_>) -> Invocation<'_> {
    invocation.small_team().set("LANGO_AUTOMATOR_ENABLED", "true")
}

fn command<'a>(lango: &'a Lango, arguments: &[&str]) -> Invocation<'a> {
    enabled(lango.command(arguments))
}

async fn run(lango: &Lango, arguments: &[&str]) -> CommandOutput {
    let output = command(lango, arguments).run().await;
    assert_eq!(output.code, 0, "{output:?}");
    output
}

async fn json(lango: &Lango, arguments: &[&str]) -> Value {
    let output = command(lango, arguments).with(&["--json"]).run().await;
    assert_eq!(output.code, 0, "{output:?}");
    serde_json::from_str(&output.stdout).unwrap()
}

/// Waits until all work of a list has this state.
async fn all_are(lango: &Lango, list: &[&str], count: usize, state: &str) {
    let begin = Instant::now();
    loop {
        let items = json(lango, list).await;
        let items = items.as_array().unwrap();
        if items.len() >= count && items.iter().all(|item| item["state"] == state) {
            return;
        }
        assert!(begin.elapsed() < SOON, "{items:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn count_told(output: &CommandOutput) -> usize {
    output.stderr.matches("is done: It is sunny.").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_worker_ran_is_told_once_in_a_later_run() {
    let lango = Lango::playing(&[ANSWER]).await;
    let worker = command(&lango, &["worker"]).start_until("Lango runs the jobs").await.0;
    json(&lango, &["bg", "add", "get the weather"]).await;
    all_are(&lango, &["bg", "list"], 1, "done").await;
    // A job that runs again and again is told once, with its newest result.
    for _ in 0..2 {
        json(&lango, &["cron", "add", "in 1 second", "look outside"]).await;
    }
    all_are(&lango, &["cron", "history"], 2, "done").await;
    worker.signal(Signal::TERM);
    let log = worker.finish().await;
    assert_eq!(count_told(&log), 3, "{log:?}");
    // A command that shows no lines beside its answer has told no one.
    let silent = run(&lango, &["run", "-q", "hello"]).await;
    let first = run(&lango, &["run", "hello"]).await;
    let second = run(&lango, &["run", "hello"]).await;
    let told = [&silent, &first, &second].map(count_told);
    assert_eq!(told, [0, 3, 0], "{silent:?} {first:?} {second:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_job_that_ran_often_the_newest_result_is_told() {
    let lango = Lango::playing(&[ANSWER]).await;
    let worker = command(&lango, &["worker"]).start_until("Lango runs the jobs").await.0;
    json(&lango, &["cron", "add", "every 10s", "look outside"]).await;
    all_are(&lango, &["cron", "history"], 2, "done").await;
    worker.signal(Signal::TERM);
    let log = worker.finish().await;
    assert!(count_told(&log) >= 2, "{log:?}");
    let job = json(&lango, &["cron", "list"]).await[0]["id"].as_str().unwrap().to_owned();
    run(&lango, &["cron", "pause", &job]).await;
    let told = run(&lango, &["run", "hello"]).await;
    assert_eq!(count_told(&told), 1, "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_chat_tells_what_a_worker_ran() {
    let lango = Lango::playing(&[ANSWER]).await;
    // It runs the work of another directory.
    let mut chat = enabled(lango.at_terminal("chat --workspace src")).start_typing();
    chat.wait_until_ready().await;
    let worker = command(&lango, &["worker"]).start_until("Lango runs the jobs").await.0;
    json(&lango, &["bg", "add", "get the weather"]).await;
    chat.wait_for("is done: It is sunny.").await;
    chat.send("/quit\n").await;
    worker.signal(Signal::TERM);
    worker.finish().await;
    let later = run(&lango, &["run", "hello"]).await;
    assert_eq!(count_told(&later), 0, "{later:?}");
}
