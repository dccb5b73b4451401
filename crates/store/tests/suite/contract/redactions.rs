//! Tests redactions of the journal.

use lango_protocol::{CallId, Event, EventBody, OutcomeStatus, TurnId};
use lango_store::{JournalAppend, Redaction, RedactionReport, StoredOutput};
use lango_text::hex;
use sha2::{Digest as _, Sha256};

use crate::fixture::Fixture;
use crate::samples::{append, event, every_body, finished, session, turn, user};

struct Word(&'static str);

impl Redaction for Word {
    fn concerns(&self, raw: &str) -> bool {
        raw.contains(self.0)
    }

    fn redact(&self, text: &str) -> Option<String> {
        text.contains(self.0).then(|| text.replace(self.0, "[gone]"))
    }
}

fn read_of(path: &str) -> EventBody {
    let arguments = format!("{{\"path\":\"{path}\"}}");
    EventBody::ToolCall {
        call: CallId::generate(),
        tool: "fs_read".into(),
        arguments,
        read_only: true,
    }
}

pub(crate) async fn words_go_from_every_text_and_events_stay(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let id = TurnId::generate();
    let bodies: Vec<EventBody> = std::iter::once(user("about a 🦀"))
        .chain(every_body().into_iter().skip(1))
        .chain([read_of("🦀"), finished(OutcomeStatus::Done)])
        .collect();
    let events: Vec<_> = (1..).zip(bodies).map(|(seq, body)| event(&work, id, seq, body)).collect();
    let outputs = vec![
        StoredOutput { reference: "o1".into(), text: "long \u{0} text with 🦀".into() },
        StoredOutput { reference: "o2".into(), text: "image🦀".into() },
    ];
    journal.append(&claim, JournalAppend { outputs, ..append(events.clone()) }).await.unwrap();
    let before = journal.redactions();
    let done = journal.redact(&Word("🦀")).await.unwrap();
    assert!(done.places > 5 && done.open == 0, "{done:?}");
    assert_eq!(journal.redactions(), before + 1);
    let after = journal.read_events(&work, 0, 1000).await.unwrap();
    assert_eq!(after.len(), events.len());
    for (old, new) in events.iter().zip(&after) {
        assert_eq!((old.id, old.seq, old.at, old.turn), (new.id, new.seq, new.at, new.turn));
        assert_eq!(old.body.type_name(), new.body.type_name());
        let text = serde_json::to_string(&new.body).unwrap();
        let reference =
            matches!(&new.body, EventBody::UserMessage { images, .. } if !images.is_empty());
        assert!(reference || !text.contains('🦀'), "{text}");
    }
    // Calls and approvals keep a digest of what they were, the same after another redaction.
    let kept = journal.list_redacted_events(&work).await.unwrap();
    let digest = |event: &Event| hex(Sha256::digest(serde_json::to_string(&event.body).unwrap()));
    let audited = |event: &&Event| {
        matches!(event.body.type_name(), "tool_call" | "approval_requested" | "approval_resolved")
            || matches!(event.body, EventBody::UserMessage { call: Some(_), .. })
    };
    let changed = events.iter().zip(&after).filter(|(old, new)| old.body != new.body);
    let expected: Vec<(u64, String)> = changed
        .map(|(old, _)| old)
        .filter(audited)
        .map(|event| (event.seq, digest(event)))
        .collect();
    assert!(expected.len() >= 2);
    let found: Vec<_> = kept.into_iter().map(|event| (event.seq, event.digest)).collect();
    assert_eq!(found, expected);
    let output = journal.read_output(&work, "o1").await.unwrap().unwrap();
    assert_eq!(output, "long \u{0} text with [gone]");
    assert_eq!(
        journal.read_output(&work, "o2").await.unwrap().unwrap(),
        "image🦀",
        "one word: an image"
    );
    assert_eq!(journal.find_session(&work).await.unwrap().unwrap().title, "about a [gone]");
    assert_eq!(
        journal.redact(&Word("🦀")).await.unwrap(),
        RedactionReport::default(),
        "it is done"
    );
}

pub(crate) async fn a_turn_that_runs_is_left_alone_until_it_ends(fixture: Fixture) {
    let journal = fixture.journal().await;
    let (work, other) = (session("work"), session("a-other"));
    let claim = journal.claim_session(&other, "/w").await.unwrap();
    for number in 0..400 {
        journal.append(&claim, append(turn(&other, number * 3 + 1, "a pelican"))).await.unwrap();
    }
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let id = TurnId::generate();
    let first = event(&work, id, 1, user("forget the pelican"));
    journal.append(&claim, append(vec![first])).await.unwrap();
    let done = journal.redact(&Word("pelican")).await.unwrap();
    // The titles of both sessions; the events of the one that has ended.
    assert_eq!(done, RedactionReport { places: 402, open: 1 });
    let end = event(&work, id, 2, finished(OutcomeStatus::Done));
    journal.append(&claim, append(vec![end])).await.unwrap();
    let done = journal.redact(&Word("pelican")).await.unwrap();
    assert_eq!(done, RedactionReport { places: 1, open: 0 });
}

pub(crate) async fn what_was_said_is_read_from_a_position(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    for number in 0..5 {
        journal.append(&claim, append(turn(&work, number * 3 + 1, "x"))).await.unwrap();
    }
    let open = event(&work, TurnId::generate(), 16, user("not yet"));
    journal.append(&claim, append(vec![open])).await.unwrap();
    let seqs = |after, limit| {
        let (journal, work) = (journal.clone(), work.clone());
        async move {
            let events = journal.read_messages_after(&work, after, limit).await.unwrap();
            events.iter().map(|event| event.seq).collect::<Vec<u64>>()
        }
    };
    assert_eq!(seqs(0, 100).await, (1..=15).collect::<Vec<u64>>());
    assert_eq!(seqs(12, 2).await, [13, 14]);
    assert_eq!(journal.find_position_before(&work, 2).await.unwrap(), 9);
    assert_eq!(journal.find_position_before(&work, 5).await.unwrap(), 0);
}
