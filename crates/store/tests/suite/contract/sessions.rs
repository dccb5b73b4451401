//! Tests lists of sessions and turns.

use lango_protocol::{FailureClass, OutcomeStatus, SessionId, Timestamp, TurnId};
use lango_store::{Journal, JournalAppend, Statement, StoreError, StoredOutput};

use crate::fixture::Fixture;
use crate::samples::{append, event, finished, session, turn, user};

async fn one_turn(journal: &Journal, id: &SessionId, text: &str) {
    let claim = journal.claim_session(id, "/work space").await.unwrap();
    let events = turn(id, claim.head() + 1, text);
    journal.append(&claim, JournalAppend { release: true, ..append(events) }).await.unwrap();
}

pub(crate) async fn a_session_has_the_title_of_its_first_message(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    assert_eq!(journal.find_session(&work).await.unwrap(), None);
    let before = Timestamp::now();
    let claim = journal.claim_session(&work, "/work space").await.unwrap();
    let empty = journal.find_session(&work).await.unwrap().unwrap();
    assert_eq!((empty.title.as_str(), empty.turns, empty.unfinished), ("", 0, false));
    journal.release_claim(claim).await.unwrap();
    one_turn(&journal, &work, &format!("  first\nline \u{0} {}", "x".repeat(100))).await;
    one_turn(&journal, &work, "second").await;
    let found = journal.find_session(&work).await.unwrap().unwrap();
    assert_eq!(found.title, format!("first line {}", "x".repeat(69)));
    assert_eq!(found.workspace, "/work space");
    assert_eq!((found.turns, found.unfinished), (2, false));
    assert!(before <= found.created_at && found.created_at == empty.created_at);
    assert!(found.updated_at > empty.updated_at);
    // A later claim from another directory does not move the session.
    journal.claim_session(&work, "/other").await.unwrap();
    assert_eq!(journal.find_session(&work).await.unwrap().unwrap().workspace, "/work space");
}

pub(crate) async fn lists_are_latest_first(fixture: Fixture) {
    let journal = fixture.journal().await;
    assert_eq!(journal.find_latest_session().await.unwrap(), None);
    for name in ["a", "b", "c", "a"] {
        one_turn(&journal, &session(name), name).await;
    }
    let sessions = journal.list_sessions(2).await.unwrap();
    let ids: Vec<_> = sessions.iter().map(|summary| summary.id.as_str()).collect();
    assert_eq!(ids, ["a", "c"]);
    assert_eq!(sessions[0].turns, 2);
    assert_eq!(journal.find_latest_session().await.unwrap(), Some(session("a")));
}

pub(crate) async fn a_prefix_is_taken_literally(fixture: Fixture) {
    let journal = fixture.journal().await;
    for name in ["a_b", "aXb", "A_b", "a_", "b"] {
        one_turn(&journal, &session(name), name).await;
    }
    let find = async |prefix: &str| {
        let found = journal.find_sessions(prefix).await.unwrap();
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(find("a_").await, ["a_", "a_b"]);
    assert_eq!(find("a").await, ["a_", "aXb", "a_b"]);
    assert_eq!(find("%").await, [""; 0]);
    assert_eq!(find("a%").await, [""; 0]);
    assert_eq!(find("\\").await, [""; 0]);
    assert_eq!(find("").await.len(), 5);
}

pub(crate) async fn unfinished_turns_say_whether_they_run(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let (work, dead) = (session("work"), session("dead"));
    one_turn(&journal, &work, "done").await;
    let held = journal.claim_session(&work, "/w").await.unwrap();
    let running = TurnId::generate();
    let events = vec![event(&work, running, 4, user("still at it"))];
    journal.append(&held, append(events)).await.unwrap();
    let claim = journal.claim_session(&dead, "/w").await.unwrap();
    let lost = TurnId::generate();
    journal.append(&claim, append(vec![event(&dead, lost, 1, user("lost"))])).await.unwrap();
    // The same process id, started at another time: the process that wrote this is gone.
    let sql = "UPDATE leases SET owner_start = 1, incarnation = 'other' \
               WHERE name = 'session:dead'";
    database.write(Statement::new(sql).into()).await.unwrap();

    let all = journal.list_unfinished_turns(None).await.unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].turn, all[0].text.as_str()), (running, "still at it"));
    assert_eq!(all[0].running.as_ref().map(|owner| owner.pid), Some(std::process::id()));
    assert_eq!((&all[1].session, all[1].turn, &all[1].running), (&dead, lost, &None));
    assert_eq!(journal.list_unfinished_turns(Some(&dead)).await.unwrap(), all[1..]);
    assert!(journal.find_session(&dead).await.unwrap().unwrap().unfinished);

    let claim = journal.claim_session(&dead, "/w").await.unwrap();
    let end = event(&dead, lost, 2, finished(OutcomeStatus::Cancelled));
    journal.append(&claim, append(vec![end])).await.unwrap();
    assert_eq!(journal.list_unfinished_turns(Some(&dead)).await.unwrap(), []);
    assert!(!journal.find_session(&dead).await.unwrap().unwrap().unfinished);
}

