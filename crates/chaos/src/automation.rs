//! Workers under faults: every occurrence of every job once, every task and every step once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Result;
use lango_automator::{
    AutomatorSettings, BackgroundTasks, Job, JobBook, NewJob, NewRun, NewTask, Overlap, RunState,
    Workflows,
};
use lango_protocol::{CallStatus, EventBody, Space, Timestamp};
use lango_store::{Database, Journal, WorkFilter, WorkItem, WorkState};
use serde_json::Map;

use crate::Arguments;
use crate::faults::{self, FaultCounts};
use crate::fleet::ProcessRole;
use crate::random::Random;
use crate::stage::{Stage, read_effects, write_script_for};

/// The jobs that happen again and again.
const JOB_COUNT: usize = 6;
/// Their schedule: longer than all processes together are gone.
const INTERVAL: &str = "every 30s";
/// The most names of each kind.
const MAX_COUNT: usize = 500;
/// How long everything may take to end once there are no more faults.
const END_TIMEOUT: Duration = Duration::from_mins(4);
/// Milliseconds between faults, and between new work.
const PACE: std::ops::Range<u64> = 700..3500;

/// Lets a command take a moment, so that it is often under way when its worker ends.
const TAKES_TIME: &str = "sleep 0.5; ";

/// A command that the sandbox could not begin had no effect, and is made again.
const RETRY: &str = "    retry: { attempts: 3, backoff: 2s }\n";

/// A workflow whose steps each leave a line: two at once, one after them, and one for each of a list.
fn write_workflow(name: &str) -> String {
    let step = |id: &str, rest: &str| {
        format!(
            "  - id: {id}\n    tool: exec_shell\n{RETRY}{rest}    arguments: {{ command: '{TAKES_TIME}echo {name}{id} >> effects' }}\n"
        )
    };
    let each = format!(
        "  - id: each\n    needs: last\n    for_each: [x, y]\n    tool: exec_shell\n{RETRY}    arguments: \
         {{ command: '{TAKES_TIME}echo {name}each{{{{ item }}}} >> effects' }}\n"
    );
    let last = step("last", "    needs: [one, two]\n");
    format!("name: {name}end\nsteps:\n{}{}{last}{each}", step("one", ""), step("two", ""))
}

/// The lines of a run that was done.
const STEPS: [&str; 5] = ["one", "two", "last", "eachx", "eachy"];

/// What was asked for.
#[derive(Default)]
struct Requests {
    jobs: Vec<(Job, String)>,
    shots: Vec<(String, String)>,
    tasks: Vec<(String, String)>,
    runs: Vec<(String, String)>,
}

impl Requests {
    /// Returns what there was too little of, so that a run in which next to nothing happened proves
    /// nothing.
    fn find_too_few(
        &self,
        seconds: u64,
        caused: &FaultCounts,
        findings: &Findings,
        effects: usize,
    ) -> BTreeSet<String> {
        let seconds = usize::try_from(seconds).unwrap_or(usize::MAX);
        let (rounds, share) = ((seconds / 30).saturating_sub(1), seconds / 20);
        let (shots, tasks, runs) = (self.shots.len(), self.tasks.len(), self.runs.len());
        let kills = usize::try_from(caused.kills).unwrap_or(0);
        let busy_kills = usize::try_from(caused.busy_kills).unwrap_or(0);
        // A call whose outcome is not known may have had no effect.
        let sure = (findings.occurrences + shots + tasks + STEPS.len() * runs)
            .saturating_sub(STEPS.len() * findings.unknown + findings.not_begun + JOB_COUNT);
        let counts = [
            ("occurrences", findings.occurrences, JOB_COUNT * rounds),
            ("jobs that happen once", shots, share),
            ("background tasks", tasks, share / 2),
            ("runs of workflows", runs, share / 2),
            ("kills", kills, seconds / 20),
            ("kills while work ran", busy_kills, (kills / 3).max(1)),
            ("effects", effects, sure),
        ];
        let too_few = counts.into_iter().filter(|(_, count, least)| count < least);
        too_few.map(|(what, count, least)| format!("{count} {what}, at least {least}")).collect()
    }
}

/// What is wrong, by kind.
#[derive(Default)]
struct Findings {
    occurrences: usize,
    unknown: usize,
    /// Calls of which the model was told that they had not begun, and which it did not make again.
    not_begun: usize,
    missed: BTreeSet<String>,
    lost: BTreeSet<String>,
    given_up: BTreeSet<String>,
    twice: BTreeSet<String>,
    untrue: BTreeSet<String>,
}

