//! `kill -9` at random points of a turn with two calls that change something.
//!
//! What must hold: nothing that was shown is lost, no effect happens twice, what the journal says
//! of an effect is true, and `lango resume` brings the turn to its end.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use lango_protocol::{CallStatus, Event, EventBody, EventId};
use lango_scripted::{Script, ScriptedServer};
use lango_store::{Database, Statement};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Kills that must fall into a turn; those before it begins or after it ended come on top.
const KILLS: u64 = 200;
/// Runs at the same time; more would only make each slower.
const AT_ONCE: usize = 4;

/// Each call leaves one line. The model goes on by the number of results, whatever they say.
const SCRIPT: &str = r#"
[[reply]]
agent = "lango-orchestrator"
delay_ms = 5
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Do both." } }]

[[reply]]
agent = "operator"
results = 0
delay_ms = 5
call = [{ name = "exec_shell", arguments = { command = "echo one >> effects.txt; sleep 0.02" } }]

[[reply]]
agent = "operator"
results = 1
delay_ms = 5
call = [{ name = "exec_shell", arguments = { command = "sleep 0.02; echo two >> effects.txt" } }]

[[reply]]
agent = "operator"
delay_ms = 5
say = "Both are done, as far as I know."
"#;

/// Where the journals of a test are.
enum Backend {
    /// A file for each home.
    Sqlite,
    /// One database for all.
    Postgres(String),
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_200_random_points_on_sqlite_a_turn_loses_and_repeats_nothing() {
    kill_many(Backend::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_200_random_points_on_postgresql_a_turn_loses_and_repeats_nothing() {
    let server = std::env::var("LANGO_TEST_POSTGRES")
        .expect("LANGO_TEST_POSTGRES is not set; run the tests with: cargo xtask test");
    let schema = format!("kill_{}", std::process::id());
    let database = Database::open(&server.parse().unwrap()).await.unwrap();
    let run = async |sql: String| {
        database.write(Statement::new(sql).into()).await.unwrap();
    };
    run(format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).await;
    run(format!("CREATE SCHEMA {schema}")).await;
    kill_many(Backend::Postgres(format!("{server}?options=-csearch_path%3D{schema}"))).await;
    run(format!("DROP SCHEMA {schema} CASCADE")).await;
}

async fn kill_many(backend: Backend) {
    let server = ScriptedServer::start_without_history(Script::parse("kill", SCRIPT).unwrap())
        .await
        .unwrap();
    let world = World { base_url: server.base_url(), backend };
    // How long an undisturbed run takes decides where the kills fall; the first one also makes
    // the tables.
    world.home().whole_run().await;
    let whole = world.home().whole_run().await;
    let random = Random::new();
    let interrupted = AtomicU64::new(0);
    // With several at once each is slower than the one that was measured, and how much so changes with
    // the machine: a kill that came too late brings the following ones forward, one that came too
    // early puts them off.
    let latest = Mutex::new(whole.mul_f64(1.8));
    stream::iter(0..KILLS * 5)
        .for_each_concurrent(AT_ONCE, async |number| {
            if interrupted.load(Ordering::Relaxed) >= KILLS {
                return;
            }
            let after = latest.lock().unwrap().mul_f64(random.fraction());
            let home = world.home();
            let seen = home.killed_run(after).await;
            let resumed = home.check(&seen, number).await;
            interrupted.fetch_add(u64::from(resumed), Ordering::Relaxed);
            if !resumed {
                let late = seen.iter().any(|e| matches!(e.body, EventBody::TurnFinished(_)));
                let mut latest = latest.lock().unwrap();
                *latest = latest.mul_f64(if late { 0.95 } else { 1.05 });
            }
        })
        .await;
    let interrupted = interrupted.into_inner();
    assert!(interrupted >= KILLS, "only {interrupted} kills fell into a turn");
}

struct World {
    base_url: String,
    backend: Backend,
}

struct Home<'a> {
    world: &'a World,
    directory: TempDir,
    session: String,
}

impl World {
    fn home(&self) -> Home<'_> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let session = format!("kill-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let directory = TempDir::new().unwrap();
        std::fs::create_dir(directory.path().join("workspace")).unwrap();
        Home { world: self, directory, session }
    }
}

impl Home<'_> {
    fn workspace(&self) -> std::path::PathBuf {
        self.directory.path().join("workspace")
    }

    fn lango(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lango"));
        command
            .args(arguments)
            .current_dir(self.workspace())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("LANGO_HOME", self.directory.path().join("home"))
            .env("OPENAI_BASE_URL", &self.world.base_url)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Backend::Postgres(url) = &self.world.backend {
            command.env("LANGO_DATABASE_URL", url);
        }
        command
    }

    fn run(&self) -> Command {
        let format = "--output-format=stream-json";
        self.lango(&["run", "Do both.", "--session", &self.session, "--approve=all", format])
    }

