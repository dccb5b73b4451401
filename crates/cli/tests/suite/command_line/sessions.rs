//! Conversations: made, found, shown, deleted, and used by two at once.

use lango_protocol::Event;
use serde_json::Value;

use crate::fixture::Lango;
use crate::invocation::until;
use crate::journal::{Turn, events_in};

const ECHO: &str = "[[reply]]\nsay = \"Understood.\"\n";

async fn with_sessions(names: &[&str]) -> Lango {
    let lango = Lango::playing(&[ECHO]).await;
    for name in names {
        let turn = lango.ask(&format!("about {name}")).with(&["--session", name]).turn().await;
        assert_eq!((turn.code, turn.events[0].session.as_str()), (0, *name));
    }
    lango
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_made_by_name_and_found_by_the_beginning_of_it() {
    let lango = with_sessions(&["holiday", "work-one", "work-two"]).await;
    let turn = lango.ask("more").with(&["--session", "hol"]).turn().await;
    assert_eq!(turn.events[0].session.as_str(), "holiday");
    let exact = lango.ask("more").with(&["--session", "work-one"]).turn().await;
    assert_eq!(exact.events[0].session.as_str(), "work-one");
    let ambiguous = lango.ask("more").with(&["--session", "work"]).run().await;
    assert_eq!((ambiguous.code, ambiguous.stdout.as_str()), (2, ""));
    assert!(ambiguous.stderr.contains("work-one") && ambiguous.stderr.contains("work-two"));
    let bad = lango.ask("more").with(&["--session", "../etc"]).run().await;
    assert_eq!(bad.code, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn last_goes_on_with_the_newest_and_new_does_not() {
    let lango = Lango::playing(&[ECHO]).await;
    let none = lango.ask("hello").with(&["--last"]).run().await;
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("lango run"), "{}", none.stderr);
    lango.ask("one").with(&["--session", "first"]).turn().await;
    lango.ask("two").with(&["--session", "second"]).turn().await;
    let last = lango.ask("three").with(&["--last"]).turn().await;
    assert_eq!(last.events[0].session.as_str(), "second");
    let new = lango.ask("four").with(&["--new"]).turn().await;
    assert!(!["first", "second"].contains(&new.events[0].session.as_str()));
    assert_eq!(lango.command(&["run", "--last", "--new", "x"]).run().await.code, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_listed_and_shown_for_people_and_for_programs() {
    let lango = with_sessions(&["alpha", "beta"]).await;
    let list = lango.command(&["sessions", "list"]).run().await;
    let lines: Vec<&str> = list.stdout.lines().collect();
    assert!(lines[0].starts_with("SESSION"), "{lines:?}");
    assert!(lines[1].starts_with("beta") && lines[2].starts_with("alpha"), "newest first");
    assert!(lines[1].ends_with("about beta"), "{lines:?}");
    let one = lango.command(&["sessions", "list", "--json", "--limit", "1"]).run().await;
    let one: Value = serde_json::from_str(&one.stdout).unwrap();
    assert_eq!((one.as_array().unwrap().len(), &one[0]["id"]), (1, &Value::from("beta")));
    assert_eq!((&one[0]["turns"], &one[0]["unfinished"]), (&1.into(), &false.into()));

    let shown = lango.command(&["sessions", "show", "alp"]).run().await.stdout;
    assert!(shown.contains("user: about alpha"), "{shown}");
    assert!(shown.contains("lango-orchestrator: Understood."), "{shown}");
    let json = lango.command(&["sessions", "show", "alpha", "--json"]).run().await.stdout;
    let json: Vec<Event> = serde_json::from_str(&json).unwrap();
    let export = lango.command(&["sessions", "export", "alpha"]).run().await.stdout;
    assert_eq!(json, events_in(&export));
    let file = lango.path("export.jsonl");
    let to = ["sessions", "export", "alpha", "--output", file.to_str().unwrap()];
    assert_eq!(lango.command(&to).run().await.stdout, "");
    assert_eq!(std::fs::read_to_string(file).unwrap(), export);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_deleted_only_after_confirmation() {
    let lango = with_sessions(&["alpha", "beta"]).await;
    let asked = lango.command(&["sessions", "delete", "alpha"]).run().await;
    assert_eq!(asked.code, 2);
    assert!(asked.stderr.contains("--yes"), "{}", asked.stderr);
    assert_eq!(lango.command(&["sessions", "show", "alpha"]).run().await.code, 0);
    let deleted = lango.command(&["sessions", "delete", "alpha", "--yes"]).run().await;
    assert_eq!((deleted.code, deleted.stdout.as_str()), (0, "Deleted alpha.\n"));
    let gone = lango.command(&["sessions", "show", "alpha"]).run().await;
    assert_eq!(gone.code, 2);
    assert!(gone.stderr.contains("lango sessions list"), "{}", gone.stderr);
    assert_eq!(lango.command(&["sessions", "show", "beta"]).run().await.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_conversation_the_list_says_how_to_begin_one() {
    let lango = Lango::silent().await;
    let list = lango.command(&["sessions", "list"]).run().await;
    assert_eq!(list.code, 0);
    assert!(list.stdout.contains("lango run"), "{}", list.stdout);
    assert_eq!(lango.command(&["sessions", "list", "--json"]).run().await.stdout, "[]\n");
    let resume = lango.command(&["resume"]).run().await;
    assert_eq!((resume.code, resume.stdout.as_str()), (0, "There is nothing to resume.\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_session_take_turns() {
    let script =
        "[[reply]]\nuser = \"first\"\ndelay_ms = 700\nsay = \"One.\"\n[[reply]]\nsay = \"Two.\"\n";
    let lango = Lango::playing(&[script]).await;
    let first = lango.ask("first").with(&["--session", "work"]).start();
    until("the first request", || lango.requests().len() == 1).await;
    let second = lango.ask("second").with(&["--session", "work"]).start();
    let (first, second) = tokio::join!(first.finish(), second.finish());
    let first = Turn::read(&lango, first).await;
    let second = Turn::read(&lango, second).await;
    assert_eq!((first.code, first.answer()), (0, "One."));
    assert_eq!((second.code, second.answer()), (0, "Two."));
    assert_eq!(second.events[0].seq, first.events.last().unwrap().seq + 1);
    assert!(second.events[0].at >= first.events.last().unwrap().at);
    let seen = &lango.requests()[1];
    assert_eq!(seen.assistants(), [(None, "One.")], "the second sees what the first was told");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_a_new_home_do_not_get_in_each_others_way() {
    let lango = Lango::playing(&[ECHO]).await;
    let all: Vec<_> = (0..4).map(|n| lango.ask(&format!("message {n}")).start()).collect();
    let mut finished = Vec::new();
    for running in all {
        finished.push(running.finish().await);
    }
    for one in finished {
        assert_eq!(Turn::read(&lango, one).await.code, 0);
    }
}
