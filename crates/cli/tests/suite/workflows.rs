//! Workflows through the real binary: checked, run, asked about, killed and continued.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use lango_protocol::{CallStatus, EventBody};
use lango_store::{Database, Journal, WorkFilter};
use serde_json::{Value, json};

use crate::automation::create_schema;
use crate::fixture::{Lango, calling};
use crate::invocation::{CommandOutput, Invocation, Running};

/// Limits how long a run may take in a test.
const RUN_TIMEOUT: Duration = Duration::from_mins(4);

/// The orchestrator passes requests about workflows to the automator, and does tasks itself.
const TO_AUTOMATOR: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "make a workflow"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "automator", task = "Do it." } }]

[[reply]]
agent = "lango-orchestrator"
say = "It adds up."
"#;

const REPORT: &str = "name: report
description: Fetches, checks and files the report.
inputs:
  to: { type: string, default: report.md }
steps:
  - id: fetch
    tool: fs_read
    arguments: { path: README.md }
  - id: check
    needs: fetch
    task: 'Check this: {{ steps.fetch.output.text }}'
  - id: file
    needs: check
    tool: fs_write
    arguments: { path: '{{ inputs.to }}', content: '{{ steps.check.output }}' }
outputs:
  verdict: '{{ steps.check.output }}'
";

struct World {
    lango: Lango,
    /// The database; in a file of the home if absent.
    url: Option<String>,
}

impl World {
    async fn playing(script: &[&str]) -> Self {
        Self { lango: Lango::playing(script).await, url: None }
    }

    fn command(&self, arguments: &[&str]) -> Invocation<'_> {
        let invocation =
            self.lango.command(arguments).small_team().set("LANGO_AUTOMATOR_ENABLED", "true");
        match &self.url {
            Some(url) => invocation.set("LANGO_DATABASE_URL", url),
            None => invocation,
        }
    }

    /// Returns how often each step of a run had its effect, as the journal tells it.
    async fn count_effects(&self, run: &str) -> BTreeMap<String, usize> {
        let journal = self.journal().await;
        let all = WorkFilter { parent: Some(run), ..WorkFilter::default() };
        let mut effects = BTreeMap::new();
        for item in journal.list_work(all, 10_000).await.unwrap() {
            let mut parts = item.id.split('.').skip(1);
            let step = parts.next().unwrap_or_default();
            let number = parts.next().filter(|part| part.parse::<u32>().is_ok());
            let name = number.map_or(step.to_owned(), |number| format!("{step}.{number}"));
            for event in journal.read_turn_events(&item.session, item.turn).await.unwrap() {
                if let EventBody::ToolResult { status: CallStatus::Ok, .. } = event.body {
                    *effects.entry(name.clone()).or_default() += 1;
                }
            }
        }
        effects
    }

    /// Returns how many turns of a run have begun and not ended, and how many calls of theirs.
    async fn count_cut(&self, run: &str) -> (usize, usize) {
        let journal = self.journal().await;
        let open = WorkFilter { parent: Some(run), is_open: true, ..WorkFilter::default() };
        let (mut turns, mut calls) = (0, 0);
        for item in journal.list_work(open, 10_000).await.unwrap() {
            let (mut is_cut, mut open_calls) = (false, 0);
            for event in journal.read_turn_events(&item.session, item.turn).await.unwrap() {
                match event.body {
                    EventBody::TurnFinished(_) => is_cut = false,
                    EventBody::UserMessage { .. } => is_cut = true,
                    EventBody::ToolStarted { .. } => open_calls += 1,
                    EventBody::ToolResult { .. } => open_calls = 0,
                    _ => {}
                }
            }
            turns += usize::from(is_cut);
            calls += usize::from(is_cut && open_calls > 0);
        }
        (turns, calls)
    }

    async fn journal(&self) -> Journal {
        let file = self.lango.database_file();
        let url = self.url.clone().unwrap_or_else(|| format!("sqlite://{}", file.display()));
        let database = Database::open(&url.parse().unwrap()).await.unwrap();
        Journal::open(database).await.unwrap()
    }

    async fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.command(arguments).run().await
    }

    async fn json(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).with(&["--json"]).run().await;
        assert_eq!(output.code, 0, "{output:?}");
        serde_json::from_str(&output.stdout).unwrap()
    }

    /// Lets tools that write run without a question.
    async fn allow(&self, tools: &[&str]) {
        for tool in tools {
            let added = self.run(&["approvals", "add", "allow", "--tool", tool]).await;
            assert_eq!(added.code, 0, "{added:?}");
        }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.lango.workspace().join(name), text).unwrap();
    }

    async fn worker(&self) -> Running<'_> {
        self.command(&["worker"]).start_until("Lango runs the jobs").await.0
    }

    async fn status(&self, run: &str) -> Value {
        self.json(&["workflow", "status", run]).await
    }
}