/// Runs everything. Returns what to print, and whether all is well.
pub(crate) async fn run(arguments: &Arguments) -> Result<(String, bool)> {
    let numbers = 0..MAX_COUNT;
    let jobs = (0..JOB_COUNT).map(|number| format!("job-{number}-"));
    let shots = numbers.clone().map(|number| format!("shot-{number:04}-"));
    let tasks = numbers.map(|number| format!("task-{number:04}-"));
    let script = write_script_for(jobs.chain(shots).chain(tasks), TAKES_TIME);
    let stage = Stage::open(arguments, &script, ProcessRole::Worker).await?;
    let database = Database::open(&stage.location).await?;
    let journal = Journal::open(database.clone()).await?;
    let workspace = stage.workspace()?;
    let settings = AutomatorSettings {
        workspace: workspace.display().to_string(),
        max_task_count: u32::try_from(MAX_COUNT)?,
        ..AutomatorSettings::default()
    };
    let book = JobBook::open(settings, database, journal).await?;
    let time = Duration::from_secs(arguments.seconds);
    let journal = Some(book.journal().clone());
    let faults = tokio::spawn(faults::cause(stage.clone(), journal, time, arguments.seed, PACE));
    let requests = ask_until_calm(&stage, &book, arguments.seed).await?;
    let end = Timestamp::now();
    for (job, _) in &requests.jobs {
        book.pause(&book.find(&job.id, &Space::Owner).await?).await?;
    }
    let caused = faults.await??;
    stage.fleet.start_all().await?;
    wait_for_ends(&book).await?;
    stage.fleet.stop_all().await;
    let effects = read_effects(&workspace.join("effects"))?;
    let findings = check(&book, &requests, &effects, end).await?;
    let engine = if arguments.postgres.is_some() { "PostgreSQL" } else { "SQLite" };
    let mut text = format!(
        "{engine}, {} workers, {} s, seed {}: {caused}\n{:>6}  occurrences of {JOB_COUNT} jobs\n{:>6}  jobs that \
         happen once\n{:>6}  background tasks\n{:>6}  runs of workflows\n{:>6}  effects\n{:>6}  calls reported as \
         unknown\n{:>6}  calls reported as not begun\n",
        arguments.servers,
        arguments.seconds,
        arguments.seed,
        findings.occurrences,
        requests.shots.len(),
        requests.tasks.len(),
        requests.runs.len(),
        effects.len(),
        findings.unknown,
        findings.not_begun,
    );
    let too_few = requests.find_too_few(arguments.seconds, &caused, &findings, effects.len());
    let mut is_clean = true;
    for (kind, names) in [
        ("too few to prove anything", &too_few),
        ("occurrences missed", &findings.missed),
        ("accepted and lost", &findings.lost),
        ("accepted and given up", &findings.given_up),
        ("run twice", &findings.twice),
        ("reported and not done", &findings.untrue),
    ] {
        is_clean &= names.is_empty();
        writeln!(text, "{:>6}  {kind}", names.len())?;
        for name in names.iter().take(5) {
            writeln!(text, "        {name}")?;
        }
    }
    Ok((text, is_clean))
}

