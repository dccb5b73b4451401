//! What a person is asked about a call is what the call does.

use lango_automator::{
    AutomatorAgent, AutomatorResources, AutomatorSettings, JobAction, JobBook, NewJob, Workflows,
};
use lango_protocol::{CallId, SessionId, Space, SpaceAccess, TurnId};
use lango_store::{DatabaseLocation, Journal};
use lango_tool::{ExcludedPaths, PreparedCall, RegisteredTool, ToolContext};
use serde_json::{Value, json};

use crate::samples::{new_job, open, settings};

const TASK: &str = "run the workflow deploy";

fn definition(word: &str) -> String {
    format!("name: deploy\nsteps:\n  - {{ id: act, task: {word} it }}\n")
}

/// A process with the tools of the automator.
struct Process {
    tools: Vec<RegisteredTool>,
    jobs: JobBook,
}

impl Process {
    async fn open(location: &DatabaseLocation) -> Self {
        let database = lango_store::testing::open(location).await;
        let journal = Journal::open(database.clone()).await.unwrap();
        let settings = AutomatorSettings { zone: settings().zone, ..settings() };
        let resources = AutomatorResources { database, journal };
        let agent = AutomatorAgent::open(settings, resources).await.unwrap();
        Self { tools: agent.parts().tools, jobs: agent.jobs().clone() }
    }

    fn prepare(&self, tool: &str, arguments: &Value) -> PreparedCall {
        let tool = self.tools.iter().find(|one| one.name() == tool).unwrap();
        tool.prepare(&arguments.to_string()).unwrap()
    }
}

fn context(space: &Space) -> ToolContext {
    ToolContext {
        session: SessionId::generate(),
        turn: TurnId::generate(),
        call: CallId::generate(),
        agent: "automator".parse().unwrap(),
        space: SpaceAccess::to(space.clone()),
        cancel: tokio_util::sync::CancellationToken::new(),
        excluded: ExcludedPaths::default(),
    }
}

fn calls() -> [(&'static str, Value); 2] {
    [
        ("cron_add", json!({ "schedule": "every 10m", "task": TASK })),
        ("workflow_run", json!({ "name": "deploy" })),
    ]
}

pub(crate) async fn what_is_run_and_stored_is_what_the_question_showed(location: DatabaseLocation) {
    let other_process = Workflows::new(open(&location).await);
    other_process.save(&definition("Check"), &Space::Owner).await.unwrap();
    for (tool, arguments) in calls() {
        other_process.save(&definition("Check"), &Space::Owner).await.unwrap();
        let process = Process::open(&location).await;
        let call = process.prepare(tool, &arguments);
        let shown = call.propose_in(&Space::Owner).unwrap();
        assert!(shown.summary.contains("Check it"), "{tool}: {shown:?}");
        // Another process saves another one while the person thinks.
        other_process.save(&definition("Burn"), &Space::Owner).await.unwrap();
        Workflows::new(process.jobs.clone()).list_saved(&Space::Owner).await.unwrap();
        assert_eq!(call.propose_in(&Space::Owner).unwrap(), shown, "{tool}");
        let refused = call.run(context(&Space::Owner)).await.unwrap_err();
        assert!(refused.to_string().contains("was changed"), "{tool}: {refused}");
        // Asked once more, it shows what there is now.
        let again = process.prepare(tool, &arguments);
        let shown = again.propose_in(&Space::Owner).unwrap();
        assert!(shown.summary.contains("Burn it"), "{tool}: {shown:?}");
        again.run(context(&Space::Owner)).await.unwrap();
    }
    let jobs = other_process.list(&Space::Owner, 10).await.unwrap();
    assert!(jobs.len() == 1 && jobs[0].definition.contains("Burn"), "{jobs:?}");
    let stored = Process::open(&location).await.jobs.list(None).await.unwrap();
    assert!(stored.len() == 1 && stored[0].workflow.as_ref().unwrap().definition.contains("Burn"));
    // One that cannot be shown cannot be approved.
    let process = Process::open(&location).await;
    other_process.remove_saved("deploy", &Space::Owner).await.unwrap();
    let empty = Process::open(&location).await;
    other_process.save(&definition("Burn"), &Space::Owner).await.unwrap();
    for (tool, arguments) in calls() {
        let unseen = empty.prepare(tool, &arguments).propose_in(&Space::Owner).unwrap();
        assert!(unseen.not_shown.is_some(), "{tool}: {unseen:?}");
        let seen = process.prepare(tool, &arguments).propose_in(&Space::Owner).unwrap();
        assert_eq!(seen.not_shown, None, "{tool}");
    }
}

pub(crate) async fn a_question_shows_the_workflows_of_its_own_owner(location: DatabaseLocation) {
    let client = Space::Client("wiki".parse().unwrap());
    let other_process = Workflows::new(open(&location).await);
    other_process.save(&definition("Burn"), &Space::Owner).await.unwrap();
    // They know the owner's alone, because another process saves that of the client afterwards.
    let processes = [Process::open(&location).await, Process::open(&location).await];
    other_process.save(&definition("Check"), &client).await.unwrap();
    for ((tool, arguments), process) in calls().into_iter().zip(&processes) {
        let call = process.prepare(tool, &arguments);
        let asked = call.propose_in(&client).unwrap();
        assert!(!asked.summary.contains("Burn") && asked.not_shown.is_some(), "{tool}: {asked:?}");
        // Where no question is asked, it is the client's own that is run and stored.
        call.run(context(&client)).await.unwrap();
    }
    let runs = other_process.list(&client, 10).await.unwrap();
    assert!(runs.len() == 1 && runs[0].definition.contains("Check"), "{runs:?}");
    let jobs = processes[0].jobs.list(Some(&client)).await.unwrap();
    assert!(jobs[0].workflow.as_ref().unwrap().definition.contains("Check"), "{jobs:?}");
    // Each sees its own now, although both have the same name.
    for (space, word) in [(&client, "Check"), (&Space::Owner, "Burn")] {
        for ((tool, arguments), process) in calls().into_iter().zip(&processes) {
            let asked = process.prepare(tool, &arguments).propose_in(space).unwrap();
            assert!(asked.summary.contains(word), "{tool}: {asked:?}");
        }
    }
}

pub(crate) async fn a_reminder_of_a_workflow_does_not_start_it(location: DatabaseLocation) {
    let jobs = open(&location).await;
    Workflows::new(jobs.clone()).save(&definition("Burn"), &Space::Owner).await.unwrap();
    let reminder = NewJob { action: JobAction::Remind, ..new_job("every 10m", TASK) };
    let job = jobs.add(reminder).await.unwrap();
    assert_eq!((job.action, job.workflow), (JobAction::Remind, None));
    // Nor where the call says it, in words that hide it from the question.
    let process = Process::open(&location).await;
    let arguments = json!({ "schedule": "every 10m", "task": format!("Remind me to {TASK}") });
    process.prepare("cron_add", &arguments).run(context(&Space::Owner)).await.unwrap();
    let jobs = jobs.list(None).await.unwrap();
    assert!(jobs.len() == 2 && jobs.iter().all(|job| job.workflow.is_none()), "{jobs:?}");
}
