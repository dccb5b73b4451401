//! Clocks that are set while turns run: limits and leases hold, and only the shown time changes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fixture::{Lango, calling};
use crate::invocation::{Invocation, until};

/// A wall clock that a test sets, for one process.
struct WallClock {
    file: PathBuf,
}

impl WallClock {
    fn new(lango: &Lango, shift: &str) -> Self {
        let clock = Self { file: lango.path("clock") };
        clock.set(shift);
        clock
    }

    fn set(&self, shift: &str) {
        // Renamed, because the process may read at any time.
        let draft = self.file.with_extension("draft");
        std::fs::write(&draft, shift).unwrap();
        std::fs::rename(draft, &self.file).unwrap();
    }

    /// Lets a process have this clock. The steady clocks of a machine do not follow its wall clock.
    fn given_to<'a>(&self, invocation: Invocation<'a>) -> Invocation<'a> {
        invocation
            .set("LD_PRELOAD", library())
            .set("FAKETIME_TIMESTAMP_FILE", &self.file)
            .set("FAKETIME_NO_CACHE", "1")
            .set("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    }
}

fn library() -> PathBuf {
    let places = Path::new("/usr/lib").read_dir().unwrap();
    places
        .map(|place| place.unwrap().path().join("faketime/libfaketime.so.1"))
        .find(|library| library.is_file())
        .expect("libfaketime is missing; run the tests with: cargo xtask test")
}

fn finished(stdout: &str) -> Value {
    let events = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.into_iter().find(|event| event["type"] == "turn_finished").unwrap()
}

const SILENCE: &str = "[[reply]]\nfault = \"silence\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_keeps_its_limit_and_knows_its_length_when_the_clock_is_set() {
    for shift in ["-1h", "+1d"] {
        let lango = Lango::playing(&[SILENCE]).await;
        let clock = WallClock::new(&lango, "+0");
        let invocation = clock.given_to(lango.ask("go")).small_team();
        let running = invocation.set("LANGO_BUDGET_SECONDS", "5").start();
        until("the model is asked", || !lango.received().is_empty()).await;
        let begin = Instant::now();
        clock.set(shift);
        let ended = running.finish().await;
        assert!(begin.elapsed() < Duration::from_secs(20), "{shift}: {:?}", begin.elapsed());
        let outcome = finished(&ended.stdout);
        assert_eq!(outcome["status"], "timed_out", "{shift}: {outcome}");
        let milliseconds = outcome["work"]["milliseconds"].as_u64().unwrap();
        assert!((4000..20_000).contains(&milliseconds), "{shift}: {outcome}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_session_is_not_taken_over_by_a_process_with_another_time() {
    for shift in ["-1h", "+1h", "+1d"] {
        let slow = "[[reply]]\nuser = \"slow\"\ndelay_ms = 3000\nsay = \"Slowly.\"\n";
        let lango = Lango::playing(&[slow, "[[reply]]\nsay = \"Done.\"\n"]).await;
        let session = ["--session", "shared"];
        let first = lango.ask("slow").with(&session).small_team().start();
        until("the model is asked", || !lango.received().is_empty()).await;
        let clock = WallClock::new(&lango, shift);
        let second = clock.given_to(lango.ask("next")).with(&session).small_team().run().await;
        let first = first.finish().await;
        assert_eq!((first.code, second.code), (0, 0), "{shift}: {first:?} {second:?}");
        let export = lango.command(&["sessions", "export", "shared"]).run().await;
        let events = export.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let order: Vec<String> = events
            .filter(|event| event["type"] == "user_message" || event["type"] == "turn_finished")
            .map(|event| event["text"].as_str().unwrap_or("end").to_owned())
            .collect();
        assert_eq!(order, ["slow", "end", "next", "end"], "{shift}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_session_is_the_one_that_was_used_last_whatever_the_clock_says() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Done.\"\n"]).await;
    let first = lango.ask("first").with(&["--session", "first"]).small_team().run().await;
    let clock = WallClock::new(&lango, "-1h");
    let second = lango.ask("second").with(&["--session", "second"]).small_team();
    let second = clock.given_to(second).run().await;
    assert_eq!((first.code, second.code), (0, 0), "{first:?} {second:?}");
    let third = lango.ask("third").with(&["--last"]).small_team().run().await;
    assert_eq!(third.code, 0, "{third:?}");
    let shown = lango.command(&["sessions", "show", "second"]).run().await;
    assert!(shown.stdout.contains("third"), "{shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_runs_once_when_the_clock_is_set_forward_and_back() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Done.\"\n"]).await;
    let command = |arguments: &[&str]| {
        lango.command(arguments).small_team().set("LANGO_AUTOMATOR_ENABLED", "true")
    };
    let clock = WallClock::new(&lango, "+0");
    let worker = clock.given_to(command(&["worker"]));
    let _worker = worker.start_until("Lango runs the jobs").await;
    let added = command(&["cron", "add", "every 2 hours", "look"]).run().await;
    assert_eq!(added.code, 0, "{added:?}");
    clock.set("+7210");
    until("the job runs", || lango.received().len() == 1).await;
    // Back to before the occurrence, and past it again.
    for shift in ["-1h", "+7210"] {
        clock.set(shift);
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
    assert_eq!(lango.received().len(), 1);
    let history = command(&["cron", "history", "--json"]).run().await;
    let runs: Value = serde_json::from_str(&history.stdout).unwrap();
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
    assert_eq!(runs[0]["state"], "done", "{runs}");
}

/// The orchestrator passes the request to the automator, and the task of the job to the operator.
const INBOX: &str = r#"
[[reply]]
agent = "lango-orchestrator"
user = "every weekday"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "automator", task = "Set it up." } }]

