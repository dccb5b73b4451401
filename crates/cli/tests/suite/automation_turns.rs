//! Whole turns about work that runs by itself, with a scripted model and with the embedded one, and what
//! such work may spend.

use serde_json::Value;

use crate::fixture::{Lango, calling};
use crate::invocation::{CommandOutput, Invocation};

const TO_AUTOMATOR: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "background"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "automator", task = "Do it." } }]

[[reply]]
agent = "lango-orchestrator"
say = "There are three reports."
"#;

/// An operator that never comes to an end.
const RESTLESS: &str = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Look." } }]

[[reply]]
agent = "operator"
results = 0
call = [{ name = "fs_list", arguments = { path = "." } }]

[[reply]]
agent = "operator"
results = 1
call = [{ name = "fs_list", arguments = { path = "src" } }]

[[reply]]
agent = "operator"
call = [{ name = "fs_read", arguments = { path = "README.md" } }]
"#;

const ANSWER: &str = "[[reply]]\nsay = \"It is sunny.\"\n";

const REPORT: &str = "name: daily-report
steps:
  - id: ask
    approve: 'Shall I go on?'
  - id: look
    needs: ask
    tool: fs_list
    arguments: { path: . }
";

fn command<'a>(lango: &'a Lango, arguments: &[&str]) -> Invocation<'a> {
    lango.command(arguments).small_team().set("LANGO_AUTOMATOR_ENABLED", "true")
}

async fn run(lango: &Lango, arguments: &[&str]) -> CommandOutput {
    command(lango, arguments).run().await
}

