//! Asks the agents one after the other whose stores may answer a question.

use lango_model::{AnsweredCall, CallOutcome};
use lango_protocol::DelegationStatus;

use super::{NextAction, Orchestrator, ask_which_reading, transfer_target, transfer_task};
use crate::decision::{RequestMeaning, WeightedMeanings};
use crate::help::answer_like_question;
use crate::misread::LIKE_UNKNOWN_QUESTION;
use crate::model::EmbeddedReply;
use crate::understanding::begins_with_verb;
use crate::{recall, talk};

/// The words from which a text that is neither a question nor an order is a remark.
const MIN_REMARK_WORDS: usize = 7;

/// Tells whether a text is a remark: neither a question, nor an order, nor about a file or a page.
fn tells_something(words: &str) -> bool {
    let names_something = words.split_whitespace().any(|word| {
        word.trim_end_matches(['.', ',', '!', '?']).contains(['.', '/', '_', '@', '#', '`', '"'])
    });
    words.split_whitespace().count() >= MIN_REMARK_WORDS
        && !names_something
        && !recall::is_question(words)
        && !begins_with_verb(words)
}

/// Tells whether a text only exclaims or confirms something: "we hit 10k downloads today!!", "copy that".
pub(super) fn exclaims(words: &str) -> bool {
    const SUBJECTS: [&str; 8] = ["we", "they", "he", "she", "it", "wow", "yes", "finally"];
    const REPLIES: [&str; 5] = ["copy that", "roger that", "got it", "will do", "noted"];
    let reply = words.trim().trim_end_matches(['.', '!', ' ']);
    if REPLIES.iter().any(|known| known.eq_ignore_ascii_case(reply)) {
        return true;
    }
    let first = words.split_whitespace().next().unwrap_or_default().to_lowercase();
    words.trim_end().ends_with("!!") && SUBJECTS.contains(&first.as_str())
}

impl<'a> Orchestrator<'a> {
    /// Looks up a question that is near to no tool; asks what an order means.
    pub(super) fn look_up_or_ask(
        &self,
        words: &str,
        readings: &WeightedMeanings<'_>,
    ) -> NextAction<'a> {
        let owner = |tool: &str| {
            self.colleagues().find(|colleague| colleague.tools.iter().any(|own| *own.name == *tool))
        };
        // A question about the machine is answered by a command, if by anything.
        let is_about_machine = readings.all.iter().find_map(|reading| match reading.meaning {
            RequestMeaning::Tool { tool, .. } => Some(tool.name.starts_with("exec_")),
            _ => None,
        });
        let is_open = recall::is_open_question(words) && is_about_machine != Some(true);
        match recall::LOOKUPS.into_iter().find_map(owner) {
            Some(colleague) if is_open => NextAction::Transfer(&colleague.name),
            _ if tells_something(words) => NextAction::Talk,
            _ => NextAction::Say(ask_which_reading(readings)),
        }
    }

    /// Returns the agent that stored what a question is about, a moment ago.
    pub(super) fn find_store_of(
        &self,
        words: &str,
        readings: &WeightedMeanings<'_>,
    ) -> Option<&'a str> {
        if !recall::is_open_question(words) {
            return None;
        }
        // How long something takes is known to no wallet.
        let is_payment = readings.all.first().is_some_and(|first| match first.meaning {
            RequestMeaning::Tool { tool, .. } => tool.name.starts_with("payment_"),
            _ => false,
        });
        let tool = if is_payment && recall::asks_how_long(words) {
            recall::LOOKUPS[0]
        } else if recall::is_about_user(words) || recall::asks_for_detail_of_user(words) {
            "memory_search"
        } else {
            recall::store_of_subject(words, &self.request.earlier_calls)?
        };
        self.colleagues()
            .find(|colleague| colleague.tools.iter().any(|own| *own.name == *tool))
            .map(|colleague| colleague.name.as_str())
    }

    /// Returns the agent that learns what a text lists: "…, learn that as clip12".
    pub(super) fn find_teacher(&self, words: &str) -> Option<&'a str> {
        const TEACHES: [&str; 6] = [
            "teach yourself",
            "learn that as",
            "learn this as",
            "lern that as",
            "as a skill",
            "make it a skill",
        ];
        let lower = words.to_lowercase();
        if !TEACHES.iter().any(|phrase| lower.contains(phrase)) {
            return None;
        }
        let owner = self
            .colleagues()
            .find(|colleague| colleague.tools.iter().any(|own| &*own.name == "create_skill"));
        owner.map(|colleague| colleague.name.as_str())
    }

    /// Asks the next agent whose store may answer a question, after others that know nothing.
    pub(super) fn look_further(
        &self,
        words: &str,
        done: &[&AnsweredCall],
    ) -> Option<EmbeddedReply> {
        let is_rejected = |call: &&AnsweredCall| {
            let status = match &call.outcome {
                CallOutcome::Transfer { status, .. } => *status,
                CallOutcome::Tool { .. } => return false,
            };
            status == DelegationStatus::Rejected
        };
        if !recall::is_open_question(words) || !done.iter().all(is_rejected) {
            return None;
        }
        let was_asked = |agent: &str| done.iter().any(|call| transfer_target(call) == agent);
        let owner = |tool: &str| {
            self.colleagues().find(|colleague| {
                colleague.tools.iter().any(|own| *own.name == *tool) && !was_asked(&colleague.name)
            })
        };
        if self.can_transfer()
            && let Some(colleague) = recall::LOOKUPS.into_iter().find_map(owner)
        {
            return Some(transfer_task(&colleague.name, words, false));
        }
        if self.can_transfer()
            && let Some(colleague) = owner("fs_search")
            && let Some(request) = recall::find_in_files(words, self.surroundings)
        {
            return Some(transfer_task(&colleague.name, &request, false));
        }
        let answer = answer_like_question(words, LIKE_UNKNOWN_QUESTION)
            .unwrap_or_else(talk::unknown_answer_line);
        Some(EmbeddedReply::Text(answer.to_owned()))
    }
}
