//! Jobs that run a workflow.

use lango_automator::{JobAction, NewJob, Workflows};
use lango_protocol::Space;
use lango_store::{DatabaseLocation, WorkState};
use serde_json::{Map, json};

use crate::samples::{after, new_job, open, runs, scheduler};

const REPORT: &str = "name: daily-report
inputs:
  to: { type: string }
steps:
  - id: file
    task: 'File it in {{ inputs.to }}'
";

pub(crate) async fn a_job_starts_its_workflow_once_and_keeps_it(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let workflows = Workflows::new(jobs.clone());
    workflows.save(REPORT, &Space::Owner).await.unwrap();
    let inputs: Map<_, _> = serde_json::from_value(json!({ "to": "reports" })).unwrap();
    let new = NewJob { inputs, ..new_job("every 10m", "run the workflow daily-report") };
    let job = jobs.add(new).await.unwrap();
    assert_eq!(job.action, JobAction::Workflow);
    workflows.save(&REPORT.replace("File it", "Burn it"), &Space::Owner).await.unwrap();
    let due = job.next_due.unwrap();
    let mut fires = Vec::new();
    for _ in 0..5 {
        let scheduler = scheduler(&open(&location).await);
        fires.push(tokio::spawn(async move { scheduler.fire_due(after(due, 1)).await.map(drop) }));
    }
    for fire in fires {
        fire.await.unwrap().unwrap();
    }
    let started = workflows.list(&Space::Owner, 10).await.unwrap();
    assert_eq!(started.len(), 1);
    assert!(started[0].definition.contains("File it"), "{}", started[0].definition);
    assert_eq!(started[0].inputs["to"], "reports");
    // It has not ended, so that the next occurrence is left out.
    scheduler(&jobs).fire_due(after(due, 601)).await.unwrap();
    let states: Vec<WorkState> = runs(&jobs, &job.id).await.iter().map(|run| run.state).collect();
    assert_eq!(states, [WorkState::Done, WorkState::Skipped]);
    assert_eq!(workflows.list(&Space::Owner, 10).await.unwrap().len(), 1);
}

pub(crate) async fn a_workflow_that_is_not_there_is_refused(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let error = jobs.add(new_job("every 10m", "run the workflow nightly")).await.unwrap_err();
    assert!(error.to_string().contains("nightly"), "{error}");
    Workflows::new(jobs.clone()).save(REPORT, &Space::Owner).await.unwrap();
    // An input is missing.
    let error = jobs.add(new_job("every 10m", "run the daily-report workflow")).await.unwrap_err();
    assert!(error.to_string().contains("to"), "{error}");
    assert!(jobs.list(None).await.unwrap().is_empty());
}
