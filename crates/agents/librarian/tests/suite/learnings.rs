//! Tests lessons: saved or observed, offered when a failure comes back, trusted as far as they
//! help.

use lango_librarian::learnings::{Learnings, observe};
use lango_protocol::{CallReport, CallStatus, SessionId, Space};
use lango_store::Database;
use serde_json::json;

use crate::database::{call, holdings, on_both, tools};
use crate::reports::{render_report, run_and_report};
use crate::turns::TurnScript;

on_both! {
    a_failure_that_was_overcome_twice_becomes_a_lesson,
    advice_is_trusted_as_far_as_it_helps,
    lessons_are_told_and_found,
    a_turn_is_taken_in_once,
}

const MISSING: &str = "no such file: /srv/app/man.rs";

fn turn_with_fix(session: &SessionId, wrong: &str, right: &str) -> TurnScript {
    TurnScript::new(session, "read it")
        .call("fs_read", &format!(r#"{{"path":"{wrong}"}}"#), CallStatus::Error, MISSING)
        .call("fs_read", &format!(r#"{{"path":"{right}"}}"#), CallStatus::Ok, "fn main() {}")
}

async fn learn(learnings: &Learnings, script: &TurnScript) -> Vec<String> {
    learnings.learn(&script.session, script.turn, &observe(&script.events)).await.unwrap()
}

#[test]
fn a_turn_shows_what_helped() {
    let session = SessionId::generate();
    let script = turn_with_fix(&session, "man.rs", "src/main.rs")
        .call("fs_read", "{}", CallStatus::Denied, "not allowed")
        .call("fs_stat", "{}", CallStatus::Refused, "not your tool")
        .reported_call(
            "fs_stat",
            "{}",
            CallStatus::Refused,
            "the arguments do not fit: missing path",
            Some(CallReport::new("It was not run.").invalid_arguments()),
        );
    let seen = observe(&script.events);
    assert_eq!(seen.failures.len(), 2, "{seen:?}");
    assert_eq!(seen.failures[0].pattern, "no such file <path>");
    let fix = seen.failures[0].fix.as_deref();
    assert_eq!(fix, Some("path \"src/main.rs\" instead of \"man.rs\""));
    assert_eq!((seen.failures[1].tool.as_str(), &seen.failures[1].fix), ("fs_stat", &None));
    assert!(observe(&[]).failures.is_empty());
}

async fn a_failure_that_was_overcome_twice_becomes_a_lesson(database: Database) {
    let holdings = holdings(&database).await;
    let stores = holdings.in_space(&Space::Owner);
    let learnings = stores.learnings();
    let session = SessionId::generate();
    assert!(learn(learnings, &turn_with_fix(&session, "a.rs", "src/a.rs")).await.is_empty());
    assert_eq!(learnings.advise("fs_read", MISSING).await.unwrap(), None);
    // The second failure, in another session and without a fix, is enough: a fix is known.
    let again = TurnScript::new(&SessionId::generate(), "read it").call(
        "fs_read",
        r#"{"path":"b.rs"}"#,
        CallStatus::Error,
        "no such file: /other/b.rs",
    );
    let learnt = learn(learnings, &again).await;
    assert_eq!(learnt.len(), 1);
    let lesson = learnings.get(&learnt[0]).await.unwrap().unwrap();
    assert_eq!(lesson.error_pattern.as_deref(), Some("no such file <path>"));
    assert!(lesson.fix.contains("path \"src/a.rs\" instead of \"a.rs\""), "{lesson:?}");
    let advice = learnings.advise("fs_read", "No such file: /third/c.rs").await.unwrap().unwrap();
    assert_eq!(advice.id, learnt[0]);
    assert!(advice.text.contains(&lesson.fix) && advice.text.contains("not tried yet"));
    assert_eq!(learnings.advise("fs_write", MISSING).await.unwrap(), None);
    assert_eq!(learnings.advise("fs_read", "permission denied").await.unwrap(), None);
    // One lesson for one failure.
    assert!(learn(learnings, &turn_with_fix(&session, "c.rs", "src/c.rs")).await.is_empty());
}

async fn advice_is_trusted_as_far_as_it_helps(database: Database) {
    let holdings = holdings(&database).await;
    let tools = tools(&holdings, None).await;
    let stores = holdings.in_space(&Space::Owner);
    let learnings = stores.learnings();
    let lesson = json!({ "trigger": "fs_read", "fix": "list first", "error_pattern": MISSING });
    call(&tools, "save_learning", lesson).await.unwrap();
    let advice = learnings.advise("fs_read", MISSING).await.unwrap().unwrap();
    let failed = format!("{MISSING}\n\n{}", advice.text);
    let session = SessionId::generate();
    let helped = |works: bool| {
        let script =
            TurnScript::new(&session, "read it").call("fs_read", "{}", CallStatus::Error, &failed);
        let status = if works { CallStatus::Ok } else { CallStatus::Error };
        script.call("fs_read", r#"{"path":"x"}"#, status, MISSING)
    };
    let seen = observe(&helped(true).events);
    assert_eq!((seen.advice[0].id.as_str(), seen.advice[0].worked), (advice.id.as_str(), true));
    assert_eq!(seen.failures[0].pattern, "no such file <path>", "the advice is no part of it");
    learn(learnings, &helped(true)).await;
    let after = learnings.get(&advice.id).await.unwrap().unwrap();
    assert_eq!((after.successes, after.tries), (1, 1));
    assert!((after.confidence() - 2.0 / 3.0).abs() < 1e-9);
    for _ in 0..4 {
        assert!(learnings.advise("fs_read", MISSING).await.unwrap().is_some());
        learn(learnings, &helped(false)).await;
    }
    let after = learnings.get(&advice.id).await.unwrap().unwrap();
    assert_eq!((after.successes, after.tries), (1, 5));
    assert!(after.confidence() < 0.3);
    let report = run_and_report(&tools, "search_learnings", json!({ "query": "fs_read" })).await;
    let line = "\n- fs_read: list first (helped 1 of 5 times)\n";
    assert!(render_report(&report).contains(line), "{report:?}");
    let now = learnings.advise("fs_read", MISSING).await.unwrap();
    assert!(now.is_none_or(|other| other.id != advice.id), "what does not help is not offered");
    assert!(!learnings.outcome("unknown", true).await.unwrap());
}

async fn lessons_are_told_and_found(database: Database) {
    let holdings = holdings(&database).await;
    let tools = tools(&holdings, None).await;
    let lesson = json!({
        "trigger": "exec_shell", "fix": "Set CARGO_NET_OFFLINE=true.",
        "error_pattern": "failed to fetch https://packages.example.org", "diagnosis": "There is no network."
    });
    let first = call(&tools, "save_learning", lesson.clone()).await.unwrap();
    assert_eq!(call(&tools, "save_learning", lesson).await.unwrap(), first, "it is the same one");
    let asked = json!({ "query": "cargo has no network" });
    let found = call(&tools, "search_learnings", asked).await.unwrap();
    let hit = &found["hits"][0];
    assert_eq!((&hit["id"], &hit["origin"]), (&first["id"], &json!("told")));
    assert_eq!((&hit["confidence"], &hit["trigger"]), (&json!(0.5), &json!("exec_shell")));
    let none = call(&tools, "search_learnings", json!({ "query": "moon" })).await.unwrap();
    assert_eq!(none["hits"], json!([]));
    let stores = holdings.in_space(&Space::Owner);
    let learnings = stores.learnings();
    let error = "exit 101: failed to fetch https://other.example/x, giving up";
    let advice = learnings.advise("exec_shell", error).await.unwrap().unwrap();
    assert!(advice.text.contains("CARGO_NET_OFFLINE") && advice.text.contains("no network"));
    assert!(call(&tools, "save_learning", json!({ "trigger": "", "fix": "x" })).await.is_err());
}

async fn a_turn_is_taken_in_once(database: Database) {
    let holdings = holdings(&database).await;
    let stores = holdings.in_space(&Space::Owner);
    let learnings = stores.learnings();
    let script = turn_with_fix(&SessionId::generate(), "a.rs", "src/a.rs");
    for _ in 0..3 {
        assert!(learn(learnings, &script).await.is_empty(), "seen once, however often it is told");
    }
}