[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Summarise them." } }]
"#;

/// Nine o'clock, in seconds.
const NINE: u64 = 9 * 3600;

/// Returns the shift of the clock to a time of day after the next Thursday midnight, in UTC: so many days
/// and seconds later.
fn shift_to(days: u64, seconds: u64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let today = now.as_secs() / 86_400;
    // The first day of the epoch was a Thursday.
    let thursday = (today / 7 + 1) * 7;
    let wanted = (thursday + days) * 86_400 + seconds;
    format!("+{}", wanted - now.as_secs())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_sets_up_a_job_that_summarises_the_inbox_every_weekday_at_nine() {
    let job = r#"{ schedule = "every weekday at nine", task = "summarise the new files in inbox/", timezone = "UTC" }"#;
    let read =
        [("fs_list", r#"{ path = "inbox" }"#), ("fs_read", r#"{ path = "inbox/today.txt" }"#)];
    let script =
        [INBOX.to_owned(), calling("automator", &[("cron_add", job)]), calling("operator", &read)];
    let lango = Lango::playing(&[&script[0], &script[1], &script[2]]).await;
    std::fs::create_dir(lango.workspace().join("inbox")).unwrap();
    std::fs::write(lango.workspace().join("inbox/today.txt"), "Three boats arrived.").unwrap();
    let command = |arguments: &[&str]| {
        lango.command(arguments).small_team().set("LANGO_AUTOMATOR_ENABLED", "true")
    };
    // Friday, shortly before nine.
    let clock = WallClock::new(&lango, &shift_to(1, NINE - 30));
    let ask =
        ["run", "--approve", "all", "every weekday at nine, summarise the new files in inbox/"];
    let asked = clock.given_to(command(&ask)).run().await;
    assert_eq!(asked.code, 0, "{asked:?}");
    let before = lango.received().len();
    let history = async || {
        let printed = command(&["cron", "history", "--json"]).run().await;
        let runs: Value = serde_json::from_str(&printed.stdout).unwrap();
        runs.as_array().unwrap().clone()
    };
    let done = async |count: usize| {
        let begin = Instant::now();
        loop {
            let runs = history().await;
            if runs.len() == count && runs.iter().all(|run| run["state"] == "done") {
                return runs;
            }
            assert!(runs.len() <= count && begin.elapsed() < Duration::from_secs(40), "{runs:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let worker = clock.given_to(command(&["worker"]));
    let (_worker, _) = worker.start_until("Lango runs the jobs").await;
    assert!(history().await.is_empty());
    clock.set(&shift_to(1, NINE));
    let runs = done(1).await;
    assert!(runs[0]["result"].as_str().unwrap().contains("Three boats arrived."), "{runs:?}");
    assert!(runs[0]["due"].as_str().unwrap().contains("T09:00:00"), "{runs:?}");
    // A turn of the operator, which reads twice and answers, and one of the orchestrator before it.
    assert_eq!(lango.received().len() - before, 4);
    // Nothing on Saturday and Sunday; on Monday again, and once.
    for day in [2, 3] {
        clock.set(&shift_to(day, NINE + 5));
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(history().await.len(), 1, "day {day}");
    }
    clock.set(&shift_to(4, NINE + 2));
    done(2).await;
    assert_eq!(lango.received().len() - before, 8);
}
