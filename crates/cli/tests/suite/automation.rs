//! Work that happens later, through the real binary: jobs, reminders and background tasks, with
//! several workers on one database, and workers that are killed or stopped.

use std::time::{Duration, Instant};

use lango_store::{Database, Statement};
use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Lango, calling};
use crate::invocation::{Invocation, Running, until};

/// Limits how long something may take that waits for a lease to expire.
const LEASE_TIMEOUT: Duration = Duration::from_secs(55);

/// Limits how long something may take that happens soon.
const SOON: Duration = Duration::from_secs(30);

/// The orchestrator passes requests to the automator, and answers tasks itself.
const TO_AUTOMATOR: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "schedule"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "automator", task = "Do it." } }]
"#;

fn answering(milliseconds: u32) -> String {
    format!(
        "[[reply]]\nagent = \"lango-orchestrator\"\ndelay_ms = {milliseconds}\nsay = \"It is sunny.\"\n"
    )
}

/// Runs each test on both engines.
macro_rules! on_both {
    ($($test:ident($delay:literal),)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                super::$test(super::World::on_sqlite($delay).await).await;
            })*
        }
        mod on_postgresql {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                super::$test(super::World::on_postgresql($delay).await).await;
            })*
        }
    };
}

on_both! {
    r16_two_workers_run_each_occurrence_once(100),
    a_job_of_a_killed_worker_is_finished_by_another(2500),
    a_stopped_worker_is_fenced(33_000),
    tasks_wait_for_a_free_place_and_all_end(300),
}

/// Creates a schema for one test on the PostgreSQL server of the tests. Returns its URL.
pub(crate) async fn create_schema(name: &str) -> String {
    let server = std::env::var("LANGO_TEST_POSTGRES")
        .expect("LANGO_TEST_POSTGRES is not set; run the tests with: cargo xtask test");
    let database = Database::open(&server.parse().unwrap()).await.unwrap();
    let id = lango_protocol::TurnId::generate().to_string().replace('-', "_");
    let schema = format!("{name}_{id}");
    let sql = format!("CREATE SCHEMA {schema}");
    database.write(Statement::new(sql).into()).await.unwrap();
    format!("{server}?options=-csearch_path%3D{schema}")
}

/// A home, and a database that several workers use.
struct World {
    lango: Lango,
    url: Option<String>,
}

impl World {
    async fn on_sqlite(delay: u32) -> Self {
        Self { lango: Lango::playing(&[&answering(delay)]).await, url: None }
    }

    async fn on_postgresql(delay: u32) -> Self {
        let url = Some(create_schema("automation").await);
        Self { url, ..Self::on_sqlite(delay).await }
    }

