//! Tests pending approval requests.

use std::time::Duration;

use lango_protocol::{ApprovalDecision, CallId, Event, EventBody, SessionId, Timestamp, TurnId};
use lango_store::{AnswerOutcome, ApprovalAnswerRow};

use crate::fixture::Fixture;
use crate::samples::{append, event, session, user};

const EXPIRY_DELAY: Duration = Duration::from_mins(1);

fn question(work: &SessionId, turn: TurnId, seq: u64, call: &CallId, digest: &str) -> Event {
    let body = EventBody::ApprovalRequested {
        call: call.clone(),
        tool: "exec_shell".into(),
        summary: "run".into(),
        digest: digest.into(),
        expires_at: Some(Timestamp::now().plus(EXPIRY_DELAY)),
        always: Vec::new(),
    };
    event(work, turn, seq, body)
}

fn answer(decision: ApprovalDecision, by: &str) -> ApprovalAnswerRow {
    ApprovalAnswerRow { decision, always: false, by: by.to_owned() }
}

pub(crate) async fn the_first_answer_counts(fixture: Fixture) {
    let journal = fixture.journal().await;
    let (work, call) = (session("work"), CallId::generate());
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let turn = TurnId::generate();
    let events = vec![event(&work, turn, 1, user("do it")), question(&work, turn, 2, &call, "aa")];
    journal.append(&claim, append(events.clone())).await.unwrap();
    // Another process sees it.
    let other = fixture.journal().await;
    let pending = other.list_pending_approvals().await.unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!((&pending[0].event, &pending[0].answer), (&events[1], &None));
    assert!(!pending[0].is_expired());
    let yes = answer(ApprovalDecision::Approved, "one");
    let no = answer(ApprovalDecision::Denied, "two");
    let stranger = CallId::generate();
    for (call, digest) in [(&call, "bb"), (&stranger, "aa")] {
        let outcome = other.answer_approval(call, digest, &yes).await.unwrap();
        assert_eq!(outcome, AnswerOutcome::TooLate, "bound to what was shown");
    }
    let outcome = other.answer_approval(&call, "aa", &yes).await.unwrap();
    assert_eq!(outcome, AnswerOutcome::Accepted);
    let outcome = journal.answer_approval(&call, "aa", &no).await.unwrap();
    assert_eq!(outcome, AnswerOutcome::TooLate);
    assert_eq!(journal.find_approval_answer(&call, "aa").await.unwrap(), Some(yes));
    assert_eq!(journal.find_approval_answer(&call, "bb").await.unwrap(), None);
    let resolved = EventBody::ApprovalResolved {
        call: call.clone(),
        decision: ApprovalDecision::Approved,
        by: "one".into(),
    };
    journal.append(&claim, append(vec![event(&work, turn, 3, resolved)])).await.unwrap();
    assert_eq!(other.list_pending_approvals().await.unwrap(), []);
    let outcome = other.answer_approval(&call, "aa", &no).await.unwrap();
    assert_eq!(outcome, AnswerOutcome::TooLate);
}

pub(crate) async fn of_many_answers_one_counts(fixture: Fixture) {
    let journal = fixture.journal().await;
    let (work, call) = (session("work"), CallId::generate());
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let turn = TurnId::generate();
    let events = vec![event(&work, turn, 1, user("do it")), question(&work, turn, 2, &call, "aa")];
    journal.append(&claim, append(events)).await.unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let (fixture, call) = (fixture.clone(), call.clone());
            tokio::spawn(async move {
                let answer = answer(ApprovalDecision::Approved, &number.to_string());
                fixture.journal().await.answer_approval(&call, "aa", &answer).await.unwrap()
            })
        })
        .collect();
    let mut accepted = 0;
    for task in tasks {
        accepted += u32::from(task.await.unwrap() == AnswerOutcome::Accepted);
    }
    assert_eq!(accepted, 1);
}

pub(crate) async fn asked_again_an_answer_holds_for_the_same_thing_only(fixture: Fixture) {
    let journal = fixture.journal().await;
    let (work, call) = (session("work"), CallId::generate());
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let turn = TurnId::generate();
    let events = vec![event(&work, turn, 1, user("do it")), question(&work, turn, 2, &call, "aa")];
    journal.append(&claim, append(events)).await.unwrap();
    let yes = answer(ApprovalDecision::Approved, "one");
    journal.answer_approval(&call, "aa", &yes).await.unwrap();
    let again = question(&work, turn, 3, &call, "aa");
    journal.append(&claim, append(vec![again])).await.unwrap();
    assert_eq!(journal.find_approval_answer(&call, "aa").await.unwrap(), Some(yes));
    let changed = question(&work, turn, 4, &call, "bb");
    journal.append(&claim, append(vec![changed])).await.unwrap();
    assert_eq!(journal.find_approval_answer(&call, "aa").await.unwrap(), None);
    assert_eq!(journal.find_approval_answer(&call, "bb").await.unwrap(), None);
}

pub(crate) async fn an_expired_question_takes_no_answer(fixture: Fixture) {
    let journal = fixture.journal().await;
    let (work, call) = (session("work"), CallId::generate());
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let turn = TurnId::generate();
    let mut late = question(&work, turn, 2, &call, "aa");
    if let EventBody::ApprovalRequested { expires_at, .. } = &mut late.body {
        *expires_at = Some(Timestamp::from_microseconds(1));
    }
    let events = vec![event(&work, turn, 1, user("do it")), late];
    journal.append(&claim, append(events)).await.unwrap();
    let yes = answer(ApprovalDecision::Approved, "one");
    let outcome = journal.answer_approval(&call, "aa", &yes).await.unwrap();
    assert_eq!(outcome, AnswerOutcome::TooLate);
    assert!(journal.list_pending_approvals().await.unwrap()[0].is_expired());
    // The request is deleted with its session.
    journal.release_claim(claim).await.unwrap();
    assert!(journal.delete_session(&work).await.unwrap());
    assert_eq!(journal.list_pending_approvals().await.unwrap(), []);
}
