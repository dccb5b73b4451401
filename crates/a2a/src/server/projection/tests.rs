//! Tests the fold: whatever a turn does, the updates of its stream add up to the task.

use lango_protocol::{
    ApprovalDecision, EventId, FailureClass, MessageOrigin, Outcome, OutcomeStatus, SessionId,
    TurnId, WorkDone,
};
use proptest::prelude::*;

use super::*;

/// An action of an agent.
#[derive(Debug, Clone)]
enum Action {
    Say(String),
    Stumble,
    Remark,
    Call,
    Ask,
    Transfer { returns: bool, several: bool },
}

struct TurnScript {
    turn: TurnId,
    seq: u64,
    step: u32,
    branch: Option<CallId>,
    /// True if the current speaker talks to the caller.
    answers: bool,
    streamed_text: String,
    events: Vec<Event>,
}

impl TurnScript {
    fn new(text: &str) -> Self {
        let mut script = Self {
            turn: TurnId::generate(),
            seq: 0,
            step: 1,
            branch: None,
            answers: true,
            streamed_text: String::new(),
            events: Vec::new(),
        };
        let (text, origin) = (text.to_owned(), MessageOrigin::A2a);
        script.add(EventBody::UserMessage {
            text,
            attachment: None,
            images: vec![],
            origin,
            sender: None,
            call: None,
        });
        script
    }

    fn of(acts: &[Action], status: OutcomeStatus) -> Self {
        let mut script = Self::new("hello");
        for act in acts {
            script.act(act);
        }
        script.finish(status);
        script
    }

    fn add(&mut self, body: EventBody) {
        self.seq += u64::from(body.is_durable());
        let session: SessionId = "test".parse().unwrap();
        self.events.push(Event {
            id: EventId::generate(),
            session,
            turn: self.turn,
            seq: self.seq,
            at: Timestamp::from_microseconds(
                1_000_000 + i64::try_from(self.events.len()).unwrap() * 1000,
            ),
            author: None,
            branch: self.branch.clone(),
            step: Some(self.step),
            body,
        });
    }

    fn act(&mut self, act: &Action) {
        match act {
            Action::Say(text) => {
                self.streamed_text.push_str(text);
                let answer = self.answers;
                self.add(EventBody::TextDelta { text: text.clone(), answer });
            }
            Action::Stumble => {
                self.streamed_text.clear();
                let [model, fault, reason, next] = ["m", "f", "r", "n"].map(str::to_owned);
                self.add(EventBody::Setback { model, fault, reason, next, wait_milliseconds: 0 });
            }
            Action::Remark => {
                let text = std::mem::take(&mut self.streamed_text);
                self.add(EventBody::Message { text, answer: false });
                self.step += 1;
            }
            Action::Call => {
                let (tool, arguments) = ("fs_stat".to_owned(), "{}".to_owned());
                self.add(EventBody::ToolCall {
                    call: CallId::generate(),
                    tool,
                    arguments,
                    read_only: true,
                });
                self.streamed_text.clear();
                self.step += 1;
            }
            Action::Ask => {
                let call = CallId::generate();
                let (tool, summary, digest) =
                    ("exec_shell".to_owned(), String::new(), String::new());
                let asked = call.clone();
                self.add(EventBody::ApprovalRequested {
                    call: asked,
                    tool,
                    summary,
                    digest,
                    expires_at: None,
                    always: vec![],
                });
                let decision = ApprovalDecision::Approved;
                self.add(EventBody::ApprovalResolved {
                    call,
                    decision,
                    by: "the owner".to_owned(),
                });
            }
            Action::Transfer { returns, several } => {
                let back = self.branch.take().is_some();
                let calls = [CallId::generate(), CallId::generate()];
                let count = if *several { 2 } else { 1 };
                for call in &calls[..count] {
                    let (call, to, task) =
                        (call.clone(), "planner".parse().unwrap(), String::new());
                    self.add(EventBody::Transfer {
                        call,
                        to,
                        task,
                        returns: *returns,
                        round: 1,
                        decided_by: None,
                    });
                }
                self.streamed_text.clear();
                self.step += 1;
                if !back {
                    self.branch = Some(calls[0].clone());
                }
                self.answers = back || (!returns && !several);
            }
        }
    }

