//! Tests that a promised turn begins once and in order, whichever process begins it.

use lango_protocol::{Event, SessionId, TurnId};
use lango_store::{
    Batch, ClaimError, Database, Journal, JournalAppend, QueuePlace, QueuedTurn, Statement,
    StoreError, TurnState,
};

use crate::fixture::Fixture;
use crate::samples::{append, session, turn};

async fn promise(database: &Database, session: &SessionId) -> TurnId {
    let turn = TurnId::generate();
    let entry = Journal::build_queue_entry(session, turn, "{}");
    database.write(entry.into()).await.unwrap();
    turn
}

async fn queued(journal: &Journal, session: &SessionId, turn: TurnId) -> QueuedTurn {
    match journal.find_turn_state(session, turn).await.unwrap() {
        TurnState::Queued(queued) => queued,
        other => panic!("{other:?}"),
    }
}

/// The events of a sample turn, with another id.
fn events_of(session: &SessionId, id: TurnId, first: u64) -> Vec<Event> {
    let events = turn(session, first, "text").into_iter();
    events.map(|event| Event { turn: id, ..event }).collect()
}

pub(crate) async fn a_queued_turn_begins_once_and_in_order(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let (first, second) = (promise(&database, &work).await, promise(&database, &work).await);
    let (one, two) = (queued(&journal, &work, first).await, queued(&journal, &work, second).await);
    let begin = |id| {
        let work = work.clone();
        move |head: u64| events_of(&work, id, head + 1)[..1].to_vec()
    };
    // Neither the second one nor a turn that was not promised may pass the first one.
    let refused = journal.claim_with(&work, "/w", QueuePlace::Of(&two), begin(second)).await;
    let Err(ClaimError::Behind(preceding)) = refused else { panic!("passed the first one") };
    assert_eq!(preceding.turn, first);
    let refused = journal.claim_with(&work, "/w", QueuePlace::After(None), begin(second)).await;
    let Err(ClaimError::Behind(preceding)) = refused else { panic!("passed the queue") };
    let last = preceding.last;
    let (claim, written) =
        journal.claim_with(&work, "/w", QueuePlace::Of(&one), begin(first)).await.unwrap();
    assert_eq!(written.len(), 1);
    assert!(matches!(
        journal.find_turn_state(&work, first).await.unwrap(),
        TurnState::Open(Some(_))
    ));
    let rest = events_of(&work, first, 1)[1..].to_vec();
    journal.append(&claim, JournalAppend { release: true, ..append(rest) }).await.unwrap();
    // It has begun and ended, so it cannot begin again.
    assert_eq!(journal.find_turn_state(&work, first).await.unwrap(), TurnState::Closed);
    let again = journal.claim_with(&work, "/w", QueuePlace::Of(&one), begin(first)).await;
    assert!(matches!(again, Err(ClaimError::Gone)), "{again:?}");
    journal.queue_again(&work, first, "{}").await.unwrap();
    assert_eq!(journal.find_turn_state(&work, first).await.unwrap(), TurnState::Closed);
    // What is promised later does not come before one that already waits.
    let later = promise(&database, &work).await;
    assert_eq!(journal.find_next_turn(&work).await.unwrap(), Some(second));
    assert!(journal.withdraw_turn(second).await.unwrap());
    assert!(!journal.withdraw_turn(second).await.unwrap());
    let own = TurnId::generate();
    journal.claim_with(&work, "/w", QueuePlace::After(last), begin(own)).await.unwrap();
    assert_eq!(journal.find_next_turn(&work).await.unwrap(), Some(later));
}

pub(crate) async fn of_many_processes_one_begins_a_queued_turn(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let id = promise(&database, &work).await;
    let row = queued(&journal, &work, id).await;
    let attempts: Vec<_> = (0..16)
        .map(|_| {
            let (journal, work, row) = (journal.clone(), work.clone(), row.clone());
            tokio::spawn(async move {
                let place = QueuePlace::Of(&row);
                let begin = |head: u64| events_of(&work, row.turn, head + 1);
                journal.claim_with(&work, "/w", place, begin).await.map(|(claim, _)| claim)
            })
        })
        .collect();
    let mut begun = 0;
    for attempt in attempts {
        match attempt.await.unwrap() {
            // Dropping the claim frees the session, so that the others try it as well.
            Ok(_) => begun += 1,
            Err(
                ClaimError::Busy(_)
                | ClaimError::Gone
                | ClaimError::Store(StoreError::Conflict { .. }),
            ) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((begun, journal.read_events(&work, 0, 50).await.unwrap().len()), (1, 3));
}

pub(crate) async fn a_promise_is_kept_or_not_made(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let id = TurnId::generate();
    let refused =
        Statement::new("UPDATE sessions SET title = 'x' WHERE id = 'none'").expect_rows(1);
    let entry = Journal::build_queue_entry(&work, id, "{}");
    let error = database.write(Batch::new().with(entry).with(refused)).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
    assert_eq!(journal.find_turn_state(&work, id).await.unwrap(), TurnState::Closed);
    assert!(journal.list_abandoned_sessions().await.unwrap().is_empty());
}

pub(crate) async fn promised_turns_of_dead_processes_are_listed(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let (work, other) = (session("work"), session("other"));
    let id = promise(&database, &work).await;
    assert_eq!(journal.list_abandoned_sessions().await.unwrap(), std::slice::from_ref(&work));
    let row = queued(&journal, &work, id).await;
    let begin = |head: u64| events_of(&work, id, head + 1)[..1].to_vec();
    let (claim, _) = journal.claim_with(&work, "/w", QueuePlace::Of(&row), begin).await.unwrap();
    assert!(journal.list_abandoned_sessions().await.unwrap().is_empty());
    assert_eq!(journal.list_promised_turns().await.unwrap(), [id]);
    // A turn that was not promised is left for its user to go on with.
    let alone = journal.claim_session(&other, "/w").await.unwrap();
    let first = turn(&other, 1, "alone")[..1].to_vec();
    journal.append(&alone, append(first)).await.unwrap();
    drop((claim, alone));
    assert_eq!(journal.list_abandoned_sessions().await.unwrap(), std::slice::from_ref(&work));
    assert_eq!(journal.find_next_turn(&work).await.unwrap(), Some(id));
    // The interrupted turn comes before everything else of its session.
    let second = promise(&database, &work).await;
    let row = queued(&journal, &work, second).await;
    let refused = journal.claim_with(&work, "/w", QueuePlace::Of(&row), begin).await;
    assert!(matches!(refused, Err(ClaimError::Behind(preceding)) if preceding.turn == id));
}
