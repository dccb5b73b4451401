//! Takes over how the work of steps ended, and stops what takes too long.

use std::collections::BTreeMap;
use std::time::Duration;

use lango_protocol::{Event, EventBody, Timestamp};
use lango_store::Journal;

use super::advance::Advance;
use super::step::StepState;
use super::step_end::{StepEnd, read_step_end};
use crate::AutomatorError;

/// Limits how often a step is begun again because it was interrupted before it had an effect.
const MAX_INTERRUPTION_COUNT: u32 = 100;
/// The reason of a step that is being stopped because it takes too long.
const OVERDUE: &str = "it takes too long, and is being stopped";

impl Advance<'_> {
    /// Takes over how work ended, and stops what takes too long.
    pub(crate) async fn collect_ends(&mut self) -> Result<(), AutomatorError> {
        let journal = &self.workflows.jobs.journal;
        let keys: Vec<(usize, i64)> = self.rows.keys().copied().collect();
        for key in keys {
            let row = &self.rows[&key];
            if row.state != StepState::Started || row.work.is_empty() {
                continue;
            }
            let Some(work) = journal.find_work(&row.work).await? else { continue };
            if work.state.has_ended() {
                let end = read_step_end(journal, &work.session, work.turn).await?;
                self.note_end(key, end);
            } else if let Some(timeout) = self.definition.steps[key.0].timeout {
                let Some(begin) = work.started_at else {
                    self.look_at(self.now.plus(timeout));
                    continue;
                };
                let mut deadline = begin.plus(timeout);
                if deadline <= self.now {
                    // The time that a person takes to answer does not count.
                    let events = journal.read_turn_events(&work.session, work.turn).await?;
                    deadline = deadline.plus(sum_waits(&events, self.now));
                }
                if deadline > self.now {
                    self.look_at(deadline);
                } else {
                    self.statements.extend(Journal::build_cancellation(&work.id));
                    self.change(key, |row| OVERDUE.clone_into(&mut row.reason));
                }
            }
        }
        Ok(())
    }

    fn note_end(&mut self, key: (usize, i64), end: StepEnd) {
        let retry = self.definition.steps[key.0].retry;
        let now = self.now;
        let timeout = self.definition.steps[key.0].timeout;
        self.change(key, |row| {
            let was_overdue = row.reason == OVERDUE;
            let too_long = || {
                let seconds = timeout.map_or(0, |timeout| timeout.as_secs());
                format!("it took longer than {seconds} s")
            };
            let (failure, acted) = match end {
                StepEnd::Done(output) => {
                    row.new_output = Some(output);
                    return row.end(StepState::Done, "", now);
                }
                StepEnd::Unknown(reason) if was_overdue => {
                    return row.end(StepState::Unknown, format!("{}: {reason}", too_long()), now);
                }
                StepEnd::Unknown(reason) => return row.end(StepState::Unknown, reason, now),
                StepEnd::Interrupted if row.attempt <= row.failures + MAX_INTERRUPTION_COUNT => {
                    row.end(StepState::Ready, "", now);
                    return;
                }
                StepEnd::Interrupted => ("it was interrupted too often".to_owned(), None),
                StepEnd::Cancelled { acted } if was_overdue => (too_long(), acted),
                StepEnd::Cancelled { .. } => {
                    return row.end(StepState::Failed, "it was cancelled", now);
                }
                StepEnd::TimedOut { acted } => ("it took longer than a turn may".to_owned(), acted),
                StepEnd::Failed(reason) => (reason, None),
            };
            row.failures += 1;
            if let Some(tool) = acted {
                // What it did must not be done twice.
                let reason =
                    format!("{failure}, and {tool} had run, so that it is not tried again");
                row.end(StepState::Failed, reason, now);
            } else if row.failures < retry.attempts {
                let wait = retry.wait_after(row.failures);
                row.end(StepState::Ready, failure, now);
                row.due_at = Some(now.plus(wait));
            } else {
                row.end(StepState::Failed, failure, now);
            }
        });
    }
}

/// Returns how long a turn has waited for answers to its questions.
fn sum_waits(events: &[Event], now: Timestamp) -> Duration {
    let mut open = BTreeMap::new();
    let mut waited = Duration::ZERO;
    for event in events {
        match &event.body {
            EventBody::ApprovalRequested { call, .. } => {
                open.insert(call, event.at);
            }
            EventBody::ApprovalResolved { call, .. } => {
                let asked = open.remove(call);
                waited += asked.map_or(Duration::ZERO, |asked| event.at.since(asked));
            }
            _ => {}
        }
    }
    waited + open.into_values().map(|asked| now.since(asked)).sum::<Duration>()
}

#[cfg(test)]
mod tests {
    use lango_protocol::{ApprovalDecision, CallId, EventId, SessionId, TurnId};

    use super::*;

    #[test]
    fn the_time_of_open_and_answered_questions_is_summed() {
        let start = Timestamp::from_microseconds(0);
        let at = |seconds| start.plus(Duration::from_secs(seconds));
        let (first, second) = (CallId::generate(), CallId::generate());
        let (session, turn) = (SessionId::generate(), TurnId::generate());
        let event = |seconds, body| Event {
            id: EventId::generate(),
            session: session.clone(),
            turn,
            seq: 1,
            at: at(seconds),
            author: None,
            branch: None,
            step: None,
            body,
        };
        let asked = |call: &CallId| EventBody::ApprovalRequested {
            call: call.clone(),
            tool: "fs_write".to_owned(),
            summary: String::new(),
            digest: String::new(),
            expires_at: None,
            always: Vec::new(),
        };
        let answered = EventBody::ApprovalResolved {
            call: first.clone(),
            decision: ApprovalDecision::Denied,
            by: String::new(),
        };
        let events = [event(10, asked(&first)), event(40, answered), event(50, asked(&second))];
        assert_eq!(sum_waits(&events, at(55)), Duration::from_secs(35));
        assert_eq!(sum_waits(&[], at(55)), Duration::ZERO);
    }
}