    fn finish(&mut self, status: OutcomeStatus) {
        let text = match status {
            OutcomeStatus::Done if !self.streamed_text.trim().is_empty() => {
                std::mem::take(&mut self.streamed_text)
            }
            _ => "In the end.".to_owned(),
        };
        self.add(EventBody::Message { text, answer: true });
        self.branch = None;
        self.add(EventBody::TurnFinished(Outcome { status, work: WorkDone::default() }));
    }
}

fn fold(events: &[Event], revealed: bool) -> (Projection, Vec<StreamResponse>) {
    let mut projection = Projection::new("t", "c", 0, revealed);
    let mut said = projection.begin_turn(1, "m", 0);
    for event in events {
        said.extend(projection.apply(event));
    }
    (projection, said)
}

/// Returns what a client knows after it applied every update to its state.
fn applied(mut task: Option<Task>, updates: &[StreamResponse]) -> Option<Task> {
    for update in updates {
        match update {
            StreamResponse::Task(whole) => task = Some(whole.clone()),
            StreamResponse::Message(_) => {}
            StreamResponse::StatusUpdate(update) => {
                task.as_mut().unwrap().status = update.status.clone();
            }
            StreamResponse::ArtifactUpdate(update) => {
                let artifacts = task.as_mut().unwrap().artifacts.get_or_insert_default();
                let id = &update.artifact.artifact_id;
                let known = artifacts.iter_mut().find(|artifact| artifact.artifact_id == *id);
                match known {
                    None => {
                        assert_ne!(update.append, Some(true), "something is appended to nothing");
                        artifacts.push(update.artifact.clone());
                    }
                    Some(known) if update.append == Some(true) => {
                        let more = update.artifact.parts[0].as_text().unwrap();
                        let text = known.parts[0].as_text().unwrap().to_owned() + more;
                        known.parts = vec![Part::text(text)];
                    }
                    Some(known) => *known = update.artifact.clone(),
                }
            }
        }
    }
    task
}

fn acts() -> impl Strategy<Value = Vec<Action>> {
    let act = prop_oneof![
        12 => "[a-z ]{1,20}|[a-z ]{60,120}|```json|\\[a|\n".prop_map(Action::Say),
        1 => Just(Action::Stumble),
        1 => Just(Action::Remark),
        1 => Just(Action::Call),
        1 => Just(Action::Ask),
        2 => (any::<bool>(), any::<bool>())
            .prop_map(|(returns, several)| Action::Transfer { returns, several }),
    ];
    proptest::collection::vec(act, 0..14)
}

fn statuses() -> impl Strategy<Value = OutcomeStatus> {
    prop_oneof![
        3 => Just(OutcomeStatus::Done),
        1 => Just(OutcomeStatus::NeedsInput),
        1 => Just(OutcomeStatus::Cancelled),
        1 => Just(OutcomeStatus::Failed { class: FailureClass::Provider, reason: "secret".into() }),
    ]
}

