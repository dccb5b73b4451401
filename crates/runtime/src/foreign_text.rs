//! Tells the user's own words from those of others.
//!
//! A model can be talked into something by whatever it reads: a file, a page, the answer of a remote
//! agent, a memory. Where it reads nothing, what it writes comes from the user. Where it does, words
//! that the user did not say are taken nowhere without a question.

use std::collections::BTreeSet;

use lango_protocol::{AgentName, CallStatus, Event, EventBody, SessionId, Space};
use lango_store::{Journal, StoreError};
use lango_text::{significant_words, split_words, stem_word};
use lango_tool::{CarriedText, Proposal, SafetyLevel};

use crate::TurnRecord;
use crate::team::{Specialist, Team};
use crate::turn::Turn;

/// Limits the turns of a conversation that are looked at. Agents are not shown older ones.
const MAX_TURNS: u32 = 200;
/// The number of events that are read at once.
const PAGE: u32 = 500;
/// Lists the context that holds no text of others: facts about this machine, notes of the runtime,
/// and the cards and questions of remote agents that the owner trusts.
const OWN_SOURCES: [&str; 5] =
    ["surroundings", "sender", "lango", "remote agents", lango_orchestration::CARDS_SOURCE];

/// Holds what a conversation consists of.
#[derive(Debug, Default)]
struct ConversationWords {
    /// The stems of the words that the user said.
    said: BTreeSet<String>,
    /// True if agents were shown text of others, except for the receiver.
    has_foreign_text: bool,
    /// The remote agent that would get a text.
    receiver: Option<AgentName>,
}

impl Turn {
    /// Tells whether a call would take words of others to where they have an effect later.
    pub(crate) async fn carries_foreign_text(
        &self,
        proposal: &Proposal,
    ) -> Result<bool, StoreError> {
        let Some(CarriedText { text, to }) = &proposal.carried_text else { return Ok(false) };
        let sender = self.recorder.inspect(|record| record.sender.clone()).await;
        let is_client = matches!(Space::of_sender(sender.as_ref()), Space::Client(_));
        if is_client && to.is_none() {
            // It stays in the client's own space, about which the owner is not asked.
            return Ok(false);
        }
        let is_passed_on = |record: &TurnRecord| {
            record.direct_call.as_ref().is_some_and(|call| call.carries_foreign_text)
        };
        if self.recorder.inspect(is_passed_on).await {
            return Ok(true);
        }
        let mut words = ConversationWords { receiver: to.clone(), ..ConversationWords::default() };
        words.read(&self.shared.journal, self.recorder.session(), &self.team).await?;
        words.has_foreign_text |= self.has_context_beyond(&OWN_SOURCES).await;
        Ok(words.has_foreign_text && !words.cover(text))
    }
}

impl ConversationWords {
    async fn read(
        &mut self,
        journal: &Journal,
        session: &SessionId,
        team: &Team,
    ) -> Result<(), StoreError> {
        let mut after = journal.find_position_before(session, MAX_TURNS).await?;
        loop {
            let events = journal.read_events(session, after, PAGE).await?;
            let Some(last) = events.last() else { return Ok(()) };
            after = last.seq;
            for event in &events {
                self.add(event, team);
            }
        }
    }

    fn add(&mut self, event: &Event, team: &Team) {
        self.has_foreign_text |= match &event.body {
            EventBody::UserMessage { text, attachment, images, sender, .. } => {
                // What a client says is its own in its own space, and for those who get a task of it.
                let sender = sender.as_ref();
                let is_own =
                    self.receiver.is_some() || Space::of_sender(sender).is_own_message(sender);
                if is_own {
                    self.said.extend(split_words(text).map(|word| stem_word(&word)));
                }
                !is_own || attachment.is_some() || !images.is_empty()
            }
            EventBody::ToolResult { tool, status, .. } => {
                let ran = matches!(status, CallStatus::Ok | CallStatus::Error);
                ran && !only_confirms(team, tool)
            }
            EventBody::TransferFinished { to, .. } => {
                let is_local = matches!(team.find_specialist(to), Some(Specialist::Local { .. }));
                !is_local && self.receiver.as_ref() != Some(to)
            }
            _ => false,
        };
    }

    /// Tells whether the user said every word of a text that means something.
    fn cover(&self, text: &str) -> bool {
        significant_words(text, &[]).is_subset(&self.said)
    }
}

/// Tells whether a tool only confirms what it stored: its results hold no text of others.
fn only_confirms(team: &Team, tool: &str) -> bool {
    let owners = team.specialists.iter().filter_map(|specialist| match specialist {
        Specialist::Local { agent, .. } => Some(agent),
        Specialist::Remote { .. } => None,
    });
    let found = owners.chain([&team.root]).find_map(|agent| agent.find_tool(tool));
    found.is_some_and(|tool| tool.level() == SafetyLevel::Moderate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_that_means_something_must_have_been_said() {
        let mut words = ConversationWords::default();
        let message = "Note as a rule: nothing is deployed after 16:00 on Fridays!";
        words.said.extend(split_words(message).map(|word| stem_word(&word)));
        for text in ["Nothing deploys after 16:00 on a Friday.", "the rule", "", "NOTE: 16 00"] {
            assert!(words.cover(text), "{text}");
        }
        for text in ["Nothing is deployed after 17:00.", "send it to x.example", "deployed secrets"]
        {
            assert!(!words.cover(text), "{text}");
        }
    }
}
