//! Commands that go on while the conversation does.

use std::time::Duration;

use lango_protocol::CallStatus;
use serde_json::Value;

use crate::fixture::{Lango, TO_OPERATOR};
use crate::invocation::until;

/// Starts a command in the background, then does one more thing with it.
fn started_then(command: &str, next: &str) -> String {
    format!(
        r#"
[[reply]]
agent = "operator"
results = 0
call = [{{ name = "exec_background", arguments = {{ command = "{command}" }} }}]
[[reply]]
agent = "operator"
results = 1
{next}
[[reply]]
agent = "operator"
say = "{{result}}"
"#
    )
}

async fn listed(lango: &Lango) -> Value {
    let list = lango.command(&["ps", "--all", "--json"]).run().await;
    assert_eq!(list.code, 0, "{list:?}");
    serde_json::from_str(&list.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_runs_in_the_background_and_its_end_is_told() {
    let wait = r#"call = [{ name = "exec_status", arguments = { id = "p1", wait_seconds = 60 } }]"#;
    let script = started_then("sleep 0.3; echo 12 passed; exit 3", wait);
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    let ask = lango.ask("run the tests in the background and tell me when they're done");
    let turn = ask.with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.code, 8, "{:?}", turn.results());
    let told = turn.answer();
    assert!(told.contains("exited with exit code 3") && told.contains("12 passed"), "{told}");
    let process = &listed(&lango).await[0];
    assert_eq!(
        (process["state"].as_str(), process["exit_code"].as_i64()),
        (Some("exited"), Some(3))
    );
    let none = lango.command(&["ps"]).run().await;
    assert!(none.stdout.contains("Nothing runs in the background"), "{none:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_command_is_listed_and_ends_with_its_owner() {
    let wait =
        r#"call = [{ name = "exec_status", arguments = { id = "p1", wait_seconds = 600 } }]"#;
    let beat = "while :; do echo beat >> beats; sleep 0.05; done";
    let lango = Lango::playing(&[TO_OPERATOR, &started_then(beat, wait)]).await;
    let beats = || std::fs::metadata(lango.workspace().join("beats")).map_or(0, |file| file.len());
    let running = lango.ask("watch it").with(&["--approve", "all"]).start();
    until("the first beat", || beats() > 0).await;
    assert_eq!(listed(&lango).await[0]["state"], "running");
    running.kill().await;
    // It may take a moment until the last one is gone; then it stays gone.
    let mut still = 0;
    let mut before = beats();
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = beats();
        still = if now == before { still + 1 } else { 0 };
        before = now;
        if still == 10 {
            break;
        }
    }
    assert_eq!(still, 10, "it goes on beating");
    assert_eq!(listed(&lango).await[0]["state"], "ended with its owner");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_command_can_be_stopped_and_belongs_to_its_conversation() {
    let stop = r#"call = [{ name = "exec_stop", arguments = { id = "p1" } }]"#;
    let lango = Lango::playing(&[TO_OPERATOR, &started_then("sleep 600", stop)]).await;
    let turn = lango.ask("start and stop").with(&["--approve", "all"]).turn().await;
    assert!(turn.answer().contains("stopped"), "{:?}", turn.results());
    assert_eq!(listed(&lango).await[0]["state"], "stopped");
    let script = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "exec_status", arguments = { id = "of-another-session" } }]
[[reply]]
agent = "operator"
say = "{result}"
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let turn = lango.ask("look").turn().await;
    assert_eq!(turn.results_with(CallStatus::Error), 1);
    assert!(turn.answer().contains("no background command"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_still_runs_when_a_run_ends_is_named() {
    let say = "say = \"It runs.\"";
    let lango = Lango::playing(&[TO_OPERATOR, &started_then("sleep 600", say)]).await;
    let before = names(&lango);
    let run = lango.command(&["run", "start it", "--approve", "all"]).run().await;
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("ended with this run: sleep 600"), "{run:?}");
    assert_eq!(names(&lango), before, "the placeholders of protected names are gone");
}

/// Returns the names in the workspace.
fn names(lango: &Lango) -> Vec<String> {
    let entries = std::fs::read_dir(lango.workspace()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn placeholders_of_a_killed_process_are_removed_by_the_next_start() {
    let wait =
        r#"call = [{ name = "exec_status", arguments = { id = "p1", wait_seconds = 600 } }]"#;
    let script = started_then("touch begun; sleep 600", wait);
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    let before = names(&lango);
    let running = lango.ask("watch it").with(&["--approve", "all"]).start();
    until("the start", || lango.workspace().join("begun").exists()).await;
    running.kill().await;
    std::fs::remove_file(lango.workspace().join("begun")).unwrap();
    assert!(names(&lango).contains(&"AGENTS.md".to_owned()), "{:?}", names(&lango));
    // An empty file of the user at a protected name is no placeholder.
    std::fs::remove_file(lango.workspace().join(".mcp.json")).unwrap();
    lango.file("workspace/.mcp.json", "");
    let agents = lango.command(&["agents", "list"]).run().await;
    assert_eq!(agents.code, 0, "{agents:?}");
    let mut expected = before;
    expected.push(".mcp.json".to_owned());
    expected.sort();
    assert_eq!(names(&lango), expected);
}
