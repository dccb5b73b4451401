//! A promised turn comes to its end once, and in order, whichever runtime drives it.

use std::time::Duration;

use lango_model::{Image, UserMessage};
use lango_protocol::{
    Event, EventBody, EventId, MessageOrigin, OutcomeStatus, SessionId, Timestamp, TurnId,
    WarningCode,
};
use lango_runtime::{Runtime, TurnHandle, TurnInput, TurnRequest};
use lango_store::{Database, DatabaseLocation, JournalAppend, Statement, TurnState};
use tempfile::TempDir;

use crate::following::{recorded, runtime_in, watched};

async fn promise(runtime: &Runtime, directory: &TempDir, request: &TurnRequest) {
    let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
    let database = Database::open(&location).await.unwrap();
    let promise = runtime.promise_turn(request).await.unwrap();
    database.write(promise.into()).await.unwrap();
}

fn request(session: &SessionId, input: impl Into<TurnInput>) -> TurnRequest {
    TurnRequest::new(session.clone(), input, MessageOrigin::Library)
}

/// Returns everything that a handle yields, and how the turn ended.
async fn drain(mut handle: TurnHandle) -> (Vec<Event>, OutcomeStatus) {
    let mut events = Vec::new();
    while let Some(event) = handle.next_event().await {
        events.push(event);
    }
    (events, handle.wait_for_outcome().await.unwrap().status)
}

async fn read_turns(runtime: &Runtime, session: &SessionId) -> Vec<(TurnId, bool)> {
    let events = runtime.journal().read_events(session, 0, 500).await.unwrap();
    let ends = events.iter().filter_map(|event| match event.body {
        EventBody::UserMessage { .. } => Some((event.turn, true)),
        EventBody::TurnFinished(_) => Some((event.turn, false)),
        _ => None,
    });
    ends.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn promised_turns_run_once_and_in_order_in_any_runtime() {
    let watched = watched().await;
    let other = runtime_in(&watched.directory, &watched.server).await;
    let session = SessionId::generate();
    let mut turns = Vec::new();
    for text in ["one", "two", "three"] {
        let request = request(&session, text);
        promise(&watched.runtime, &watched.directory, &request).await;
        turns.push(request.turn);
    }
    // The last one is driven first, and each of them twice in each runtime.
    let mut driven = Vec::new();
    for turn in turns.iter().rev().copied() {
        for runtime in [&watched.runtime, &other, &other, &watched.runtime] {
            driven.push((turn, tokio::spawn(drain(runtime.drive_turn(session.clone(), turn)))));
        }
    }
    for (turn, driven) in driven {
        let (events, status) = driven.await.unwrap();
        assert_eq!(status, OutcomeStatus::Done);
        let journal = other.journal().read_turn_events(&session, turn).await.unwrap();
        assert_eq!(recorded(&events), journal);
    }
    let expected: Vec<_> = turns.iter().flat_map(|turn| [(*turn, true), (*turn, false)]).collect();
    assert_eq!(read_turns(&other, &session).await, expected);
    // Long afterwards it is not run again.
    drain(other.drive_turn(session.clone(), turns[0])).await;
    assert_eq!(read_turns(&other, &session).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_was_not_promised_comes_after_those_that_were() {
    let watched = watched().await;
    let session = SessionId::generate();
    let image = Image { media_type: "image/png".to_owned(), data: vec![1, 2, 3].into() };
    let message = UserMessage { images: vec![image], ..UserMessage::new("with an image") };
    let promised = request(&session, message);
    promise(&watched.runtime, &watched.directory, &promised).await;
    // No process drives the promised one.
    let own = request(&session, "afterwards");
    let (first, second) = (promised.turn, own.turn);
    let (_, status) = drain(watched.runtime.start_turn(own)).await;
    assert_eq!(status, OutcomeStatus::Done);
    let expected = [(first, true), (first, false), (second, true), (second, false)];
    assert_eq!(read_turns(&watched.runtime, &session).await, expected);
    let events = watched.runtime.journal().read_turn_events(&session, first).await.unwrap();
    let EventBody::UserMessage { images, .. } = &events[0].body else { panic!("{events:?}") };
    let stored = watched.runtime.journal().read_output(&session, &images[0].reference).await;
    assert_eq!(stored.unwrap().as_deref(), Some("AQID"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_was_interrupted_too_often_is_closed() {
    let watched = watched().await;
    let session = SessionId::generate();
    let promised = request(&session, "it ends its process");
    let turn = promised.turn;
    promise(&watched.runtime, &watched.directory, &promised).await;
    let journal = watched.runtime.journal();
    let TurnState::Queued(queued) = journal.find_turn_state(&session, turn).await.unwrap() else {
        panic!("not queued")
    };
    let message = EventBody::UserMessage {
        text: "it ends its process".to_owned(),
        attachment: None,
        images: Vec::new(),
        origin: MessageOrigin::Library,
        sender: None,
        call: None,
    };
    let resumed = EventBody::Warning { code: WarningCode::Resumed, text: String::new() };
    let bodies = std::iter::once(message).chain(std::iter::repeat_n(resumed, 25));
    let events: Vec<Event> = bodies
        .zip(1..)
        .map(|(body, seq)| Event {
            id: EventId::generate(),
            session: session.clone(),
            turn,
            seq,
            at: Timestamp::now(),
            author: None,
            branch: None,
            step: None,
            body,
        })
        .collect();
    let claim = journal.claim_session(&session, "/w").await.unwrap();
    let append =
        JournalAppend { events: events.into(), queued: Some(queued), ..JournalAppend::default() };
    journal.append(&claim, append).await.unwrap();
    drop(claim);
    let (_, status) = drain(watched.runtime.drive_turn(session.clone(), turn)).await;
    assert_eq!(status, OutcomeStatus::Cancelled);
    assert!(watched.server.requests().is_empty());
    assert_eq!(journal.find_next_turn(&session).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_whose_end_the_database_refuses_is_not_run_again_and_again() {
    let watched = watched().await;
    let session = SessionId::generate();
    let promised = request(&session, "it cannot end");
    promise(&watched.runtime, &watched.directory, &promised).await;
    let location = DatabaseLocation::Sqlite(watched.directory.path().join("lango.db"));
    let database = Database::open(&location).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON events WHEN NEW.type = 'turn_finished' \
                  BEGIN SELECT RAISE(ABORT, 'refused'); END";
    database.write(Statement::new(refuse).into()).await.unwrap();
    // Each of these looks after the turn that comes before it.
    let waiting: Vec<_> = (0..4)
        .map(|_| tokio::spawn(drain(watched.runtime.start_turn(request(&session, "afterwards")))))
        .collect();
    tokio::time::sleep(Duration::from_secs(5)).await;
    // Each attempt asks the model twice: at the beginning, and after two waits.
    let requests = watched.server.requests().len();
    assert!((2..=6).contains(&requests), "{requests} requests");
    // When the database takes it, it ends, and so do those that waited.
    database.write(Statement::new("DROP TRIGGER refuse").into()).await.unwrap();
    for turn in waiting {
        assert_eq!(turn.await.unwrap().1, OutcomeStatus::Done);
    }
}