fn find<'a>(status: &'a Value, step: &str) -> &'a Value {
    let steps = status["steps"].as_array().unwrap();
    steps.iter().find(|one| one["step"] == step).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_is_checked_drawn_saved_run_and_removed() {
    let world = World::playing(&[TO_AUTOMATOR]).await;
    world.write("bad.yaml", "name: report\nsteps:\n  - id: a\n    tsk: x\n    needs: [b]\n");
    let invalid = world.run(&["workflow", "validate", "bad.yaml"]).await;
    assert_eq!(invalid.code, 2, "{invalid:?}");
    let expected = "bad.yaml:4:5: a step has no key \"tsk\". Did you mean \"task\"?\n";
    assert!(invalid.stdout.contains(expected), "{invalid:?}");
    let refused = world.run(&["workflow", "run", "bad.yaml"]).await;
    assert!(refused.code == 2 && refused.stderr.contains("bad.yaml:4:5:"), "{refused:?}");
    world.write("report.yaml", REPORT);
    let valid = world.json(&["workflow", "validate", "report.yaml"]).await;
    assert_eq!((&valid["valid"], &valid["name"]), (&json!(true), &json!("report")));
    let drawn = world.run(&["workflow", "graph", "report.yaml", "--svg", "report.svg"]).await;
    assert_eq!(drawn.code, 0, "{drawn:?}");
    let svg = std::fs::read_to_string(world.lango.workspace().join("report.svg")).unwrap();
    assert!(svg.starts_with("<svg"), "{svg}");
    let drawn = world.run(&["workflow", "graph", "report.yaml"]).await;
    assert!(drawn.stdout.contains("check  Check this: "), "{drawn:?}");
    world.allow(&["fs_write"]).await;
    world.json(&["workflow", "save", "report.yaml"]).await;
    let run = world.json(&["workflow", "run", "report", "--input", "to=out.md"]).await;
    assert_eq!(
        (&run["state"], &run["outputs"]["verdict"]),
        (&json!("done"), &json!("It adds up."))
    );
    let filed = std::fs::read_to_string(world.lango.workspace().join("out.md")).unwrap();
    assert_eq!(filed, "It adds up.");
    // The check read the file of the step before, apart from its own words.
    let asked = world.lango.requests_of("lango-orchestrator");
    assert!(asked[0].text().contains("Three lines."), "{:?}", asked[0].text());
    let listed = world.json(&["workflow", "list"]).await;
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1, "{listed}");
    let shown = world.run(&["workflow", "show", "report"]).await;
    assert_eq!(shown.stdout.trim_end(), REPORT.trim_end());
    let wrong = world.run(&["workflow", "run", "report", "--input", "colour=red"]).await;
    assert!(wrong.code == 2 && wrong.stderr.contains("no input \"colour\""), "{wrong:?}");
    let removed = world.run(&["workflow", "remove", "report", "--yes"]).await;
    assert_eq!(removed.code, 0, "{removed:?}");
    let unknown = world.run(&["workflow", "run", "report-2"]).await;
    assert!(unknown.stderr.contains("lango workflow list"), "{unknown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_makes_a_workflow_that_fetches_checks_and_files_the_report() {
    let yaml = serde_json::to_string(REPORT).unwrap();
    let save = format!("{{ name = \"report\", yaml = {yaml} }}");
    let calls = calling(
        "automator",
        &[("workflow_save", &save), ("workflow_run", "{ name = \"report\" }")],
    );
    let world = World::playing(&[TO_AUTOMATOR, &calls]).await;
    let text = "make a workflow that fetches, checks and files the report";
    let ask = ["run", "--output-format", "stream-json", text];
    let denied = world.command(&ask).with(&["--approve", "none"]).run().await;
    assert_eq!(denied.code, 3, "{denied:?}");
    // The question shows the steps, and which of them are dangerous.
    assert!(
        denied.stdout.contains("file: tool fs_write (dangerous; asks each time)"),
        "{denied:?}"
    );
    assert!(denied.stdout.contains("fetch: tool fs_read (only reads)"), "{denied:?}");
    let listed = world.json(&["workflow", "list"]).await;
    assert_eq!((listed["workflows"].as_array().unwrap().len(), &listed["runs"]), (1, &json!([])));
    world.allow(&["fs_write"]).await;
    let answered = world.command(&ask).with(&["--approve", "all"]).run().await;
    assert_eq!(answered.code, 0, "{answered:?}");
    let _worker = world.worker().await;
    let began = Instant::now();
    loop {
        let status = world.status("report").await;
        if status["state"] == "done" {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(40), "{status}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let filed = std::fs::read_to_string(world.lango.workspace().join("report.md")).unwrap();
    assert_eq!(filed, "It adds up.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dangerous_call_and_a_question_wait_for_a_person() {
    let world = World::playing(&[TO_AUTOMATOR]).await;
    let text = "name: ask\nsteps:\n  - { id: gate, approve: 'Shall I write?' }\n  \
                - { id: write, needs: gate, tool: fs_write, arguments: { path: a.txt, content: hi } }\n";
    world.write("ask.yaml", text);
    let run = world.run(&["workflow", "run", "ask.yaml", "--json"]).await;
    // It waits for a person, and no process waits with it.
    assert_eq!(run.code, 3, "{run:?}");
    let run: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&run["state"], &find(&run, "gate")["reason"]),
        (&json!("waiting"), &json!("Shall I write?"))
    );
    let id = run["id"].as_str().unwrap();
    let approved = world.run(&["workflow", "approve", id, "gate"]).await;
    assert_eq!(approved.code, 0, "{approved:?}");
    let _worker = world.worker().await;
    let began = Instant::now();
    let question = loop {
        let pending = world.json(&["approvals", "list"]).await;
        if let Some(call) = pending["waiting"].get(0) {
            break call["id"].as_str().unwrap().to_owned();
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{pending}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    assert!(!world.lango.workspace().join("a.txt").exists());
    let answered = world.run(&["approvals", "approve", &question]).await;
    assert_eq!(answered.code, 0, "{answered:?}");
    loop {
        let status = world.status(id).await;
        if status["state"] == "done" {
            break;
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{status}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(std::fs::read_to_string(world.lango.workspace().join("a.txt")).unwrap(), "hi");
}

/// A workflow of 200 steps: a fan-out, a list, retries and a question. Each effect is one line in a file
/// of its own.
fn large_workflow() -> String {
    let mut text = "name: large\nsteps:\n".to_owned();
    let append = |path: &str| {
        format!("tool: fs_append, arguments: {{ path: log/{path}.txt, content: \"line\\n\" }}")
    };
    writeln!(text, "  - {{ id: start, {} }}", append("start")).unwrap();
    // It fails until the file is there.
    text.push_str("  - id: patient\n    tool: fs_read\n    arguments: { path: log/late.txt }\n");
    text.push_str("    retry: { attempts: 10, backoff: 1s }\n");
    writeln!(text, "  - {{ id: late, needs: start, {} }}", append("late")).unwrap();
    let items: Vec<String> = (0..20).map(|item| item.to_string()).collect();
    writeln!(text, "  - id: each\n    needs: start\n    for_each: [{}]", items.join(", ")).unwrap();
    text.push_str("    tool: fs_append\n");
    text.push_str("    arguments: { path: 'log/item-{{ item }}.txt', content: \"line\\n\" }\n");
    let mut all = vec!["each".to_owned(), "patient".to_owned(), "late".to_owned()];
    for number in 0..193 {
        let needs = if number < 150 { "start".to_owned() } else { format!("s{}", number - 100) };
        let call = append(&format!("s{number}"));
        writeln!(text, "  - {{ id: s{number}, needs: {needs}, {call} }}").unwrap();
        all.push(format!("s{number}"));
    }
    writeln!(text, "  - {{ id: gate, needs: [{}], approve: 'End it?' }}", all.join(", ")).unwrap();
    writeln!(text, "  - {{ id: end, needs: gate, {} }}", append("end")).unwrap();
    writeln!(text, "  - {{ id: told, needs: end, task: Say that it is done. }}").unwrap();
    text.push_str(
        "outputs:\n  late: '{{ steps.patient.state }}'\n  told: '{{ steps.told.output }}'\n",
    );
    text.push_str("  gate: '{{ steps.gate.output }}'\n");
    text
}

/// Returns the lines of each file of the log.
fn read_log(world: &World) -> Vec<(String, usize)> {
    let Ok(entries) = std::fs::read_dir(world.lango.workspace().join("log")) else {
        return Vec::new();
    };
    let count = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        // A process that is killed while it writes leaves a file that is not the one that it writes.
        let is_whole = !name.starts_with(".lango-write-");
        is_whole.then(|| (name, std::fs::read_to_string(&path).unwrap().lines().count()))
    };
    let mut log: Vec<(String, usize)> =
        entries.filter_map(|entry| count(entry.unwrap().path())).collect();
    log.sort();
    log
}

/// Returns how many files there are: each step with an effect leaves one.
fn count_files(world: &World) -> usize {
    let entries = std::fs::read_dir(world.lango.workspace().join("log")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with(".lango-write-")).count()
}

/// What became of the large workflow.
struct LargeRun {
    /// How often each step had its effect: as the journal tells it, or a person.
    effects: BTreeMap<String, usize>,
    outputs: Value,
    log: Vec<(String, usize)>,
    /// How often a person had to say what had happened.
    unknown: usize,
    /// How often a kill hit a worker that had done a step since it started.
    hit_workers: usize,
    /// The turns that a kill cut off between their beginning and their end.
    cut_turns: usize,
    /// The calls that a kill cut off between their beginning and their result.
    cut_calls: usize,
}

/// Runs the large workflow, kills its worker so often, and answers what a person is asked.
async fn run_large(url: Option<String>, kills: usize) -> LargeRun {
    let world = World { url, ..World::playing(&[TO_AUTOMATOR]).await };
    world.allow(&["fs_append"]).await;
    std::fs::create_dir(world.lango.workspace().join("log")).unwrap();
    world.write("large.yaml", &large_workflow());
    let run = world.json(&["workflow", "run", "large.yaml", "--detach"]).await;
    let id = run["id"].as_str().unwrap().to_owned();
    assert_eq!(run["steps"].as_array().unwrap().len(), 200);
    let (mut killed, mut unknown) = (0, 0);
    let (mut hit_workers, mut cut_turns, mut cut_calls) = (0, 0, 0);
    let mut approved = Vec::new();
    let began = Instant::now();
    let mut done = 0;
    // One piece of work at a time, so that there is something to do until the last kill.
    let parallel = if kills > 0 { "1" } else { "4" };
    let start = || async {
        let command = world.command(&["worker"]).set("LANGO_AUTOMATOR_PARALLELWORK", parallel);
        command.start_until("Lango runs the jobs").await.0
    };
    let mut worker = Some(start().await);
    let outputs = loop {
        assert!(began.elapsed() < RUN_TIMEOUT, "{}", world.status(&id).await);
        if killed < kills {
            // It has done a step, and is killed at a moment of the next ones, or before its first one.
            let is_early = killed % 10 == 9;
            let deadline = Instant::now() + Duration::from_secs(10);
            while !is_early && count_files(&world) == done && Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            hit_workers += usize::from(count_files(&world) > done);
            let milliseconds = (killed as u64 * 7) % 60;
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            worker.take().unwrap().kill().await;
            killed += 1;
            done = count_files(&world);
            let cut = world.count_cut(&id).await;
            (cut_turns, cut_calls) = (cut_turns + cut.0, cut_calls + cut.1);
            let answered = answer(&world, &id, killed == kills).await;
            unknown += answered.unknown;
            approved.extend(answered.approved);
            worker = Some(start().await);
            continue;
        }
        let answered = answer(&world, &id, true).await;
        unknown += answered.unknown;
        approved.extend(answered.approved);
        let status = world.status(&id).await;
        assert!(status["state"] != "failed", "{status}");
        if status["state"] == "done" {
            break status["outputs"].clone();
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    };
    let mut effects = world.count_effects(&id).await;
    for step in approved {
        *effects.entry(step).or_default() += 1;
    }
    let log = read_log(&world);
    LargeRun { effects, outputs, log, unknown, hit_workers, cut_turns, cut_calls }
}

/// What a person saw who looked at a run.
struct Decisions {
    unknown: usize,
    /// The steps that had their effect although the process ended.
    approved: Vec<String>,
}

/// Decides as a person does who looks at the files.
async fn answer(world: &World, id: &str, may_approve: bool) -> Decisions {
    let status = world.status(id).await;
    if may_approve && find(&status, "gate")["state"] == "waiting" {
        assert_eq!(world.run(&["workflow", "approve", id, "gate"]).await.code, 0);
    }
    let steps = status["steps"].as_array().unwrap();
    let unknown: Vec<&str> = steps
        .iter()
        .filter(|step| step["state"] == "unknown")
        .map(|step| step["step"].as_str().unwrap())
        .collect();
    let mut approved = Vec::new();
    for step in &unknown {
        let file = match step.split_once('.') {
            Some((_, item)) => format!("item-{item}"),
            None => (*step).to_owned(),
        };
        let is_there = read_log(world).iter().any(|(name, lines)| *name == file && *lines > 0);
        let decision = if is_there { "approve" } else { "retry" };
        approved.extend(is_there.then(|| (*step).to_owned()));
        let decided = world.run(&["workflow", decision, id, step]).await;
        assert_eq!(decided.code, 0, "{decided:?}");
    }
    Decisions { unknown: unknown.len(), approved }
}

async fn compare_with_an_undisturbed_run(url: Option<String>) {
    let kills = std::env::var("LANGO_TEST_KILLS").ok().and_then(|kills| kills.parse().ok());
    let kills = kills.unwrap_or(50);
    let (undisturbed, disturbed) = tokio::join!(run_large(None, 0), run_large(url, kills));
    assert_eq!(undisturbed.outputs, disturbed.outputs);
    assert_eq!(undisturbed.log, disturbed.log);
    assert_eq!(undisturbed.log.len(), 216);
    assert!(disturbed.log.iter().all(|(_, lines)| *lines == 1), "{:?}", disturbed.log);
    assert_eq!(undisturbed.effects, disturbed.effects);
    assert_eq!(disturbed.effects.len(), 217);
    assert!(disturbed.effects.values().all(|count| *count == 1), "{:?}", disturbed.effects);
    assert_eq!(undisturbed.unknown, 0);
    // The kills were none of idle processes.
    let hits = (disturbed.hit_workers, disturbed.cut_turns, disturbed.cut_calls);
    assert!(hits.0 >= kills * 3 / 4 && hits.1 >= kills / 6 && hits.2 > 0, "{hits:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r19_a_large_workflow_that_is_killed_again_and_again_has_each_effect_once() {
    compare_with_an_undisturbed_run(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r19_the_same_holds_on_postgresql() {
    compare_with_an_undisturbed_run(Some(create_schema("workflows").await)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_is_stopped_within_its_effect_is_not_run_again() {
    let world = World::playing(&[TO_AUTOMATOR]).await;
    world.allow(&["exec_shell"]).await;
    world.write(
        "slow.yaml",
        "name: slow\nsteps:\n  - id: act\n    tool: exec_shell\n    timeout: 3s\n    retry: { attempts: 3, \
         backoff: 1s }\n    arguments: { command: 'echo done >> effects; sleep 60', timeout_seconds: 120 }\n",
    );
    let run = world.run(&["workflow", "run", "slow.yaml", "--json"]).await;
    assert_eq!(run.code, 3, "{run:?}");
    let run: Value = serde_json::from_str(&run.stdout).unwrap();
    let act = find(&run, "act");
    assert_eq!((&run["state"], &act["state"]), (&json!("blocked"), &json!("unknown")), "{run}");
    assert!(act["reason"].as_str().unwrap().contains("longer than 3 s"), "{run}");
    let effects = std::fs::read_to_string(world.lango.workspace().join("effects")).unwrap();
    assert_eq!(effects, "done\n");
}

/// A worker that is stopped for longer than its lease while a step has its effect.
async fn stop_a_worker_past_its_lease(url: Option<String>) {
    let world = World { url, ..World::playing(&[TO_AUTOMATOR]).await };
    world.allow(&["exec_shell"]).await;
    world.write(
        "slow.yaml",
        "name: slow\nsteps:\n  - id: act\n    tool: exec_shell\n    timeout: 10m\n    arguments: { command: \
         'echo done >> effects; sleep 45', timeout_seconds: 120 }\n  - id: after\n    needs: act\n    tool: \
         exec_shell\n    arguments: { command: 'echo after >> effects' }\n",
    );
    let stopped = world.worker().await;
    let started = world.json(&["workflow", "run", "slow.yaml", "--detach"]).await;
    let run = started["id"].as_str().unwrap();
    let effects = world.lango.workspace().join("effects");
    let count = || std::fs::read_to_string(&effects).unwrap_or_default().lines().count();
    crate::invocation::until("the step has its effect", || count() == 1).await;
    stopped.signal(rustix::process::Signal::STOP);
    let worker = world.worker().await;
    let begin = Instant::now();
    while world.status(run).await["state"] != "blocked" {
        assert!(begin.elapsed() < RUN_TIMEOUT, "{}", world.status(run).await);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    // It wakes, sees its command end, and has no effect any more.
    stopped.signal(rustix::process::Signal::CONT);
    tokio::time::sleep(Duration::from_secs(20)).await;
    let status = world.status(run).await;
    assert_eq!(
        (&status["state"], &find(&status, "act")["state"]),
        (&"blocked".into(), &"unknown".into()),
        "{status}"
    );
    assert_eq!(count(), 1);
    let approved = world.run(&["workflow", "approve", run, "act"]).await;
    assert_eq!(approved.code, 0, "{approved:?}");
    while world.status(run).await["state"] != "done" {
        assert!(begin.elapsed() < RUN_TIMEOUT, "{}", world.status(run).await);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert_eq!(count(), 2);
    for worker in [stopped, worker] {
        worker.signal(rustix::process::Signal::TERM);
        worker.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_stopped_past_its_lease_has_no_effect_on_a_run() {
    stop_a_worker_past_its_lease(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_worker_has_no_effect_on_a_run_on_postgresql() {
    stop_a_worker_past_its_lease(Some(create_schema("stopped").await)).await;
}
