//! Tests writing and reading events.

use lango_protocol::{CallId, EventBody, OutcomeStatus, TurnId};
use lango_store::{Durability, JournalAppend, StoreError, StoredOutput};

use crate::fixture::Fixture;
use crate::samples::{append, event, every_body, finished, message, session, turn, user};

pub(crate) async fn every_event_reads_back(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let turn = TurnId::generate();
    let mut events: Vec<_> =
        (1..).zip(every_body()).map(|(seq, body)| event(&work, turn, seq, body)).collect();
    events[1].author = None;
    events[2].branch = Some(CallId::generate());
    events[3].step = Some(u32::MAX);
    let durability = Durability::PowerLoss;
    let whole = JournalAppend { durability, ..append(events.clone()) };
    journal.append(&claim, whole).await.unwrap();
    assert_eq!(journal.read_events(&work, 0, 1000).await.unwrap(), events);
    let again = fixture.journal().await;
    assert_eq!(again.read_turn_events(&work, turn).await.unwrap(), events);
}

pub(crate) async fn a_taken_position_is_refused_whole(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    journal.append(&claim, append(turn(&work, 1, "a"))).await.unwrap();
    let mut overlap = append(turn(&work, 3, "b"));
    overlap.outputs.push(StoredOutput { reference: "r".into(), text: "t".into() });
    let error = journal.append(&claim, overlap).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
    assert_eq!(journal.read_events(&work, 0, 10).await.unwrap().len(), 3);
    assert_eq!(journal.read_output(&work, "r").await.unwrap(), None);
    assert_eq!(journal.find_session(&work).await.unwrap().unwrap().turns, 1);
    // The claim itself is still valid.
    journal.append(&claim, append(turn(&work, 4, "c"))).await.unwrap();
}

pub(crate) async fn pages_and_turns(fixture: Fixture) {
    let journal = fixture.journal().await;
    let (work, other) = (session("work"), session("other"));
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let all: Vec<_> = (0..4).flat_map(|n| turn(&work, n * 3 + 1, "x")).collect();
    for events in all.chunks(3) {
        journal.append(&claim, append(events.to_vec())).await.unwrap();
    }
    let claim = journal.claim_session(&other, "/w").await.unwrap();
    journal.append(&claim, append(turn(&other, 1, "y"))).await.unwrap();
    assert_eq!(journal.read_events(&work, 0, 5).await.unwrap(), all[..5]);
    assert_eq!(journal.read_events(&work, 5, 100).await.unwrap(), all[5..]);
    assert_eq!(journal.read_events(&work, 12, 100).await.unwrap(), []);
    assert_eq!(journal.read_turn_events(&work, all[4].turn).await.unwrap(), all[3..6]);
    assert_eq!(journal.read_turn_events(&other, all[4].turn).await.unwrap(), []);
    assert_eq!(journal.read_events(&session("unknown"), 0, 5).await.unwrap(), []);
}

pub(crate) async fn a_conversation_is_what_was_said(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    journal.append(&claim, append(turn(&work, 1, "oldest"))).await.unwrap();
    // A turn with every kind of event, a short one, and one that was interrupted.
    let full = TurnId::generate();
    let mut bodies = every_body();
    bodies.retain(|body| !matches!(body, EventBody::TurnFinished(_)));
    bodies.push(finished(OutcomeStatus::Cancelled));
    let full: Vec<_> = (4..).zip(bodies).map(|(seq, body)| event(&work, full, seq, body)).collect();
    let next = full.last().unwrap().seq + 1;
    journal.append(&claim, append(full.clone())).await.unwrap();
    let short = turn(&work, next, "short");
    journal.append(&claim, append(short.clone())).await.unwrap();
    let cut = TurnId::generate();
    let next = next + 3;
    let cut =
        vec![event(&work, cut, next, user("cut")), event(&work, cut, next + 1, message("half"))];
    journal.append(&claim, append(cut)).await.unwrap();
    // No turn begins while another is open.
    let second = journal.append(&claim, append(turn(&work, next + 2, "no"))).await;
    assert!(matches!(second, Err(StoreError::Conflict { .. })), "{second:?}");

    let said = journal.read_conversation(&work, 2, 0).await.unwrap();
    let names: Vec<_> = said.iter().map(|event| event.body.type_name()).collect();
    let expected = [
        "user_message",
        "message",
        "transfer",
        "transfer_finished",
        "turn_finished",
        "user_message",
        "message",
        "turn_finished",
    ];
    assert_eq!(names, expected);
    assert_eq!(said[5..], short);
    assert!(said.is_sorted_by_key(|event| event.seq));
    let beginning = lango_protocol::Timestamp::from_microseconds(0);
    let used = journal.read_usage(Some(&work), beginning).await.unwrap();
    assert!(
        matches!(used[..], [lango_protocol::Event { body: EventBody::Usage { .. }, .. }]),
        "{used:?}"
    );
    assert_eq!(journal.read_usage(None, beginning).await.unwrap(), used);
    assert_eq!(journal.read_usage(None, lango_protocol::Timestamp::now()).await.unwrap(), []);
    assert_eq!(journal.read_usage(Some(&session("other")), beginning).await.unwrap(), []);
    assert_eq!(journal.count_finished_turns(&work).await.unwrap(), 3);
    assert_eq!(journal.count_finished_turns(&"nothing".parse().unwrap()).await.unwrap(), 0);
    assert_eq!(journal.read_conversation(&work, 0, 0).await.unwrap(), []);
    assert_eq!(journal.read_conversation(&work, 100, 0).await.unwrap().len(), expected.len() + 3);
}

pub(crate) async fn outputs_are_kept_whole(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let long = "zeile\u{0}\n".repeat(200_000);
    let outputs = vec![
        StoredOutput { reference: "a".into(), text: long.clone() },
        StoredOutput { reference: "b".into(), text: String::new() },
    ];
    journal.append(&claim, JournalAppend { outputs, ..JournalAppend::default() }).await.unwrap();
    assert_eq!(journal.read_output(&work, "a").await.unwrap().as_deref(), Some(&*long));
    assert_eq!(journal.read_output(&work, "b").await.unwrap().as_deref(), Some(""));
    assert_eq!(journal.read_output(&work, "c").await.unwrap(), None);
    assert_eq!(journal.read_output(&session("other"), "a").await.unwrap(), None);
}

pub(crate) async fn a_delta_is_not_kept(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let mut events = turn(&work, 1, "a");
    let delta = EventBody::TextDelta { text: "piece".into(), answer: true };
    events.insert(1, event(&work, events[0].turn, 1, delta));
    journal.append(&claim, append(events)).await.unwrap();
    assert_eq!(journal.read_events(&work, 0, 10).await.unwrap().len(), 3);
}

pub(crate) async fn many_sessions_append_at_once(fixture: Fixture) {
    let journal = fixture.journal().await;
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let journal = journal.clone();
            tokio::spawn(async move {
                let id = session(&format!("s{number}"));
                let claim = journal.claim_session(&id, "/w").await.unwrap();
                for n in 0..5 {
                    let events = turn(&id, n * 3 + 1, "x");
                    journal.append(&claim, append(events)).await.unwrap();
                }
                journal.release_claim(claim).await.unwrap();
                let events = journal.read_events(&id, 0, 100).await.unwrap();
                let positions: Vec<_> = events.iter().map(|event| event.seq).collect();
                assert_eq!(positions, (1..=15).collect::<Vec<_>>());
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let sessions = journal.list_sessions(1000).await.unwrap();
    assert_eq!(sessions.len(), 64);
    assert!(sessions.iter().all(|session| session.turns == 5 && !session.unfinished));
}
