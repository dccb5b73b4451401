//! What jobs and workflows cost that wait: the CPU time of an idle worker, and of a start.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use lango_automator::{AutomatorSettings, JobBook, NewJob, NewRun, RunState, Workflows};
use lango_protocol::Space;
use lango_store::{Database, DatabaseLocation, Journal};
use serde_json::Map;

use crate::figures::Table;
use crate::program::cpu_milliseconds;
use crate::{finish, start};

const JOB_COUNT: usize = 1000;
const RUN_COUNT: usize = 100;
/// The time after which a worker has started and done what was due.
const SETTLE_TIME: Duration = Duration::from_secs(8);
/// The time in which the CPU time of an idle worker is counted.
const IDLE_TIME: Duration = Duration::from_secs(20);
const IDLE_REPEATS: usize = 3;
const START_REPEATS: usize = 9;

const WORKFLOW: &str = "name: waiting
steps:
  - id: ask
    approve: 'Go on?'
  - id: act
    needs: ask
    task: 'Do it.'
";

/// Prints the figures of a program, and fails when one is over its limit.
pub(crate) async fn measure(lango: &Path) -> Result<()> {
    let empty = tempfile::tempdir()?;
    let full = tempfile::tempdir()?;
    // Makes the databases.
    start::measure_at(lango, empty.path(), 1)?;
    start::measure_at(lango, full.path(), 1)?;
    // Where a start is measured, too.
    let workspace = std::env::current_dir()?;
    fill(full.path(), &workspace).await?;
    let first = Worker::start(lango, full.path(), &workspace)?;
    tokio::time::sleep(SETTLE_TIME).await;
    drop(first);
    check(full.path()).await?;
    let mut table = Table::default();
    let (mut idle, mut idle_empty) = (Vec::new(), Vec::new());
    for _ in 0..IDLE_REPEATS {
        idle_empty.push(measure_idle(lango, empty.path(), &workspace).await?);
        idle.push(measure_idle(lango, full.path(), &workspace).await?);
    }
    let without = start::measure_at(lango, empty.path(), START_REPEATS)?;
    let with = start::measure_at(lango, full.path(), START_REPEATS)?;
    let base = median(&without);
    let more: Vec<f64> = with.iter().map(|start| start - base).collect();
    table.add("an idle worker without work, % of a core", None, idle_empty);
    let what = "an idle worker with 1,000 jobs and 100 waiting runs, % of a core";
    table.add(what, Some(1.0), idle);
    table.add("start to first model request without work, CPU-ms", None, without);
    let what = "the same with 1,000 jobs and 100 waiting runs: how much more, CPU-ms";
    table.add(what, Some(10.0), more);
    finish(&table)
}

fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

async fn open(home: &Path, workspace: &Path) -> Result<JobBook> {
    let location = DatabaseLocation::Sqlite(home.join("lango.db"));
    let database = Database::open(&location).await?;
    let journal = Journal::open(database.clone()).await?;
    let workspace = workspace.canonicalize()?.display().to_string();
    let settings = AutomatorSettings { workspace, ..AutomatorSettings::default() };
    Ok(JobBook::open(settings, database, journal).await?)
}

/// Adds jobs that are not due while anything is measured, and runs that wait for a person.
async fn fill(home: &Path, workspace: &Path) -> Result<()> {
    let jobs = open(home, workspace).await?;
    for number in 0..JOB_COUNT {
        let schedule = format!("every {} days at 9:00", 40 + number % 20);
        jobs.add(NewJob::new(&schedule, &format!("look at the report {number}"))).await?;
    }
    let workflows = Workflows::new(jobs);
    for _ in 0..RUN_COUNT {
        let (definition, inputs) = (WORKFLOW.to_owned(), Map::new());
        let new = NewRun { definition, inputs, space: Space::Owner, session: None };
        workflows.start(new).await?;
    }
    Ok(())
}

/// Checks that the runs wait for a person, and not for a worker.
async fn check(home: &Path) -> Result<()> {
    let workflows = Workflows::new(open(home, home).await?);
    let runs = workflows.list(&Space::Owner, 1000).await?;
    ensure!(runs.len() == RUN_COUNT, "there are {} runs", runs.len());
    for run in &runs {
        let view = workflows.show(run).await?;
        let asks = view.steps.iter().any(|step| step.state == "waiting");
        ensure!(run.state == RunState::Running && asks, "{} does not wait", run.id);
    }
    Ok(())
}

async fn measure_idle(lango: &Path, home: &Path, workspace: &Path) -> Result<f64> {
    let worker = Worker::start(lango, home, workspace)?;
    tokio::time::sleep(SETTLE_TIME).await;
    let before = cpu_milliseconds(worker.0.id())?;
    tokio::time::sleep(IDLE_TIME).await;
    let spent = cpu_milliseconds(worker.0.id())? - before;
    Ok(spent / IDLE_TIME.as_secs_f64() / 10.0)
}

/// A running `lango worker`. It is killed when this is dropped.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Worker {
    fn start(lango: &Path, home: &Path, workspace: &Path) -> Result<Self> {
        let mut child = Command::new(lango)
            .arg("worker")
            .current_dir(workspace)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("LANGO_HOME", home)
            .env("LANGO_MODEL_NAME", "openai/gpt-5-mini")
            .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", lango.display()))?;
        let output = child.stdout.take().context("the worker has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        ensure!(line.contains("Lango runs the jobs"), "the worker said {line:?}");
        Ok(Self(child))
    }
}
