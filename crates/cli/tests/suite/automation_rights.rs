//! Work that runs by itself has the rights of the one who set it up, and never more.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::{Lango, calling};
use crate::invocation::{Invocation, Running};
use crate::server::{Server, add_caller, user};

/// Limits how long something may take that happens soon.
const SOON: Duration = Duration::from_secs(40);

/// The orchestrator passes requests to the automator, and tasks to write to the operator.
const ORCHESTRATOR: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "schedule"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "automator", task = "Do it." } }]

[[reply]]
agent = "lango-orchestrator"
user = "write"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Write." } }]

[[reply]]
agent = "lango-orchestrator"
say = "I am done."
"#;

const WRITING: (&str, &str) = ("fs_write", r#"{ path = "written.txt", content = "x" }"#);

fn command<'a>(lango: &'a Lango, arguments: &[&str]) -> Invocation<'a> {
    lango.command(arguments).small_team().set("LANGO_AUTOMATOR_ENABLED", "true")
}

async fn json_of(lango: &Lango, arguments: &[&str]) -> Value {
    let output = command(lango, arguments).with(&["--json"]).run().await;
    assert_eq!(output.code, 0, "{output:?}");
    serde_json::from_str(&output.stdout).unwrap()
}

async fn serve(lango: &Lango) -> Server<'_> {
    Server::started(command(lango, &["serve", "--port", "0"])).await
}

async fn worker(lango: &Lango) -> Running<'_> {
    command(lango, &["worker"]).start_until("Lango runs the jobs").await.0
}

/// Waits until a list has work, and all of it has ended.
async fn wait_for_ends(lango: &Lango, list: &[&str]) -> Value {
    let begin = Instant::now();
    loop {
        let items = json_of(lango, list).await;
        let is_open =
            |item: &Value| ["waiting", "started"].contains(&item["state"].as_str().unwrap());
        if items.as_array().is_some_and(|items| !items.is_empty() && !items.iter().any(is_open)) {
            return items;
        }
        assert!(begin.elapsed() < SOON, "{items}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_a_client_reaches_the_agents_of_the_client_alone() {
    let submit = calling("automator", &[("bg_submit", r#"{ task = "write it" }"#)]);
    let lango = Lango::playing(&[ORCHESTRATOR, &submit, &calling("operator", &[WRITING])]).await;
    let allowed = command(&lango, &["approvals", "add", "allow", "--tool", "fs_write"]).run().await;
    assert_eq!(allowed.code, 0, "{allowed:?}");
    let token = add_caller(&lango, &["wiki", "--agents", "automator"]).await;
    let server = serve(&lango).await;
    let body = json!({ "model": "lango", "messages": [user("schedule it")] });
    let answer = server.of(&token, "POST", "/v1/chat/completions").json(&body).send().await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let tasks = wait_for_ends(&lango, &["bg", "list", "--client", "wiki"]).await;
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks}");
    assert!(lango.requests_of("operator").is_empty());
    assert!(!lango.workspace().join("written.txt").exists());
    // It is no work of the owner, and is told to none but the client.
    assert_eq!(json_of(&lango, &["bg", "list"]).await, json!([]));
    server.stop().await;
    // The same task of the owner is done, so that it is the rights that were missing.
    let worker = worker(&lango).await;
    json_of(&lango, &["bg", "add", "write it"]).await;
    wait_for_ends(&lango, &["bg", "list"]).await;
    assert!(lango.workspace().join("written.txt").exists());
    worker.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_of_a_clients_workflow_has_no_tool_that_the_client_does_not_reach() {
    let lango = Lango::playing(&[ORCHESTRATOR]).await;
    let allowed = command(&lango, &["approvals", "add", "allow", "--tool", "fs_write"]).run().await;
    assert_eq!(allowed.code, 0, "{allowed:?}");
    add_caller(&lango, &["wiki", "--agents", "automator"]).await;
    let text = "name: write\nsteps:\n  - { id: a, tool: fs_write, arguments: { path: written.txt, content: x } }\n";
    std::fs::write(lango.workspace().join("write.yaml"), text).unwrap();
    let run = ["workflow", "run", "write.yaml", "--detach", "--client", "wiki"];
    let run = json_of(&lango, &run).await;
    let server = serve(&lango).await;
    let begin = Instant::now();
    let status = loop {
        let status = json_of(
            &lango,
            &["workflow", "status", run["id"].as_str().unwrap(), "--client", "wiki"],
        )
        .await;
        if status["state"] == "failed" {
            break status;
        }
        assert!(begin.elapsed() < SOON, "{status}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    assert!(status["reason"].as_str().unwrap().contains("no agent has the tool"), "{status}");
    assert!(!lango.workspace().join("written.txt").exists());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_access_has_no_work_done() {
    let lango = Lango::playing(&[ORCHESTRATOR]).await;
    add_caller(&lango, &["wiki"]).await;
    json_of(&lango, &["cron", "add", "in 2 seconds", "look", "--client", "wiki"]).await;
    let removed = command(&lango, &["serve", "callers", "remove", "wiki"]).run().await;
    assert_eq!(removed.code, 0, "{removed:?}");
    let server = serve(&lango).await;
    let begin = Instant::now();
    // The occurrence comes, and nothing is done about it.
    while json_of(&lango, &["cron", "history", "--client", "wiki"]).await == json!([]) {
        assert!(begin.elapsed() < SOON, "no occurrence");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // The server does the owner's work meanwhile.
    json_of(&lango, &["bg", "add", "look"]).await;
    wait_for_ends(&lango, &["bg", "list"]).await;
    let runs = json_of(&lango, &["cron", "history", "--client", "wiki"]).await;
    assert_eq!(runs[0]["state"], "waiting", "{runs}");
    assert_eq!(lango.received().len(), 1);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_approved_for_a_command_is_not_approved_for_the_work_that_it_runs() {
    let lango = Lango::playing(&[ORCHESTRATOR, &calling("operator", &[WRITING])]).await;
    json_of(&lango, &["bg", "add", "write it"]).await;
    let run = command(&lango, &["run", "--approve", "all", "hello"]).run().await;
    assert_eq!(run.code, 0, "{run:?}");
    let worker = worker(&lango).await;
    let begin = Instant::now();
    while !json_of(&lango, &["approvals", "list"]).await.to_string().contains("fs_write") {
        assert!(begin.elapsed() < SOON, "no question");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(!lango.workspace().join("written.txt").exists());
    worker.kill().await;
}