    async fn output(&self, arguments: &[&str]) -> Output {
        let output = self.lango(arguments).output();
        tokio::time::timeout(Duration::from_mins(1), output).await.expect("it hangs").unwrap()
    }

    /// Runs it without an interruption, and returns how long it took.
    async fn whole_run(&self) -> Duration {
        let began = Instant::now();
        let output = self.run().output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(effects(&self.workspace()), ["one", "two"]);
        began.elapsed()
    }

    /// A run that is killed, and the events it had shown by then.
    async fn killed_run(&self, after: Duration) -> Vec<Event> {
        let mut child = self.run().spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let reader = tokio::spawn(async move {
            let mut text = String::new();
            stdout.read_to_string(&mut text).await.unwrap();
            text
        });
        tokio::time::sleep(after).await;
        child.start_kill().unwrap();
        child.wait().await.unwrap();
        // A line that was cut off was not shown.
        let text = reader.await.unwrap();
        let shown = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
        shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Checks what the kill left, resumes, and checks again. Says whether there was a turn to
    /// resume.
    async fn check(&self, seen: &[Event], number: u64) -> bool {
        // A command outlives the program that started it; let it have its effect.
        tokio::time::sleep(Duration::from_millis(60)).await;
        let unfinished = seen.iter().all(|e| !matches!(e.body, EventBody::TurnFinished(_)));
        let resumed = self
            .output(&["resume", &self.session, "--approve=all", "--output-format=stream-json"])
            .await;
        let said = String::from_utf8_lossy(&resumed.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&resumed.stderr).into_owned();
        // 7: the outcome of the last call is not known.
        let code = resumed.status.code();
        assert!(matches!(code, Some(0 | 7)), "kill {number}: {code:?} {said}{stderr}");
        let was_there = !said.contains("nothing to resume");
        let exported = self.output(&["sessions", "export", &self.session]).await;
        if !exported.status.success() {
            assert!(seen.is_empty(), "kill {number}: the session is lost");
            assert_eq!(effects(&self.workspace()), [""; 0], "kill {number}");
            return false;
        }
        let journal: Vec<Event> = String::from_utf8(exported.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let ids: BTreeSet<EventId> = journal.iter().map(|event| event.id).collect();
        for event in seen.iter().filter(|event| event.body.is_durable()) {
            assert!(ids.contains(&event.id), "kill {number}: shown and lost: {event:?}");
        }
        if unfinished && !journal.is_empty() {
            check_whole(&journal, number);
        }
        check_effects(&journal, &effects(&self.workspace()), number);
        was_there
    }
}

/// The journal of one turn that came to its end.
fn check_whole(journal: &[Event], number: u64) {
    let positions: Vec<u64> = journal.iter().map(|event| event.seq).collect();
    let expected: Vec<u64> = (1..=journal.len() as u64).collect();
    assert_eq!(positions, expected, "kill {number}");
    let ends = journal.iter().filter(|e| matches!(e.body, EventBody::TurnFinished(_))).count();
    assert_eq!(ends, 1, "kill {number}: {journal:?}");
    let EventBody::TurnFinished(outcome) = &journal[journal.len() - 1].body else {
        panic!("kill {number}: something after the end");
    };
    assert!(outcome.is_done(), "kill {number}: {outcome:?}");
}

/// What the journal says of each effect is true, and none happened twice.
fn check_effects(journal: &[Event], effects: &[String], number: u64) {
    for effect in ["one", "two"] {
        let count = effects.iter().filter(|line| *line == effect).count();
        assert!(count <= 1, "kill {number}: {effect} happened {count} times");
        let call = journal.iter().find_map(|event| match &event.body {
            EventBody::ToolCall { call, arguments, .. } if arguments.contains(effect) => Some(call),
            _ => None,
        });
        let Some(id) = call else {
            assert_eq!(count, 0, "kill {number}: {effect} without a call");
            continue;
        };
        let results: Vec<CallStatus> = journal
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::ToolResult { call, status, .. } if call == id => Some(*status),
                _ => None,
            })
            .collect();
        let [status] = results.as_slice() else {
            panic!("kill {number}: {} results of {effect}", results.len());
        };
        match status {
            CallStatus::Ok => assert_eq!(count, 1, "kill {number}: {effect} said ok"),
            CallStatus::Cancelled => assert_eq!(count, 0, "kill {number}: {effect} said not run"),
            CallStatus::Unknown => {}
            other => panic!("kill {number}: {effect} ended as {other}"),
        }
    }
}

fn effects(workspace: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(workspace.join("effects.txt")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Fractions between 0 and 1, other ones in each run: over many runs the kills fall everywhere.
struct Random(AtomicU64);

impl Random {
    fn new() -> Self {
        let seed = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .subsec_nanos();
        Self(AtomicU64::new(u64::from(seed)))
    }

    fn fraction(&self) -> f64 {
        // SplitMix64, one step.
        let state = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let bits = u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap();
        f64::from(bits) / f64::from(u32::MAX)
    }
}