pub(crate) async fn however_a_turn_ends_it_is_not_open_any_more(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let reason = || "because".to_owned();
    let statuses = [
        OutcomeStatus::Done,
        OutcomeStatus::NeedsInput,
        OutcomeStatus::Rejected { reason: reason() },
        OutcomeStatus::Failed { class: FailureClass::Provider, reason: reason() },
        OutcomeStatus::TimedOut,
        OutcomeStatus::Cancelled,
    ];
    for (first, status) in (1..).step_by(2).zip(statuses) {
        let id = TurnId::generate();
        journal.append(&claim, append(vec![event(&work, id, first, user("x"))])).await.unwrap();
        let open = journal.list_unfinished_turns(Some(&work)).await.unwrap();
        assert_eq!(open.iter().map(|turn| turn.turn).collect::<Vec<_>>(), [id]);
        let end = event(&work, id, first + 1, finished(status));
        journal.append(&claim, append(vec![end])).await.unwrap();
        assert_eq!(journal.list_unfinished_turns(Some(&work)).await.unwrap(), []);
        assert_eq!(journal.read_turn_events(&work, id).await.unwrap().len(), 2);
    }
}

pub(crate) async fn a_deleted_session_leaves_nothing(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let (work, other) = (session("work"), session("other"));
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let outputs = vec![StoredOutput { reference: "r".into(), text: "t".into() }];
    let all = JournalAppend { outputs, release: true, ..append(turn(&work, 1, "a")) };
    journal.append(&claim, all).await.unwrap();
    one_turn(&journal, &other, "b").await;
    assert!(journal.delete_session(&work).await.unwrap());
    assert!(!journal.delete_session(&work).await.unwrap());
    for (sql, left) in [
        ("SELECT COUNT(*) FROM sessions", 1),
        ("SELECT COUNT(*) FROM open_turns", 0),
        ("SELECT COUNT(*) FROM events", 3),
        ("SELECT COUNT(*) FROM outputs", 0),
        ("SELECT COUNT(*) FROM leases", 0),
    ] {
        let rows = database.query(Statement::new(sql)).await.unwrap();
        assert_eq!(rows[0].integer(0).unwrap(), left, "{sql}");
    }
    assert_eq!(journal.claim_session(&work, "/w").await.unwrap().head(), 0);
}

pub(crate) async fn a_session_in_use_is_not_deleted(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let error = journal.delete_session(&work).await.unwrap_err();
    let StoreError::SessionInUse { session, owner } = &error else { panic!("{error}") };
    assert_eq!((session.as_str(), owner.pid), ("work", std::process::id()));
    // The lease of a dead process does not protect it.
    let sql = "UPDATE leases SET expires_at = 1";
    database.write(Statement::new(sql).into()).await.unwrap();
    assert!(journal.delete_session(&work).await.unwrap());
    let error = journal.append(&claim, append(turn(&work, 1, "late"))).await.unwrap_err();
    assert!(matches!(error, StoreError::SessionLost { .. }), "{error}");
}