async fn json(lango: &Lango, arguments: &[&str]) -> Value {
    let output = command(lango, arguments).with(&["--json"]).run().await;
    assert_eq!(output.code, 0, "{output:?}");
    serde_json::from_str(&output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_over_its_budget_ends_with_an_account() {
    let lango = Lango::playing(&[RESTLESS]).await;
    let add = ["cron", "add", "every day at 7:00", "look around", "--budget-calls", "3"];
    assert_eq!(run(&lango, &add).await.code, 0);
    let ran = run(&lango, &["cron", "run", "look"]).await;
    assert_eq!(ran.code, 1, "{ran:?}");
    let history = json(&lango, &["cron", "history"]).await;
    let result = history[0]["result"].as_str().unwrap();
    assert!(result.contains("the budget of this run is spent"), "{history}");
    assert!(result.contains("of 3 model calls") && result.contains("lango cron set"), "{history}");
    assert!(lango.received().len() <= 3, "{}", lango.received().len());
    // With more, it is done after as many calls as it takes, or ends at the turn's own limits.
    let set = run(&lango, &["cron", "set", "look", "--budget-calls", "5"]).await;
    assert_eq!(set.code, 0, "{set:?}");
    let shown = run(&lango, &["cron", "show", "look"]).await;
    assert!(shown.stdout.contains("5 model calls"), "{shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_has_a_budget_for_all_jobs() {
    let lango = Lango::playing(&[ANSWER]).await;
    for name in ["one", "two", "three"] {
        let add = ["cron", "add", "every day at 7:00", "get the weather", "--name", name];
        assert_eq!(run(&lango, &add).await.code, 0);
    }
    let mut results = Vec::new();
    for name in ["one", "two", "three"] {
        let ran = command(&lango, &["cron", "run", name])
            .set("LANGO_AUTOMATOR_DAYBUDGET_MODELCALLS", "2")
            .run()
            .await;
        results.push((ran.code, ran.stdout));
    }
    assert_eq!(results[0], (0, "It is sunny.\n".to_owned()));
    // The last call says that it was the last one.
    assert_eq!(results[1].0, 0, "{results:?}");
    assert!(results[1].1.contains("2 of 2 model calls"), "{results:?}");
    assert_eq!(results[2].0, 1, "{results:?}");
    assert!(results[2].1.contains("budget of this day"), "{results:?}");
    assert_eq!(lango.received().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_runs_a_workflow_without_a_model() {
    let lango = Lango::playing(&[ANSWER]).await;
    std::fs::write(
        lango.workspace().join("report.yaml"),
        REPORT.replace("approve: 'Shall I go on?'", "tool: fs_list\n    arguments: { path: src }"),
    )
    .unwrap();
    assert_eq!(run(&lango, &["workflow", "save", "report.yaml"]).await.code, 0);
    let added =
        json(&lango, &["cron", "add", "every day at 7:00", "run the daily-report workflow"]).await;
    assert_eq!(added["action"], "workflow", "{added}");
    let worker = command(&lango, &["worker"]).start_until("Lango runs the jobs").await.0;
    assert_eq!(
        run(&lango, &["cron", "add", "in 1 second", "run the workflow daily-report"]).await.code,
        0
    );
    let begin = std::time::Instant::now();
    loop {
        let runs = json(&lango, &["workflow", "list"]).await;
        let is_done = runs["runs"]
            .as_array()
            .is_some_and(|runs| runs.iter().any(|run| run["state"] == "done"));
        if is_done {
            break;
        }
        assert!(begin.elapsed().as_secs() < 30, "{runs}");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    worker.signal(rustix::process::Signal::TERM);
    let ended = worker.finish().await;
    assert!(ended.stderr.contains("daily-report"), "{ended:?}");
    assert!(lango.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn r20_a_turn_starts_a_background_task_and_the_next_one_tells_its_result() {
    let task = r#"{ task = "compare the reports in drafts/" }"#;
    let lango =
        Lango::playing(&[TO_AUTOMATOR, &calling("automator", &[("bg_submit", task)])]).await;
    let ask = "run this in the background and tell me when it is done: compare the reports";
    let asked = run(&lango, &["run", ask]).await;
    assert_eq!(asked.code, 0, "{asked:?}");
    assert!(asked.stderr.contains("is in the background"), "{asked:?}");
    let next = run(&lango, &["run", "hello"]).await;
    let told =
        [&asked, &next].iter().filter(|run| run.stderr.contains("There are three reports")).count();
    assert_eq!(told, 1, "{asked:?} {next:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r20_the_embedded_model_sets_up_work_and_workflows_as_far_as_it_can() {
    let lango = Lango::silent().await;
    std::fs::create_dir(lango.workspace().join("inbox")).unwrap();
    let ask = async |text: &str| {
        let run = lango.bare(&["run", "--approve", "all", text]).run().await;
        assert!([0, 3, 4, 6].contains(&run.code), "{text}: {run:?}");
        run.stdout
    };
    let weekly = ask("every weekday at nine, summarise the new files in inbox/").await;
    assert!(weekly.contains("every weekday (Monday to Friday) at 09:00"), "{weekly}");
    let task = ask("run this in the background and tell me when it is done: list the files").await;
    assert!(task.contains("is in the background"), "{task}");
    // It cannot write YAML, and says so.
    let made = ask("make a workflow that fetches, checks and files the report").await;
    assert!(
        made.contains("I cannot write workflows") && made.contains("lango workflow save"),
        "{made}"
    );
    std::fs::write(lango.workspace().join("report.yaml"), REPORT).unwrap();
    assert_eq!(lango.bare(&["workflow", "save", "report.yaml"]).run().await.code, 0);
    let started = ask("run the daily-report workflow").await;
    assert!(started.contains("The workflow daily-report is running"), "{started}");
    let status = ask("what is the status of the daily-report workflow?").await;
    assert!(status.contains("Shall I go on?"), "{status}");
    let list = ask("which workflows do I have?").await;
    assert!(list.contains("daily-report"), "{list}");
    let asked = ask("stop the workflow").await;
    assert!(asked.contains("Which workflow do you mean?"), "{asked}");
    let cancelled = ask("cancel the daily-report workflow").await;
    assert!(cancelled.contains("is cancelled"), "{cancelled}");
    let job = ask("run the daily-report workflow every weekday at 8").await;
    assert!(job.contains("is set up"), "{job}");
    let added = lango.bare(&["cron", "list", "--json"]).run().await;
    let jobs: Value = serde_json::from_str(&added.stdout).unwrap();
    let workflows = jobs.as_array().unwrap().iter().filter(|job| job["action"] == "workflow");
    assert_eq!(workflows.count(), 1, "{jobs}");
    let weather = ["cron", "add", "every day at 7:00", "get the weather", "--name", "weather"];
    assert_eq!(lango.bare(&weather).run().await.code, 0);
    let stopped = ask("stop the daily weather job").await;
    assert!(stopped.contains("Removed: weather"), "{stopped}");
    assert!(lango.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_step_read_is_not_saved_without_a_question() {
    let lango = Lango::playing(&[ANSWER]).await;
    let workflow = "name: keep\nsteps:\n  - id: read\n    tool: fs_read\n    arguments: { path: README.md }\n  - id: own\n    \
                    tool: save_knowledge\n    arguments: { key: mine, content: 'The boat is blue.' }\n  - id: save\n    needs: \
                    [read, own]\n    tool: save_knowledge\n    arguments: { key: theirs, content: '{{ steps.read.output.text }}' }\n";
    std::fs::write(lango.workspace().join("keep.yaml"), workflow).unwrap();
    let full = |arguments: &[&str]| lango.command(arguments);
    let started = full(&["workflow", "run", "keep.yaml", "--detach"]).run().await;
    assert_eq!(started.code, 0, "{started:?}");
    let worker = full(&["worker"]).start_until("Lango runs the jobs").await.0;
    let begin = std::time::Instant::now();
    let questions = loop {
        let listed = full(&["approvals", "list", "--json"]).run().await;
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        if listed.to_string().contains("save_knowledge") {
            break listed.to_string();
        }
        assert!(begin.elapsed().as_secs() < 60, "{listed}");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    };
    // What the workflow itself says is saved.
    assert!(questions.contains("theirs") && !questions.contains("mine"), "{questions}");
    worker.kill().await;
}
