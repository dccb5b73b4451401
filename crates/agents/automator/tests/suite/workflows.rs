//! The engine of workflows, without a team: a test plays the part of the runner, and writes the turns
//! that the work of steps would have.

use std::sync::Arc;
use std::time::Duration;

use lango_automator::{
    JobBook, NewRun, TeamDirectory, WORKFLOW_KIND, WorkflowEngine, WorkflowRun, WorkflowRunView,
    Workflows,
};
use lango_protocol::{Space, Timestamp};
use lango_store::{DatabaseLocation, Statement, WorkFilter, WorkItem, WorkScope, WorkState};
use serde_json::{Map, Value, json};

use crate::samples::{after, open};
use crate::turns::{CallResult, write_call, write_message, write_stopped_message};

struct World {
    jobs: JobBook,
    workflows: Workflows,
}

impl World {
    async fn open(location: &DatabaseLocation) -> Self {
        let jobs = open(location).await;
        Self { workflows: Workflows::new(jobs.clone()), jobs }
    }

    fn engine(&self) -> WorkflowEngine {
        let scope = WorkScope { workspace: Some("/work".to_owned()), includes_clients: false };
        let directory = TeamDirectory {
            find_tool_owner: Arc::new(|_, tool| {
                tool.starts_with("fs_").then(|| "operator".parse().unwrap())
            }),
            has_agent: Arc::new(|_, agent| agent == "operator"),
        };
        WorkflowEngine::new(self.workflows.clone(), scope, directory)
    }

    async fn start(&self, definition: &str, inputs: Value) -> WorkflowRun {
        let inputs: Map<String, Value> = serde_json::from_value(inputs).unwrap();
        let definition = definition.to_owned();
        let new = NewRun { definition, inputs, space: Space::Owner, session: None };
        self.workflows.start(new).await.unwrap()
    }

    async fn advance(&self) -> Vec<WorkItem> {
        self.engine().advance_due(Timestamp::now()).await.unwrap()
    }

    async fn view(&self, run: &WorkflowRun) -> WorkflowRunView {
        let run = self.workflows.find(&run.id, &Space::Owner).await.unwrap();
        self.workflows.show(&run).await.unwrap()
    }

    async fn states(&self, run: &WorkflowRun) -> Vec<(String, &'static str)> {
        let steps = self.view(run).await.steps;
        steps.into_iter().map(|step| (step.step, step.state)).collect()
    }

    /// The work of steps that has not ended, the oldest first.
    async fn open_work(&self) -> Vec<WorkItem> {
        let filter =
            WorkFilter { kind: Some(WORKFLOW_KIND), is_open: true, ..WorkFilter::default() };
        let mut items = self.jobs.journal().list_work(filter, 1000).await.unwrap();
        items.sort_by(|one, other| one.id.cmp(&other.id));
        items
    }

    /// Runs the work of a step as a runner does it, with this answer or result.
    async fn run_work(&self, item: &WorkItem, result: &CallResult<'_>) {
        let journal = self.jobs.journal();
        assert!(journal.start_work(item, 100).await.unwrap(), "{item:?}");
        match result {
            CallResult::Answer(text) => write_message(journal, item, text).await,
            other => write_call(journal, item, other).await,
        }
        journal.end_work(&item.id, WorkState::Done, "").await.unwrap();
    }

    /// Does all work that there is with an answer, until the run has nothing more to do.
    async fn answer_all(&self, text: &str) {
        loop {
            self.advance().await;
            let work = self.open_work().await;
            if work.is_empty() {
                return;
            }
            for item in work {
                self.run_work(&item, &CallResult::Answer(text)).await;
            }
        }
    }
}

fn ids(items: &[WorkItem]) -> Vec<String> {
    items.iter().map(|item| item.id.split_once('.').unwrap().1.to_owned()).collect()
}

const DIAMOND: &str = "
name: diamond
inputs: { word: {} }
steps:
  - { id: first, task: 'Say {{ inputs.word }}' }
  - { id: left, needs: first, task: 'Left of {{ steps.first.output }}' }
  - { id: right, needs: first, task: Right }
  - { id: last, needs: [left, right], task: 'Join {{ steps.left.output }}' }
outputs: { all: '{{ steps.last.output }}!' }
";