    fn command(&self, arguments: &[&str]) -> Invocation<'_> {
        let invocation =
            self.lango.command(arguments).small_team().set("LANGO_AUTOMATOR_ENABLED", "true");
        match &self.url {
            Some(url) => invocation.set("LANGO_DATABASE_URL", url),
            None => invocation,
        }
    }

    async fn worker(&self) -> Running<'_> {
        self.command(&["worker"]).start_until("Lango runs the jobs").await.0
    }

    async fn json(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).with(&["--json"]).run().await;
        assert_eq!(output.code, 0, "{output:?}");
        serde_json::from_str(&output.stdout).unwrap()
    }

    /// The states of all runs of jobs.
    async fn states(&self) -> Vec<String> {
        let runs = self.json(&["cron", "history"]).await;
        let state = |run: &Value| run["state"].as_str().unwrap().to_owned();
        runs.as_array().unwrap().iter().map(state).collect()
    }

    /// Waits until so many runs of jobs are there and all of them are done.
    async fn all_done(&self, count: usize, within: Duration) {
        let begin = Instant::now();
        loop {
            let states = self.states().await;
            if states.len() == count && states.iter().all(|state| state == "done") {
                return;
            }
            assert!(begin.elapsed() < within, "{states:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// How many turns the journal has.
    async fn turns(&self) -> usize {
        let sessions = self.json(&["sessions", "list"]).await;
        let turns = sessions.as_array().unwrap().iter().map(|session| session["turns"].as_u64());
        usize::try_from(turns.map(Option::unwrap).sum::<u64>()).unwrap()
    }
}

async fn r16_two_workers_run_each_occurrence_once(world: World) {
    let _workers = (world.worker().await, world.worker().await);
    for number in 0..6 {
        let task = format!("look {number}");
        world.json(&["cron", "add", "in 3 seconds", &task]).await;
    }
    world.all_done(6, SOON).await;
    // Nothing follows.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.states().await.len(), 6);
    assert_eq!(world.turns().await, 6);
    assert_eq!(world.lango.received().len(), 6);
}

async fn a_job_of_a_killed_worker_is_finished_by_another(world: World) {
    let killed = world.worker().await;
    world.json(&["cron", "add", "in 1 second", "get the weather"]).await;
    until("the model is asked", || !world.lango.received().is_empty()).await;
    killed.kill().await;
    let _worker = world.worker().await;
    world.all_done(1, LEASE_TIMEOUT).await;
    assert_eq!(world.turns().await, 1);
    let runs = world.json(&["cron", "history"]).await;
    assert_eq!(runs[0]["result"], "It is sunny.", "{runs}");
}

async fn a_stopped_worker_is_fenced(world: World) {
    let stopped = world.worker().await;
    world.json(&["cron", "add", "in 1 second", "get the weather"]).await;
    until("the model is asked", || !world.lango.received().is_empty()).await;
    stopped.signal(Signal::STOP);
    let worker = world.worker().await;
    until("another one takes over", || world.lango.received().len() == 2).await;
    stopped.signal(Signal::CONT);
    world.all_done(1, LEASE_TIMEOUT).await;
    assert_eq!(world.turns().await, 1);
    for worker in [stopped, worker] {
        worker.signal(Signal::TERM);
        assert_eq!(worker.finish().await.code, 0);
    }
    assert_eq!(world.states().await, ["done"]);
}

/// A worker that is stopped while the model is asked for a call, and continued when another one has taken
/// over: the model tells both to act, and one of them does.
async fn act_once_although_a_worker_was_stopped(url: Option<String>) {
    let act = "[[reply]]\nagent = \"lango-orchestrator\"\nresults = 0\ndelay_ms = 33000\n\
        call = [{ name = \"transfer_to_agent\", arguments = { agent_name = \"operator\", task = \"Act.\" } }]\n";
    let calls =
        calling("operator", &[("fs_append", r#"{ path = "effects.txt", content = "done\n" }"#)]);
    let world = World { lango: Lango::playing(&[act, &calls]).await, url };
    let allowed = world.command(&["approvals", "add", "allow", "--tool", "fs_append"]).run().await;
    assert_eq!(allowed.code, 0, "{allowed:?}");
    let stopped = world.worker().await;
    world.json(&["cron", "add", "in 1 second", "act"]).await;
    until("the model is asked", || !world.lango.received().is_empty()).await;
    stopped.signal(Signal::STOP);
    let worker = world.worker().await;
    until("another one takes over", || world.lango.received().len() == 2).await;
    let effects = world.lango.workspace().join("effects.txt");
    assert!(!effects.exists());
    // It reads its answer, which tells it to act, before the other one has got its own.
    stopped.signal(Signal::CONT);
    world.all_done(1, LEASE_TIMEOUT).await;
    let mut log = String::new();
    for worker in [stopped, worker] {
        worker.signal(Signal::TERM);
        let ended = worker.finish().await;
        assert_eq!(ended.code, 0, "{ended:?}");
        log.push_str(&ended.stderr);
    }
    assert_eq!(std::fs::read_to_string(&effects).unwrap(), "done\n");
    let asked = world.lango.received().len();
    // Two asked the orchestrator; one went on to the operator, which is asked before and after its call.
    assert_eq!(asked, 4, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_worker_has_no_effect_when_it_goes_on() {
    act_once_although_a_worker_was_stopped(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_worker_has_no_effect_when_it_goes_on_with_postgresql() {
    act_once_although_a_worker_was_stopped(Some(create_schema("fenced").await)).await;
}

async fn tasks_wait_for_a_free_place_and_all_end(world: World) {
    for number in 0..5 {
        world.json(&["bg", "add", &format!("count {number}")]).await;
    }
    let _worker = world
        .command(&["worker"])
        .set("LANGO_AUTOMATOR_PARALLELWORK", "1")
        .start_until("Lango runs the jobs")
        .await;
    let begin = Instant::now();
    loop {
        let tasks = world.json(&["bg", "list"]).await;
        let tasks = tasks.as_array().unwrap();
        let started = tasks.iter().filter(|task| task["state"] == "started").count();
        assert!(started <= 1, "{tasks:?}");
        if tasks.iter().all(|task| task["state"] == "done") {
            assert_eq!(tasks.len(), 5);
            assert!(tasks.iter().all(|task| task["result"] == "It is sunny."));
            break;
        }
        assert!(begin.elapsed() < SOON, "{tasks:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(world.lango.received().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn r20_a_turn_adds_a_job_once_it_is_approved() {
    let schedule = r#"{ schedule = "every weekday at 9:00", task = "summarise the new files in inbox/", timezone = "Europe/Berlin" }"#;
    let calls = calling("automator", &[("cron_add", schedule)]);
    let world = World { lango: Lango::playing(&[TO_AUTOMATOR, &calls]).await, url: None };
    let ask = ["run", "--output-format", "stream-json", "schedule a summary of my inbox"];
    let denied = world.command(&ask).with(&["--approve", "none"]).run().await;
    assert_eq!(denied.code, 3, "{denied:?}");
    assert_eq!(world.json(&["cron", "list"]).await, serde_json::json!([]));
    let added = world.command(&ask).with(&["--approve", "all"]).run().await;
    assert!(added.stdout.contains("Nothing runs it yet"), "{added:?}");
    let jobs = world.json(&["cron", "list"]).await;
    assert_eq!(jobs[0]["schedule"], "every weekday (Monday to Friday) at 09:00", "{jobs}");
    assert_eq!(
        (&jobs[0]["timezone"], jobs[0]["next"].as_array().unwrap().len()),
        (&"Europe/Berlin".into(), 3)
    );
    // While a worker runs, nothing is missing.
    let _worker = world.worker().await;
    let again = world.command(&ask).with(&["--approve", "all"]).run().await;
    assert!(!again.stdout.contains("Nothing runs it yet"), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_impossible_schedule_is_refused_before_anyone_is_asked() {
    let calls =
        calling("automator", &[("cron_add", r#"{ schedule = "on 30 February", task = "x" }"#)]);
    let world = World { lango: Lango::playing(&[TO_AUTOMATOR, &calls]).await, url: None };
    let ask = ["run", "--output-format", "stream-json", "schedule it", "--approve", "none"];
    let refused = world.command(&ask).run().await;
    assert!(!refused.stdout.contains("approval_requested"), "{refused:?}");
    assert!(refused.stdout.contains("February has no day 30"), "{refused:?}");
    let typed = world.command(&["cron", "add", "on 30 February", "x"]).run().await;
    assert_eq!(typed.code, 2, "{typed:?}");
    assert!(typed.stderr.contains("February has no day 30"), "{typed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reminder_is_told_by_the_worker_and_asks_no_model() {
    let world = World::on_sqlite(0).await;
    let worker = world.worker().await;
    world.json(&["cron", "add", "in 1 second", "stretch", "--remind"]).await;
    world.all_done(1, SOON).await;
    worker.signal(Signal::TERM);
    let ended = worker.finish().await;
    assert!(ended.stderr.contains("Reminder: stretch"), "{ended:?}");
    assert!(world.lango.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ended_in_the_background_is_told_in_the_next_run() {
    let world = World::on_sqlite(0).await;
    // A reminder that came due while nothing was open.
    world.json(&["cron", "add", "in 1 second", "stretch", "--remind"]).await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    let first = world.command(&["run", "hello"]).run().await;
    let second = world.command(&["run", "hello"]).run().await;
    let told = [&first, &second].map(|run| run.stderr.matches("Reminder: stretch").count());
    assert_eq!(told.iter().sum::<usize>(), 1, "{first:?} {second:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_shown_paused_resumed_run_and_removed() {
    let world = World::on_sqlite(0).await;
    let added = world
        .json(&["cron", "add", "every day at 7:00", "get the weather", "--name", "weather"])
        .await;
    let id = added["id"].as_str().unwrap();
    assert!(added["notice"].as_str().unwrap().contains("lango worker"), "{added}");
    let listed = world.command(&["cron", "list"]).run().await;
    assert!(
        listed.stdout.contains(id) && listed.stdout.contains("every day at 07:00"),
        "{listed:?}"
    );
    assert_eq!(world.json(&["cron", "pause", "weather"]).await["state"], "paused");
    assert_eq!(world.json(&["cron", "resume", id]).await["state"], "active");
    let run = world.json(&["cron", "run", "weather"]).await;
    assert_eq!((&run["state"], &run["result"]), (&"done".into(), &"It is sunny.".into()), "{run}");
    let shown = world.json(&["cron", "show", "weather"]).await;
    assert_eq!(shown["runs"].as_array().unwrap().len(), 1, "{shown}");
    let unsure = world.command(&["cron", "remove", "weather"]).run().await;
    assert_eq!(unsure.code, 2, "{unsure:?}");
    let removed = world.command(&["cron", "remove", "weather", "--yes"]).run().await;
    assert_eq!(removed.code, 0, "{removed:?}");
    let unknown = world.command(&["cron", "show", "weather"]).run().await;
    assert!(unknown.code == 2 && unknown.stderr.contains("lango cron list"), "{unknown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r20_the_embedded_model_sets_up_lists_and_stops_jobs() {
    let lango = Lango::silent().await;
    let ask = async |text: &str| {
        let run = lango.bare(&["run", "--approve", "all", text]).run().await;
        assert_eq!(run.code, 0, "{text}: {run:?}");
        run.stdout
    };
    let stretch = ask("remind me to stretch every two hours").await;
    assert!(stretch.contains("I'll remind you: stretch — every 2 hours"), "{stretch}");
    let backup = ask("run the backup nightly at half past two").await;
    assert!(backup.contains("every day at 02:30"), "{backup}");
    let jobs = ask("which jobs do I have?").await;
    assert!(jobs.contains("You have 2 jobs") && jobs.contains("run the backup"), "{jobs}");
    let paused = ask("pause the backup job").await;
    assert!(paused.contains("Paused: run the backup"), "{paused}");
    let removed = ask("stop reminding me to stretch").await;
    assert!(removed.contains("stretch"), "{removed}");
    assert!(lango.received().is_empty());
}