/// Asks for work of all kinds until no more faults happen.
async fn ask_until_calm(stage: &Stage, book: &JobBook, seed: u64) -> Result<Requests> {
    let mut random = Random::new(seed.wrapping_add(99));
    let mut requests = Requests::default();
    let (tasks, workflows) = (BackgroundTasks::new(book.clone()), Workflows::new(book.clone()));
    for number in 0..JOB_COUNT {
        let name = format!("job-{number}-");
        let new = NewJob::new(INTERVAL, &format!("Please do {name}"));
        let job = book.add(NewJob { overlap: Some(Overlap::Queue), ..new }).await?;
        requests.jobs.push((job, name));
    }
    let mut number = 0;
    while !*stage.calm.borrow() && number < MAX_COUNT {
        match number % 4 {
            0 | 2 => {
                let name = format!("shot-{number:04}-");
                let seconds = 2 + random.below(5);
                let new =
                    NewJob::new(&format!("in {seconds} seconds"), &format!("Please do {name}"));
                requests.shots.push((book.add(new).await?.id, name));
            }
            1 => {
                let name = format!("task-{number:04}-");
                let task = format!("Please do {name}");
                let new = NewTask { task, agent: None, space: Space::Owner, session: None };
                requests.tasks.push((tasks.submit(new).await?.id, name));
            }
            _ => {
                let name = format!("run-{number:04}-");
                let definition = write_workflow(&name);
                let (inputs, space) = (Map::new(), Space::Owner);
                let new = NewRun { definition, inputs, space, session: None };
                requests.runs.push((workflows.start(new).await?.id, name));
            }
        }
        number += 1;
        tokio::time::sleep(random.milliseconds(PACE)).await;
    }
    // The faults go on if there is no name left.
    while !*stage.calm.borrow() {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Ok(requests)
}

/// Waits until nothing is under way.
async fn wait_for_ends(book: &JobBook) -> Result<()> {
    let (begin, workflows) = (Instant::now(), Workflows::new(book.clone()));
    while begin.elapsed() < END_TIMEOUT {
        let filter = WorkFilter { is_open: true, ..WorkFilter::default() };
        let open = book.journal().list_work(filter, 10).await?;
        let runs = workflows.list(&Space::Owner, 10_000).await?;
        let waiting = book.list(Some(&Space::Owner)).await?;
        let is_waiting = |job: &Job| job.state == lango_automator::JobState::Active;
        if open.is_empty()
            && !runs.iter().any(|run| run.state == RunState::Running)
            && !waiting.iter().any(is_waiting)
        {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

async fn check(
    book: &JobBook,
    requests: &Requests,
    effects: &[String],
    end: Timestamp,
) -> Result<Findings> {
    let mut findings = Findings::default();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in effects {
        *counts.entry(line).or_default() += 1;
    }
    let count = |name: &str| counts.get(name).copied().unwrap_or(0);
    for (job, name) in &requests.jobs {
        let runs = book.list_runs(Some(&job.id), None, 10_000).await?;
        let mut there = BTreeSet::new();
        for run in &runs {
            if !there.insert(seconds(run.due_at)) {
                findings.twice.insert(format!("{name}{} has two runs", seconds(run.due_at)));
            }
        }
        let mut due = job.next_due;
        while let Some(at) = due.filter(|at| *at < end) {
            findings.occurrences += 1;
            // One whose time came in the last moment before the pause was left out by it.
            let is_last = seconds(end) - seconds(at) < 3;
            if !there.contains(&seconds(at)) && !is_last {
                findings.missed.insert(format!("{name}{}", seconds(at)));
            }
            due = Some(at.plus(Duration::from_secs(30)));
        }
        let (mut reports, mut possible) = (0, 0);
        for run in &runs {
            let (is_told, is_unknown) = findings.look_at(book.journal(), run, name).await?;
            reports += usize::from(is_told);
            possible += usize::from(is_told || is_unknown);
        }
        findings.compare(name, count(name), reports, possible);
    }
    for (id, name) in &requests.shots {
        let runs = book.list_runs(Some(id), None, 10).await?;
        findings.look_at_all(book, name, count(name), &runs).await?;
    }
    for (id, name) in &requests.tasks {
        let items: Vec<WorkItem> = book.journal().find_work(id).await?.into_iter().collect();
        findings.look_at_all(book, name, count(name), &items).await?;
    }
    let workflows = Workflows::new(book.clone());
    for (id, name) in &requests.runs {
        let run = workflows.find(id, &Space::Owner).await?;
        match run.state {
            RunState::Running => drop(findings.lost.insert(name.clone())),
            RunState::Blocked => findings.unknown += 1,
            RunState::Done => {}
            RunState::Failed | RunState::Cancelled => {
                findings.given_up.insert(format!("{name} {}", run.reason));
            }
        }
        for step in STEPS {
            let line = format!("{name}{step}");
            let told = usize::from(run.state == RunState::Done);
            findings.compare(&line, count(&line), told, 1);
        }
    }
    Ok(findings)
}

fn seconds(time: Timestamp) -> i64 {
    time.as_microseconds().div_euclid(1_000_000)
}

impl Findings {
    /// Looks at how a piece of work ended. Returns whether its call was reported as done, and whether
    /// its outcome is not known.
    async fn look_at(
        &mut self,
        journal: &Journal,
        item: &WorkItem,
        name: &str,
    ) -> Result<(bool, bool)> {
        match item.state {
            WorkState::Done => {}
            WorkState::Waiting | WorkState::Started => drop(self.lost.insert(name.to_owned())),
            WorkState::Failed | WorkState::Cancelled | WorkState::Skipped => {
                self.given_up.insert(format!("{name} {} {}", item.state, item.result));
            }
        }
        let (mut is_reported, mut is_unknown, mut is_not_begun) = (false, false, false);
        let mut others = String::new();
        for event in journal.read_turn_events(&item.session, item.turn).await? {
            if let EventBody::ToolResult { status, output, .. } = event.body {
                is_reported |= status == CallStatus::Ok;
                is_unknown |= status == CallStatus::Unknown;
                // The scripted model does not make it again, as it was told to.
                is_not_begun |= status == CallStatus::Cancelled;
                write!(others, " {status:?}: {output}")?;
            }
        }
        let is_missing = item.state == WorkState::Done && !is_reported && !is_unknown;
        self.not_begun += usize::from(is_missing && is_not_begun);
        if is_missing && !is_not_begun {
            self.given_up.insert(format!("{name} is done without its call:{others}"));
        }
        self.unknown += usize::from(is_unknown);
        Ok((is_reported, is_unknown))
    }

    /// Looks at work of which there must be one piece.
    async fn look_at_all(
        &mut self,
        book: &JobBook,
        name: &str,
        effects: usize,
        items: &[WorkItem],
    ) -> Result<()> {
        let [item] = items else {
            let kind = if items.is_empty() { &mut self.lost } else { &mut self.twice };
            kind.insert(name.to_owned());
            return Ok(());
        };
        let (is_told, is_unknown) = self.look_at(book.journal(), item, name).await?;
        self.compare(name, effects, usize::from(is_told), usize::from(is_told || is_unknown));
        Ok(())
    }

    /// Compares effects with the reports: at least as many as were told, at most as many as are possible.
    fn compare(&mut self, name: &str, effects: usize, told: usize, possible: usize) {
        if effects > possible {
            self.twice.insert(format!("{name}: {effects} effects, {possible} calls"));
        }
        if effects < told {
            self.untrue.insert(format!("{name}: {effects} effects, {told} reports"));
        }
    }
}