pub(crate) async fn steps_run_as_parallel_as_the_graph_allows(location: DatabaseLocation) {
    let world = World::open(&location).await;
    let run = world.start(DIAMOND, json!({ "word": "hi" })).await;
    assert!(world.open_work().await.is_empty());
    let mut waves = Vec::new();
    loop {
        world.advance().await;
        let work = world.open_work().await;
        if work.is_empty() {
            break;
        }
        for item in &work {
            world.run_work(item, &CallResult::Answer("ok")).await;
        }
        waves.push(ids(&work).join(" "));
    }
    assert_eq!(waves, ["first", "left right", "last"]);
    let view = world.view(&run).await;
    assert_eq!((view.state, &view.outputs["all"]), ("done", &json!("ok!")));
    assert_eq!(view.steps[0].input, "Say hi");
    // What another step said is attached, and not part of the words.
    assert!(view.steps[1].input.contains("# steps.first.output"), "{:?}", view.steps[1]);
    assert_eq!(view.steps[1].output, json!("ok"));
}

pub(crate) async fn of_many_engines_one_starts_each_step(location: DatabaseLocation) {
    let world = Arc::new(World::open(&location).await);
    let run = world.start(DIAMOND, json!({ "word": "hi" })).await;
    for expected in [1, 2, 1] {
        let engines: Vec<_> = (0..6)
            .map(|_| {
                let world = Arc::clone(&world);
                tokio::spawn(async move { world.advance().await })
            })
            .collect();
        for engine in engines {
            engine.await.unwrap();
        }
        let work = world.open_work().await;
        assert_eq!(work.len(), expected, "{:?}", ids(&work));
        for item in work {
            world.run_work(&item, &CallResult::Answer("ok")).await;
        }
    }
    world.advance().await;
    assert_eq!(world.view(&run).await.state, "done");
    let all = WorkFilter { kind: Some(WORKFLOW_KIND), ..WorkFilter::default() };
    assert_eq!(world.jobs.journal().list_work(all, 100).await.unwrap().len(), 4);
}

pub(crate) async fn a_list_is_done_item_by_item_within_the_limit(location: DatabaseLocation) {
    let world = World::open(&location).await;
    let text = "
name: each
inputs: { names: { type: list } }
steps:
  - { id: greet, for_each: '{{ inputs.names }}', task: 'Greet {{ item }}' }
  - { id: none, for_each: [], task: 'x {{ item }}' }
outputs: { all: '{{ steps.greet.output }}', none: '{{ steps.none.output }}' }
";
    let names: Vec<String> = (0..20).map(|number| format!("n{number}")).collect();
    let run = world.start(text, json!({ "names": names })).await;
    let mut done = 0;
    loop {
        world.advance().await;
        let work = world.open_work().await;
        assert!(work.len() <= 8, "{}", work.len());
        let Some(item) = work.first() else { break };
        done += 1;
        world.run_work(item, &CallResult::Answer(&format!("hello {done}"))).await;
    }
    let view = world.view(&run).await;
    assert_eq!((view.state, done), ("done", 20), "{view:?}");
    assert_eq!(view.outputs["all"].as_array().unwrap().len(), 20);
    assert_eq!(view.outputs["none"], json!([]));
}

