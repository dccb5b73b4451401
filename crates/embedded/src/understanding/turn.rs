//! Understands the newest message of a conversation: a request, or the answer to a question.

use lango_model::{Message, ModelRequest};
use serde::{Deserialize, Serialize};

use super::command_line::read_command;
use super::several::split_actions;
use super::{PlannedCall, Question, RequestReading, StepReadings, Understanding};
use crate::conversation::is_refusal;
use crate::decision::{RequestMeaning, WeightedMeanings};
use crate::reported::is_pasted_letter;

/// A call with the part of the request that it is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedStep {
    /// The part of the request; the same for all calls of one part.
    pub(crate) part: String,
    pub(crate) call: PlannedCall,
}

/// Says what the newest message means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TurnMeaning {
    /// These calls, one after the other.
    Steps(Vec<PlannedStep>),
    /// Something has to be asked first.
    Ask(String),
    /// There is something to say, and nothing to do.
    Say(String),
    /// The user does not want it any more.
    Cancelled,
    /// Nothing here decides it.
    Open,
}

impl Understanding<'_> {
    /// Understands a message, of which `words` is the part that is asked for now.
    pub(crate) fn understand_turn(&self, request: &ModelRequest, words: &str) -> TurnMeaning {
        // What stands in a letter is not what the user wants.
        if is_pasted_letter(words) {
            return TurnMeaning::Ask(crate::talk::stray_line().to_owned());
        }
        if let Some((before, question)) = self.pending_question(request) {
            if is_refusal(words) {
                return TurnMeaning::Cancelled;
            }
            if let Some(understood) = self.answer_question(&before, &question, words) {
                return to_meaning(understood, words);
            }
        }
        // A command between backticks may be one of several actions.
        let is_command = read_command(words, &self.files).is_some()
            && (!words.contains('`') || split_actions(words).len() < 2);
        if !is_command && self.is_for_several_actions(words) {
            match self.understand_steps(words) {
                StepReadings::Steps(steps) => {
                    let steps = steps.into_iter().flat_map(|(part, calls)| {
                        calls.into_iter().map(move |call| PlannedStep { part: part.clone(), call })
                    });
                    return TurnMeaning::Steps(steps.collect());
                }
                StepReadings::Ask(question) => return TurnMeaning::Ask(question.text),
                StepReadings::One => {}
            }
        }
        to_meaning(self.understand(words), words)
    }

    /// Tells whether a text may be taken apart: it asks for something that is done here.
    fn is_for_several_actions(&self, words: &str) -> bool {
        let gist = self.reader.read_gist(words);
        let readings =
            WeightedMeanings::of(self.reader, &gist, self.own, self.colleagues.iter().copied());
        readings.all.first().is_some_and(|first| {
            matches!(
                first.meaning,
                RequestMeaning::Tool { .. } | RequestMeaning::Plan | RequestMeaning::Absent(_)
            )
        })
    }

    /// Returns the question that the newest message may answer, and the request that it was asked about.
    /// It is found by understanding that request again: no text of ours is parsed.
    fn pending_question(&self, request: &ModelRequest) -> Option<(String, Question)> {
        let newest = request.newest_user()?;
        let Message::Assistant { text: asked, .. } = request.messages[..newest].last()? else {
            return None;
        };
        let before = request.messages[..newest].iter().rev().find_map(|message| match message {
            Message::User(message) => Some(message.text.clone()),
            _ => None,
        })?;
        let is_it = |question: &Question| asked.trim() == question.text.trim();
        if self.is_for_several_actions(&before)
            && let StepReadings::Ask(question) = self.understand_steps(&before)
            && is_it(&question)
        {
            return Some((before, question));
        }
        match self.understand(&before) {
            RequestReading::Ask(question) if is_it(&question) => Some((before, question)),
            _ => None,
        }
    }
}

fn to_meaning(understood: RequestReading, words: &str) -> TurnMeaning {
    match understood {
        RequestReading::Calls(calls) => {
            let step = |call| PlannedStep { part: words.to_owned(), call };
            TurnMeaning::Steps(calls.into_iter().map(step).collect())
        }
        RequestReading::Ask(question) => TurnMeaning::Ask(question.text),
        RequestReading::Say(text) => TurnMeaning::Say(text),
        RequestReading::Open => TurnMeaning::Open,
    }
}
