//! Results of work that ran by itself reach the user, whichever process ran it.

use std::time::{Duration, Instant};

use lango_protocol::{Space, Timestamp, TurnId};
use lango_store::{Batch, Database, Journal, WorkItem, WorkState};
use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Lango, calling};
use crate::invocation::{CommandOutput, Invocation, until};

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

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_stops_at_a_question_is_not_done_and_says_how_to_answer() {
    let asking = "[[reply]]\nuser = \"weather\"\nsay = \"[ASK] In which town?\"\n";
    let lango = Lango::playing(&[asking, ANSWER]).await;
    let worker = command(&lango, &["worker"]).start_until("Lango runs the jobs").await.0;
    let added = json(&lango, &["bg", "add", "get the weather"]).await;
    all_are(&lango, &["bg", "list"], 1, "failed").await;
    worker.kill().await;
    let id = added["id"].as_str().unwrap();
    let told = run(&lango, &["run", "hello"]).await;
    assert!(told.stderr.contains("In which town?"), "{told:?}");
    assert!(told.stderr.contains(&format!("lango run --session {id}")), "{told:?}");
    let answered = run(&lango, &["run", "--session", id, "In Lisbon."]).await;
    assert_eq!(answered.stdout.trim(), "It is sunny.", "{answered:?}");
    let unknown = command(&lango, &["bg", "add", "--agent", "opreator", "look"]).run().await;
    assert!(unknown.code == 2 && unknown.stderr.contains("lango agents list"), "{unknown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_says_that_it_runs_new_work() {
    let to_automator = "[[reply]]\nagent = \"lango-orchestrator\"\nuser = \"background\"\nresults = 0\n\
        call = [{ name = \"transfer_to_agent\", arguments = { agent_name = \"automator\", task = \"Do it.\" } }]\n";
    let submit = calling("automator", &[("bg_submit", "{ task = \"count the files\" }")]);
    let lango = Lango::playing(&[to_automator, &submit, ANSWER]).await;
    let mut chat = enabled(lango.at_terminal("chat")).start_typing();
    chat.paste("do this in the background: count the files").await;
    chat.wait_for("It runs while this chat is open").await;
    chat.wait_for("is done: It is sunny.").await;
}

/// Writes work as another process would have.
async fn write_work(
    lango: &Lango,
    like: &str,
    change: impl Fn(usize, &mut WorkItem),
    count: usize,
) {
    let url = format!("sqlite://{}", lango.database_file().display());
    let database = Database::open(&url.parse().unwrap()).await.unwrap();
    let journal = Journal::open(database.clone()).await.unwrap();
    let like = journal.find_work(like).await.unwrap().unwrap();
    for number in 0..count {
        let id = format!("bg-more{number}");
        let (session, turn) = (id.parse().unwrap(), TurnId::generate());
        let state = WorkState::Waiting;
        let mut item =
            WorkItem { id, session, turn, state, started_at: None, ended_at: None, ..like.clone() };
        change(number, &mut item);
        database.write(Batch::from(Journal::build_work_entry(&item))).await.unwrap();
    }
    database.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_of_a_client_without_access_keeps_no_other_back() {
    let lango = Lango::playing(&[ANSWER]).await;
    let added = json(&lango, &["bg", "add", "get the weather"]).await;
    let ghost = Space::Client("ghost".parse().unwrap());
    // As many as one look has room for, all due before the owner's, and some that have begun.
    let change = |number: usize, item: &mut WorkItem| {
        item.space = ghost.clone();
        item.due_at = Timestamp::from_microseconds(i64::try_from(number).unwrap() + 1);
        if number < 10 {
            (item.state, item.started_at) = (WorkState::Started, Some(item.due_at));
        }
    };
    write_work(&lango, added["id"].as_str().unwrap(), change, 90).await;
    let server = command(&lango, &["serve", "--port", "0"]).start_until("Ctrl-C ends it").await.0;
    all_are(&lango, &["bg", "list"], 1, "done").await;
    server.signal(Signal::TERM);
    server.finish().await;
    assert_eq!(lango.received().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_cancelled_however_much_waits() {
    let slow = "[[reply]]\nuser = \"weather\"\ndelay_ms = 50000\nsay = \"It is sunny.\"\n";
    let lango = Lango::playing(&[slow]).await;
    let worker = command(&lango, &["worker"]).start_until("Lango runs the jobs").await.0;
    let added = json(&lango, &["bg", "add", "get the weather"]).await;
    let id = added["id"].as_str().unwrap();
    until("the model is asked", || !lango.received().is_empty()).await;
    let later = Timestamp::now().plus(Duration::from_hours(1));
    write_work(&lango, id, |_, item| item.due_at = later, 100).await;
    run(&lango, &["bg", "cancel", id]).await;
    let begin = Instant::now();
    while json(&lango, &["bg", "show", id]).await["state"] != "cancelled" {
        assert!(begin.elapsed() < Duration::from_secs(25), "it goes on");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    worker.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_conversation_that_asked_is_shown_the_result() {
    let to_automator = "[[reply]]\nagent = \"lango-orchestrator\"\nuser = \"in the background\"\nresults = 0\n\
        call = [{ name = \"transfer_to_agent\", arguments = { agent_name = \"automator\", task = \"Do it.\" } }]\n";
    let submit = calling("automator", &[("bg_submit", "{ task = \"count the boats\" }")]);
    let counted = "[[reply]]\nuser = \"boats\"\nsay = \"Seventeen boats.\"\n";
    let lango = Lango::playing(&[to_automator, &submit, counted, ANSWER]).await;
    let asked = ["run", "--session", "asking", "do this in the background: count the boats"];
    run(&lango, &asked).await;
    let worker = command(&lango, &["worker"]).start_until("Lango runs the jobs").await.0;
    all_are(&lango, &["bg", "list"], 1, "done").await;
    worker.kill().await;
    let before = lango.received().len();
    let told = run(&lango, &["run", "--session", "asking", "and now?"]).await;
    let requests = lango.received();
    let shown = &requests[before..];
    assert!(shown.len() == 1 && shown[0].body.contains("Seventeen boats."), "{told:?} {shown:?}");
    // No other conversation is.
    run(&lango, &["run", "--session", "other", "and now?"]).await;
    let shown = &lango.received()[before + 1].body;
    assert!(!shown.contains("Seventeen boats."), "{shown}");
}
