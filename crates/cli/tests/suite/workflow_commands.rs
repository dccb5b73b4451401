//! The commands about workflows as people type them: decisions about steps, past runs, and the bar.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::fixture::{Lango, calling};
use crate::invocation::{CommandOutput, Invocation};

const ANSWER: &str = "[[reply]]\nsay = \"It is sunny.\"\n";

/// A gate, and a step that fails until a file is there.
const ASK: &str = "name: ask
steps:
  - { id: gate, approve: 'Shall it go on?' }
  - { id: read, needs: gate, tool: fs_read, arguments: { path: late.txt } }
";

fn enabled(invocation: Invocation<'_>) -> Invocation<'_> {
    invocation.small_team().set("LANGO_AUTOMATOR_ENABLED", "true")
}

async fn run(lango: &Lango, arguments: &[&str]) -> CommandOutput {
    enabled(lango.command(arguments)).run().await
}

async fn json_of(lango: &Lango, arguments: &[&str]) -> Value {
    let output = enabled(lango.command(arguments)).with(&["--json"]).run().await;
    assert_eq!(output.code, 0, "{output:?}");
    serde_json::from_str(&output.stdout).unwrap()
}

/// Starts the workflow in a process that ends where it waits for a person. Returns the id of the run.
async fn begin(lango: &Lango) -> String {
    std::fs::write(lango.workspace().join("ask.yaml"), ASK).unwrap();
    let started = enabled(lango.command(&["workflow", "run", "ask.yaml", "--json"])).run().await;
    assert_eq!(started.code, 3, "{started:?}");
    let run: Value = serde_json::from_str(&started.stdout).unwrap();
    run["id"].as_str().unwrap().to_owned()
}

/// Lets a worker go on with a run until it has this state.
async fn work_until(lango: &Lango, run: &str, state: &str) -> Value {
    let worker = enabled(lango.command(&["worker"])).start_until("Lango runs the jobs").await.0;
    let begin = std::time::Instant::now();
    loop {
        let status = json_of(lango, &["workflow", "status", run]).await;
        if status["state"] == state {
            worker.kill().await;
            return status;
        }
        assert!(begin.elapsed().as_secs() < 40, "{status}");
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_approved_rejected_and_tried_again_by_commands() {
    let lango = Lango::playing(&[ANSWER]).await;
    let first = begin(&lango).await;
    let wrong = run(&lango, &["workflow", "retry", &first, "gate"]).await;
    assert!(wrong.code != 0 && wrong.stderr.contains("neither failed"), "{wrong:?}");
    let unknown = run(&lango, &["workflow", "approve", &first, "gaet"]).await;
    assert!(unknown.code != 0 && unknown.stderr.contains("no step \"gaet\""), "{unknown:?}");
    let approved = json_of(&lango, &["workflow", "approve", &first, "gate"]).await;
    assert_eq!(approved["steps"][0]["approved_by"], "the owner", "{approved}");
    let again = run(&lango, &["workflow", "approve", &first, "gate"]).await;
    assert!(again.code != 0, "{again:?}");
    let failed = work_until(&lango, &first, "failed").await;
    assert!(failed["reason"].as_str().unwrap().contains("late.txt"), "{failed}");
    std::fs::write(lango.workspace().join("late.txt"), "here").unwrap();
    let retried = run(&lango, &["workflow", "retry", &first, "read"]).await;
    assert!(retried.stdout.contains("goes on"), "{retried:?}");
    work_until(&lango, &first, "done").await;
    let second = begin(&lango).await;
    let rejected = run(&lango, &["workflow", "reject", &second, "gate"]).await;
    assert_eq!(rejected.code, 0, "{rejected:?}");
    let ended = work_until(&lango, &second, "failed").await;
    assert_eq!(ended["reason"], "gate: rejected by the owner", "{ended}");
    assert_eq!(ended["steps"][1]["state"], "skipped", "{ended}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_cancelled_and_past_runs_are_listed() {
    let lango = Lango::playing(&[ANSWER]).await;
    let nothing = run(&lango, &["workflow", "history"]).await;
    assert!(nothing.stdout.contains("No run of a workflow has ended"), "{nothing:?}");
    let (first, second) = (begin(&lango).await, begin(&lango).await);
    let open = json_of(&lango, &["workflow", "history"]).await;
    assert_eq!(open, json!([]));
    let cancelled = json_of(&lango, &["workflow", "cancel", &first]).await;
    assert_eq!(
        (&cancelled["state"], &cancelled["steps"][0]["state"]),
        (&json!("cancelled"), &json!("cancelled"))
    );
    let again = run(&lango, &["workflow", "cancel", &first]).await;
    assert!(again.stdout.contains("had ended"), "{again:?}");
    let refused = run(&lango, &["workflow", "approve", &first, "gate"]).await;
    assert!(refused.code != 0, "{refused:?}");
    let past = json_of(&lango, &["workflow", "history", "ask"]).await;
    assert_eq!((past.as_array().unwrap().len(), &past[0]["id"]), (1, &json!(first)), "{past}");
    assert_eq!(json_of(&lango, &["workflow", "history", "other"]).await, json!([]));
    let shown = run(&lango, &["workflow", "history"]).await;
    assert!(shown.stdout.contains(&first) && !shown.stdout.contains(&second), "{shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_shows_a_bar_while_a_workflow_runs() {
    let slow = "[[reply]]\ndelay_ms = 700\nsay = \"It is sunny.\"\n";
    let lango = Lango::playing(&[slow]).await;
    let text =
        "name: bar\nsteps:\n  - { id: one, task: Look }\n  - { id: two, needs: one, task: Look }\n";
    std::fs::write(lango.workspace().join("bar.yaml"), text).unwrap();
    let mut session = enabled(lango.at_terminal("workflow run bar.yaml")).start_typing();
    session.wait_for("░ 0/2 steps  one").await;
    session.wait_for("[1/2] one is done").await;
    session.wait_for("████████████░░░░░░░░░░░░ 1/2 steps  two").await;
    session.wait_for("bar (run-").await;
    // Without a terminal there are lines alone.
    let plain = run(&lango, &["workflow", "run", "bar.yaml"]).await;
    assert!(plain.stderr.contains("[2/2] two is done") && !plain.stderr.contains('░'), "{plain:?}");
}

/// The planner answers, the orchestrator passes its plan to the automator, and does the tasks itself.
const PLANNING: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "plan"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Plan the report.", return = true } }]

[[reply]]
agent = "planner"
say = "1. Fetch the figures. 2. Check the sums."

[[reply]]
agent = "lango-orchestrator"
user = "plan"
results = 1
call = [{ name = "transfer_to_agent", arguments = { agent_name = "automator", task = "Save this plan as a workflow and run it: 1. Fetch the figures. 2. Check the sums." } }]

[[reply]]
agent = "lango-orchestrator"
say = "It adds up."
"#;

const PLAN: &str = "name: planned
steps:
  - { id: fetch, task: Fetch the figures }
  - { id: check, needs: fetch, task: 'Check the sums of {{ steps.fetch.output }}' }
outputs: { verdict: '{{ steps.check.output }}' }
";

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_of_the_planner_is_saved_as_a_workflow_and_run() {
    let yaml = serde_json::to_string(PLAN).unwrap();
    let save = format!("{{ name = \"planned\", yaml = {yaml} }}");
    let calls = calling(
        "automator",
        &[("workflow_save", &save), ("workflow_run", "{ name = \"planned\" }")],
    );
    let lango = Lango::playing(&[PLANNING, &calls]).await;
    let ask = ["run", "--approve", "all", "plan the report, and save and run it as a workflow"];
    let asked = run(&lango, &ask).await;
    assert_eq!(asked.code, 0, "{asked:?}");
    // The orchestrator saw what the planner said, and passed it on.
    for seen in [&lango.requests_of("lango-orchestrator")[1], &lango.requests_of("automator")[0]] {
        assert!(seen.text().contains("Fetch the figures. 2. Check the sums."), "{}", seen.text());
    }
    let status = work_until(&lango, "planned", "done").await;
    assert_eq!(status["outputs"]["verdict"], "It adds up.", "{status}");
    let saved = json_of(&lango, &["workflow", "list"]).await;
    assert_eq!(saved["workflows"][0]["name"], "planned", "{saved}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_with_nothing_due_asks_no_model() {
    let lango = Lango::playing(&[ANSWER]).await;
    for number in 0..3 {
        json_of(&lango, &["cron", "add", "every day at 7:00", &format!("look {number}")]).await;
        begin(&lango).await;
    }
    // What is due before and after shows that the worker looks.
    let worker = enabled(lango.command(&["worker"])).start_until("Lango runs the jobs").await.0;
    for count in 1..=2 {
        json_of(&lango, &["cron", "add", "in 4 seconds", "look now"]).await;
        let begin = std::time::Instant::now();
        while lango.received().len() < count {
            assert!(begin.elapsed().as_secs() < 40, "it does not look");
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }
    assert_eq!(lango.received().len(), 2);
    worker.kill().await;
}

/// What a model may make of a request, and what is wrong with it.
fn bad_workflows() -> Vec<(String, &'static str)> {
    let step = |rest: &str| format!("name: bad\nsteps:\n  - id: a\n{rest}");
    let circle =
        "name: bad\nsteps:\n  - { id: a, task: x, needs: b }\n  - { id: b, task: x, needs: a }\n";
    let mut many = "name: bad\nsteps:\n".to_owned();
    for number in 0..10_000 {
        writeln!(many, "- {{ id: s{number}, task: x }}").unwrap();
    }
    let mut bomb = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let list = [format!("*a{}", level - 1).as_str(); 10].join(", ");
        writeln!(bomb, "b{level}: &a{level} [{list}]").unwrap();
    }
    bomb.push_str("name: bad\nsteps: *a11\n");
    vec![
        (circle.to_owned(), "3:"),
        (step("    task: x\n    needs: [b]\n"), "5:13: there is no step"),
        (step("    task: '{{ inputs.x }}'\n"), "4:11: there is no input"),
        (step("    tsk: x\n"), "4:5: a step has no key"),
        (many, "there are 10000 steps, and at most 1000 are allowed"),
        (bomb, "not YAML that can be used"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_makes_an_impossible_workflow_is_refused_with_place_and_reason() {
    let to_automator = "[[reply]]\nagent = \"lango-orchestrator\"\nresults = 0\n\
        call = [{ name = \"transfer_to_agent\", arguments = { agent_name = \"automator\", task = \"Do it.\" } }]\n";
    let mut lango = Lango::silent().await;
    for (text, reason) in bad_workflows() {
        let yaml = serde_json::to_string(&text).unwrap();
        for tool in ["workflow_run", "workflow_save"] {
            let name = if tool == "workflow_save" { "name = \"bad\", " } else { "" };
            let arguments = format!("{{ {name}yaml = {yaml} }}");
            let calls = calling("automator", &[(tool, arguments.as_str())]);
            lango = lango.now_playing(&[to_automator, &calls]).await;
            let ask = ["run", "--approve", "all", "--output-format", "stream-json", "make it"];
            let asked = run(&lango, &ask).await;
            let start: String = text.chars().take(80).collect();
            assert!(!asked.stdout.contains("approval_requested"), "{tool} {start}: {asked:?}");
            let events =
                asked.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let results: Vec<Value> = events
                .filter(|event| event["type"] == "tool_result" && event["tool"] == tool)
                .collect();
            assert_eq!(results.len(), 1, "{tool} {start}: {results:?}");
            let output = results[0]["output"].as_str().unwrap();
            assert!(output.contains(reason), "{tool} {start}: {output}");
            assert_eq!(results[0]["status"], "refused", "{tool} {start}");
        }
    }
    let left = json_of(&lango, &["workflow", "list"]).await;
    assert_eq!(left, json!({ "workflows": [], "runs": [] }));
}
