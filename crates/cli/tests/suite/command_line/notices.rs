//! What is said before a turn begins, because the user should not have to look for it.

use lango_protocol::{
    Event, EventBody, EventId, MessageOrigin, SessionId, Timestamp, TurnId, USER,
};
use lango_store::{Database, Journal, JournalAppend};

use crate::fixture::Lango;

const GREETING: &str = "[[reply]]\nsay = \"Hello!\"\n";

/// Writes a turn that began in this session and did not end.
async fn interrupted_turn(lango: &Lango, session: &str) {
    let location = lango.database_file().to_str().unwrap().parse().unwrap();
    let journal = Journal::open(Database::open(&location).await.unwrap()).await.unwrap();
    let session: SessionId = session.parse().unwrap();
    let claim = journal.claim_session(&session, "/w").await.unwrap();
    let event = Event {
        id: EventId::generate(),
        session,
        turn: TurnId::generate(),
        seq: 1,
        // Long ago: the time until a user comes back to it is not time the turn took.
        at: Timestamp::from_microseconds(Timestamp::now().as_microseconds() - 3_600_000_000),
        author: Some(USER.to_owned()),
        branch: None,
        step: None,
        body: EventBody::UserMessage {
            text: "hello".into(),
            attachment: None,
            images: Vec::new(),
            origin: MessageOrigin::Run,
            sender: None,
            call: None,
        },
    };
    let append =
        JournalAppend { events: vec![event].into(), release: true, ..JournalAppend::default() };
    journal.append(&claim, append).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_turn_is_mentioned_until_it_is_resumed() {
    let lango = Lango::playing(&[GREETING]).await;
    interrupted_turn(&lango, "old").await;
    let before = lango.command(&["run", "hello"]).run().await;
    assert!(before.stderr.contains("1 turn was interrupted; go on with: lango resume"));
    let quiet = lango.command(&["run", "--quiet", "hello"]).run().await;
    assert_eq!(quiet.stderr, "");
    let resumed = lango.command(&["resume"]).run().await;
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "Hello!\n"), "{}", resumed.stderr);
    let after = lango.command(&["run", "hello"]).run().await;
    assert!(!after.stderr.contains("interrupted"), "{}", after.stderr);
    let again = lango.command(&["resume"]).run().await;
    assert_eq!((again.code, again.stdout.as_str()), (0, "There is nothing to resume.\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn several_interrupted_turns_are_listed_and_one_is_chosen() {
    let lango = Lango::playing(&[GREETING]).await;
    interrupted_turn(&lango, "first").await;
    interrupted_turn(&lango, "second").await;
    let choice = lango.command(&["resume"]).run().await;
    assert_eq!(choice.code, 2);
    assert!(choice.stdout.contains("lango resume first") && choice.stdout.contains("second"));
    let last = lango.command(&["resume", "--last", "--output-format", "json"]).run().await;
    assert!(last.stdout.contains(r#""session":"second""#), "{}", last.stdout);
    let named = lango.command(&["resume", "fir"]).run().await;
    assert_eq!((named.code, named.stdout.as_str()), (0, "Hello!\n"));
}

/// A new message in a session ends the turn that was interrupted there: two never overlap.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_message_closes_an_interrupted_turn_of_its_session() {
    let lango = Lango::playing(&[GREETING]).await;
    interrupted_turn(&lango, "old").await;
    let run = lango.command(&["run", "--session", "old", "hello again"]).run().await;
    assert_eq!((run.code, run.stdout.as_str()), (0, "Hello!\n"), "{}", run.stderr);
    let export = lango.command(&["sessions", "export", "old"]).run().await.stdout;
    let events: Vec<Event> =
        export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = events.iter().map(|event| event.body.type_name()).collect();
    let ends: Vec<usize> =
        types.iter().enumerate().filter(|(_, t)| **t == "turn_finished").map(|(i, _)| i).collect();
    let begins: Vec<usize> =
        types.iter().enumerate().filter(|(_, t)| **t == "user_message").map(|(i, _)| i).collect();
    assert_eq!((begins.len(), ends.len()), (2, 2), "{types:?}");
    assert!(ends[0] < begins[1], "{types:?}");
    let EventBody::TurnFinished(closed) = &events[ends[0]].body else { unreachable!() };
    assert!(closed.work.milliseconds < 60_000, "{closed:?}");
}

/// R04 and promise 9: start-up says which tools no agent can reach.
#[tokio::test(flavor = "multi_thread")]
async fn r04_tools_that_no_agent_owns_are_mentioned_at_start_up() {
    let lango = Lango::playing(&[GREETING]).await;
    lango.file(
        "team/reader.md",
        "---\nname: reader\ndescription: files\nprefixes: [fs_]\n---\nYou read files.\n",
    );
    let team = lango.path("team");
    let run = lango.command(&["run", "hello", "--topology", team.to_str().unwrap()]).run().await;
    assert_eq!(run.code, 0, "{}", run.stderr);
    let notice = run.stderr.lines().find(|line| line.starts_with("no agent can use ")).unwrap();
    assert!(notice.contains("exec_shell"), "{notice}");
    assert!(notice.ends_with("; the reasons: lango agents list"), "{notice}");
}