proptest! {
    /// Cut at any point, the snapshot plus the following updates equal the task, and so does the
    /// uncut stream.
    #[test]
    fn a_snapshot_and_what_follows_it_are_the_task(
        acts in acts(), status in statuses(), revealed: bool,
    ) {
        let script = TurnScript::of(&acts, status.clone());
        let (whole, said) = fold(&script.events, revealed);
        if whole.message().is_some() {
            prop_assert_eq!(said.len(), 1, "a message is alone");
            return Ok(());
        }
        let expected = whole.snapshot_task();
        for cut in 0..=script.events.len() {
            let (mut projection, before) = fold(&script.events[..cut], revealed);
            let snapshot = projection.is_revealed().then(|| projection.snapshot_task());
            let after: Vec<StreamResponse> =
                script.events[cut..].iter().flat_map(|event| projection.apply(event)).collect();
            prop_assert_eq!([before, after.clone()].concat(), said.clone(), "the same words");
            let seen = applied(snapshot, &after).unwrap();
            prop_assert_eq!(&seen.status, &expected.status);
            if status == OutcomeStatus::Done {
                prop_assert_eq!(&seen.artifacts, &expected.artifacts, "cut at {}", cut);
            }
        }
    }

    /// Streamed text makes no difference in the end: the journal alone gives the same task.
    #[test]
    fn the_journal_alone_gives_the_same_task(acts in acts(), status in statuses()) {
        let script = TurnScript::of(&acts, status);
        let kept: Vec<Event> =
            script.events.iter().filter(|event| event.body.is_durable()).cloned().collect();
        let (live, _) = fold(&script.events, false);
        let (read, _) = fold(&kept, false);
        prop_assert_eq!(live.message(), read.message());
        prop_assert_eq!(live.snapshot_task(), read.snapshot_task());
    }

    /// States only advance, and the last one is sent.
    #[test]
    fn states_never_go_back(acts in acts(), status in statuses()) {
        let script = TurnScript::of(&acts, status);
        let (_, said) = fold(&script.events, true);
        let rank = |state: &TaskState| match state {
            TaskState::Submitted => 0,
            TaskState::Working | TaskState::InputRequired => 1,
            _ => 2,
        };
        let ranks: Vec<i32> = said.iter().filter_map(|update| match update {
            StreamResponse::StatusUpdate(update) => Some(rank(&update.status.state)),
            StreamResponse::Task(task) => Some(rank(&task.status.state)),
            _ => None,
        }).collect();
        prop_assert!(ranks.is_sorted(), "{:?}", ranks);
    }
}

#[test]
fn words_of_agents_that_do_not_speak_to_the_caller_are_not_said() {
    for (returns, several) in [(true, false), (false, true)] {
        let mut script = TurnScript::new("hello");
        script.act(&Action::Transfer { returns, several });
        script.act(&Action::Say("between us ".repeat(30)));
        script.act(&Action::Say(" two".to_owned()));
        let (_, said) = fold(&script.events, false);
        assert!(!said.iter().any(|update| matches!(update, StreamResponse::ArtifactUpdate(_))));
    }
}

#[test]
fn why_a_turn_failed_stays_here() {
    let mut script = TurnScript::new("hello");
    script.finish(OutcomeStatus::Failed { class: FailureClass::Provider, reason: "secret".into() });
    let (projection, _) = fold(&script.events, false);
    assert_eq!(projection.state(), &TaskState::Failed);
    assert!(!serde_json::to_string(&projection.snapshot_task()).unwrap().contains("secret"));
}

#[test]
fn words_that_became_void_are_replaced_and_in_no_snapshot() {
    let mut script = TurnScript::new("hello");
    script.act(&Action::Transfer { returns: false, several: false });
    for _ in 0..4 {
        script.act(&Action::Say("void words ".repeat(10)));
    }
    let (before, _) = fold(&script.events, false);
    assert!(before.snapshot_task().artifacts.is_some());
    script.act(&Action::Stumble);
    let (after, said) = fold(&script.events, false);
    assert_eq!(after.snapshot_task().artifacts, None);
    for _ in 0..4 {
        script.act(&Action::Say("better words ".repeat(10)));
    }
    let (_, more) = fold(&script.events, false);
    let StreamResponse::ArtifactUpdate(next) = &more[said.len()] else { panic!("{more:?}") };
    assert_eq!(next.append, Some(false));
    assert!(next.artifact.parts[0].as_text().is_some_and(|text| text.starts_with("better")));
}

#[test]
fn an_end_that_was_told_stays_whatever_the_turn_says_later() {
    let mut projection = Projection::new("t", "c", 0, true);
    projection.begin_turn(1, "m", 0);
    for event in &TurnScript::of(&[Action::Call], OutcomeStatus::Done).events {
        projection.apply(event);
    }
    assert!(projection.state().is_terminal());
    assert_eq!(projection.force_end(ForcedEnd::Canceled, 2000).len(), 1);
    assert_eq!(projection.state(), &TaskState::Canceled);
    assert!(projection.force_end(ForcedEnd::Canceled, 2000).is_empty());
}