pub(crate) async fn a_call_returns_typed_values_and_fails_with_its_reason(
    location: DatabaseLocation,
) {
    let world = World::open(&location).await;
    let text = "
name: calls
steps:
  - { id: read, tool: fs_read, arguments: { path: a, lines: 3 } }
  - id: more
    needs: read
    when: steps.read.output.count > 1
    tool: fs_write
    arguments: { path: b, content: '{{ steps.read.output }}' }
    retry: { attempts: 2, backoff: 30s }
  - { id: never, needs: more, when: false, task: x }
  - { id: after, needs: never, task: x }
";
    let run = world.start(text, json!({})).await;
    world.advance().await;
    let work = world.open_work().await;
    assert!(work[0].request.contains(r#""agent":"operator""#), "{}", work[0].request);
    assert!(work[0].request.contains("fs_read"), "{}", work[0].request);
    world.run_work(&work[0], &CallResult::Ok(json!({ "count": 2 }))).await;
    world.advance().await;
    let work = world.open_work().await;
    let request: Value = serde_json::from_str(&work[0].request).unwrap();
    let arguments = request["input"]["call"]["arguments"].as_str().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(arguments).unwrap()["content"],
        json!({ "count": 2, "text": "" })
    );
    world.run_work(&work[0], &CallResult::Error("disk full")).await;
    world.advance().await;
    // It waits before the second attempt.
    assert!(world.open_work().await.is_empty());
    let later = after(Timestamp::now(), 31);
    world.engine().advance_due(later).await.unwrap();
    let work = world.open_work().await;
    assert_eq!(ids(&work), ["more.a2"]);
    world.run_work(&work[0], &CallResult::Error("disk still full")).await;
    let told = world.advance().await;
    assert!(told[0].result.contains("more: fs_write: disk still full"), "{told:?}");
    let view = world.view(&run).await;
    assert_eq!(view.state, "failed");
    let states: Vec<&str> = view.steps.iter().map(|step| step.state).collect();
    assert_eq!(states, ["done", "failed", "skipped", "skipped"]);
}

pub(crate) async fn an_interrupted_effect_stops_the_run_for_a_person(location: DatabaseLocation) {
    let world = World::open(&location).await;
    let text = "
name: effects
steps:
  - { id: send, tool: fs_append, arguments: { path: a }, retry: { attempts: 5 } }
  - { id: next, needs: send, tool: fs_append, arguments: { path: b } }
";
    let run = world.start(text, json!({})).await;
    world.advance().await;
    // Interrupted before it had an effect: it is done again by itself.
    world.run_work(&world.open_work().await[0], &CallResult::NotStarted).await;
    world.advance().await;
    let work = world.open_work().await;
    assert_eq!(ids(&work), ["send.a2"]);
    world.run_work(&work[0], &CallResult::Unknown).await;
    let told = world.advance().await;
    assert!(told[0].result.contains("lango workflow retry"), "{told:?}");
    assert!(world.open_work().await.is_empty());
    assert_eq!(world.view(&run).await.state, "blocked");
    // A person says that it was done.
    world.workflows.approve(&run, "send", "me", json!({ "ok": true })).await.unwrap();
    world.advance().await;
    let work = world.open_work().await;
    assert_eq!(ids(&work), ["next"]);
    world.run_work(&work[0], &CallResult::Unknown).await;
    world.advance().await;
    // A person says that it was not done.
    world.workflows.retry(&run, "next").await.unwrap();
    world.advance().await;
    let work = world.open_work().await;
    assert_eq!(ids(&work), ["next.a2"]);
    world.run_work(&work[0], &CallResult::Ok(json!({}))).await;
    world.advance().await;
    let view = world.view(&run).await;
    assert_eq!(view.state, "done", "{view:?}");
    assert_eq!(view.steps[0].output, json!({ "ok": true }));
}

pub(crate) async fn a_question_holds_no_work_and_is_answered_once(location: DatabaseLocation) {
    let world = World::open(&location).await;
    let text = "
name: ask
steps:
  - { id: gate, approve: 'Shall it go on?' }
  - { id: go, needs: gate, task: x, approve: 'Really?' }
";
    let run = world.start(text, json!({})).await;
    let told = world.advance().await;
    assert!(told[0].result.contains("Shall it go on?"), "{told:?}");
    assert_eq!(world.view(&run).await.state, "waiting");
    assert!(world.open_work().await.is_empty());
    // Nothing is looked at, and nothing is told twice.
    let later = after(Timestamp::now(), 3600);
    assert!(world.engine().advance_due(later).await.unwrap().is_empty());
    world.workflows.approve(&run, "gate", "me", Value::Null).await.unwrap();
    assert!(world.workflows.approve(&run, "gate", "me", Value::Null).await.is_err());
    world.answer_all("ok").await;
    assert_eq!(world.states(&run).await[1], ("go".to_owned(), "waiting"));
    world.workflows.reject(&run, "go", "me").await.unwrap();
    world.answer_all("ok").await;
    let view = world.view(&run).await;
    assert_eq!((view.state, view.reason.as_str()), ("failed", "go: rejected by me"));
    // It can be tried again, and is asked about no more.
    world.workflows.retry(&run, "go").await.unwrap();
    world.answer_all("ok").await;
    assert_eq!(world.view(&run).await.state, "done");
}

pub(crate) async fn a_failure_stops_goes_on_or_runs_a_step(location: DatabaseLocation) {
    let world = World::open(&location).await;
    let text = "
name: failing
steps:
  - { id: soft, tool: fs_read, arguments: {}, on_failure: continue }
  - { id: after, needs: soft, when: \"steps.soft.state == 'failed'\", task: x }
  - { id: unknown-tool, needs: after, tool: web_fetch, on_failure: { run: clean } }
  - { id: unused, needs: unknown-tool, task: x }
  - { id: clean, task: 'Clean up after {{ steps.unknown-tool.error }}' }
";
    let run = world.start(text, json!({})).await;
    world.advance().await;
    world.run_work(&world.open_work().await[0], &CallResult::Error("no such file")).await;
    world.answer_all("ok").await;
    let view = world.view(&run).await;
    let states: Vec<&str> = view.steps.iter().map(|step| step.state).collect();
    assert_eq!(states, ["failed", "done", "failed", "skipped", "done"], "{view:?}");
    assert_eq!(view.state, "failed");
    assert!(view.reason.contains("no agent has the tool web_fetch"), "{view:?}");
    assert!(view.steps[4].input.contains("no agent has the tool"), "{view:?}");
}

pub(crate) async fn an_agent_that_is_not_there_fails_its_step(location: DatabaseLocation) {
    let world = World::open(&location).await;
    let text = "name: agents\nsteps:\n  - { id: a, agent: operator, task: x }\n  \
                - { id: b, needs: a, agent: opreator, task: y }\n";
    let run = world.start(text, json!({})).await;
    world.answer_all("ok").await;
    let view = world.view(&run).await;
    assert_eq!((view.state, view.steps[0].state), ("failed", "done"));
    assert!(view.reason.contains("there is no agent opreator"), "{view:?}");
}

pub(crate) async fn a_cancelled_run_starts_nothing_more(location: DatabaseLocation) {
    let world = World::open(&location).await;
    let run = world.start(DIAMOND, json!({ "word": "hi" })).await;
    world.advance().await;
    assert_eq!(world.open_work().await.len(), 1);
    assert!(world.workflows.cancel(&run).await.unwrap());
    assert!(!world.workflows.cancel(&run).await.unwrap());
    world.answer_all("ok").await;
    let view = world.view(&run).await;
    assert_eq!(view.state, "cancelled");
    assert!(view.steps.iter().all(|step| step.state == "cancelled"), "{view:?}");
    world.workflows.remove(&run).await.unwrap();
    assert!(world.workflows.find(&run.id, &Space::Owner).await.is_err());
}

pub(crate) async fn a_step_that_takes_too_long_is_stopped(location: DatabaseLocation) {
    let world = World::open(&location).await;
    let text = "name: slow\nsteps:\n  - { id: a, task: x, timeout: 5m }\n";
    let run = world.start(text, json!({})).await;
    world.advance().await;
    let item = world.open_work().await.remove(0);
    assert!(world.jobs.journal().start_work(&item, 100).await.unwrap());
    world.engine().advance_due(after(Timestamp::now(), 200)).await.unwrap();
    assert!(!world.open_work().await[0].is_cancelled);
    world.engine().advance_due(after(Timestamp::now(), 700)).await.unwrap();
    assert!(world.open_work().await[0].is_cancelled);
    // Its process stops it.
    world.jobs.journal().withdraw_turn(item.turn).await.unwrap();
    world.jobs.journal().end_work(&item.id, WorkState::Cancelled, "").await.unwrap();
    world.advance().await;
    let view = world.view(&run).await;
    assert_eq!((view.state, view.reason.as_str()), ("failed", "a: it took longer than 300 s"));
}

pub(crate) async fn a_step_that_was_stopped_within_its_effect_is_not_tried_again(
    location: DatabaseLocation,
) {
    let world = World::open(&location).await;
    let text = "
name: slow
steps:
  - { id: send, tool: fs_append, arguments: { path: a }, timeout: 5m, retry: { attempts: 3 } }
  - { id: tell, task: Tell it, timeout: 5m, retry: { attempts: 3 }, on_failure: continue }
";
    let run = world.start(text, json!({})).await;
    world.advance().await;
    let journal = world.jobs.journal();
    // Stopped in time before the call began: it is tried again.
    for (attempt, seconds) in [(CallResult::StoppedBefore, 1000), (CallResult::StoppedWithin, 3000)]
    {
        let work = world.open_work().await;
        let item = work.iter().find(|item| item.id.contains(".send")).unwrap();
        assert!(journal.start_work(item, 100).await.unwrap());
        let late = after(Timestamp::now(), seconds);
        world.engine().advance_due(late).await.unwrap();
        write_call(journal, item, &attempt).await;
        journal.end_work(&item.id, WorkState::Cancelled, "").await.unwrap();
        world.engine().advance_due(late).await.unwrap();
        world.engine().advance_due(after(late, 60)).await.unwrap();
    }
    assert!(!ids(&world.open_work().await).iter().any(|id| id.starts_with("send")));
    let view = world.view(&run).await;
    assert_eq!((view.state, view.steps[0].state), ("blocked", "unknown"), "{view:?}");
    assert_eq!(view.steps[0].attempts, 2, "{view:?}");
    assert!(view.steps[0].reason.contains("longer than 300 s"), "{view:?}");
    // An agent that had an effect before it was stopped is not tried again either.
    let item = world.open_work().await.remove(0);
    assert!(journal.start_work(&item, 100).await.unwrap());
    let late = after(Timestamp::now(), 5000);
    world.engine().advance_due(late).await.unwrap();
    write_stopped_message(journal, &item).await;
    journal.end_work(&item.id, WorkState::Cancelled, "").await.unwrap();
    world.engine().advance_due(late).await.unwrap();
    world.workflows.approve(&run, "send", "me", Value::Null).await.unwrap();
    world.engine().advance_due(after(late, 600)).await.unwrap();
    assert!(world.open_work().await.is_empty());
    let view = world.view(&run).await;
    assert_eq!((view.steps[1].state, view.steps[1].attempts), ("failed", 1), "{view:?}");
    assert!(view.steps[1].reason.contains("fs_append had run"), "{view:?}");
}

pub(crate) async fn each_step_with_an_unknown_outcome_is_told(location: DatabaseLocation) {
    let world = World::open(&location).await;
    let text = "
name: two
steps:
  - { id: one, tool: fs_append, arguments: { path: a } }
  - { id: two, tool: fs_append, arguments: { path: b } }
";
    let run = world.start(text, json!({})).await;
    world.advance().await;
    let mut told = Vec::new();
    for item in world.open_work().await {
        world.run_work(&item, &CallResult::Unknown).await;
        told.extend(world.advance().await);
        // Nothing is told twice.
        assert!(world.advance().await.is_empty());
    }
    let named = ["at one:", "at two:"].map(|name| told[0].result.contains(name));
    assert_eq!((told.len(), named), (2, [true, false]), "{told:?}");
    assert!(told[1].result.contains("at two:"), "{told:?}");
    assert_eq!(world.view(&run).await.state, "blocked");
}

pub(crate) async fn a_run_that_cannot_go_on_keeps_no_other_back(location: DatabaseLocation) {
    let world = World::open(&location).await;
    let broken = world.start(DIAMOND, json!({ "word": "hi" })).await;
    let whole = world.start(DIAMOND, json!({ "word": "hi" })).await;
    let database = lango_store::testing::open(&location).await;
    let damage = Statement::new("UPDATE workflow_runs SET definition = 'name: x' WHERE id = $1");
    database.write(damage.bind(broken.id.as_str()).into()).await.unwrap();
    // Not even its inputs can be read.
    let unreadable = world.start(DIAMOND, json!({ "word": "hi" })).await;
    let damage = Statement::new("UPDATE workflow_runs SET inputs = '{' WHERE id = $1");
    database.write(damage.bind(unreadable.id.as_str()).into()).await.unwrap();
    let told = world.advance().await;
    // Those who asked are told, in this process or another.
    let undelivered = world.jobs.journal().list_undelivered_work(&Space::Owner, 10).await.unwrap();
    for run in [&broken, &unreadable] {
        for items in [&told, &undelivered] {
            let item = items.iter().find(|item| item.id == run.id).unwrap();
            assert!(item.result.contains("it cannot go on"), "{item:?}");
            assert_eq!((item.state, item.title.as_str()), (WorkState::Failed, "diamond"));
        }
    }
    world.answer_all("ok").await;
    let view = world.view(&broken).await;
    assert_eq!((view.state, view.steps[0].state), ("failed", "cancelled"));
    assert!(view.reason.contains("it cannot go on"), "{view:?}");
    assert_eq!(world.view(&whole).await.state, "done");
}

pub(crate) async fn workflows_are_saved_by_owner(location: DatabaseLocation) {
    let world = World::open(&location).await;
    let client = Space::Client("wiki".parse().unwrap());
    world.workflows.save(DIAMOND, &Space::Owner).await.unwrap();
    world.workflows.save(DIAMOND, &Space::Owner).await.unwrap();
    assert!(world.workflows.save("name: x", &Space::Owner).await.is_err());
    assert_eq!(world.workflows.list_saved(&Space::Owner).await.unwrap().len(), 1);
    assert!(world.workflows.find_saved("diamond", &client).await.is_err());
    let run = world.start(DIAMOND, json!({ "word": "hi" })).await;
    assert!(world.workflows.find(&run.id, &client).await.is_err());
    world.workflows.remove_saved("diamond", &Space::Owner).await.unwrap();
    assert!(world.workflows.list_saved(&Space::Owner).await.unwrap().is_empty());
    let missing = NewRun {
        definition: DIAMOND.to_owned(),
        inputs: Map::new(),
        space: Space::Owner,
        session: None,
    };
    let refused = world.workflows.start(missing).await.unwrap_err();
    assert!(refused.to_string().contains("the input word is missing"), "{refused}");
    // Nothing looks at what waits for nothing.
    assert!(run.created_at.since(Timestamp::now()) < Duration::from_mins(1));
}
