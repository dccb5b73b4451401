//! The orchestrator: hands a request over, talks, asks, or goes through a plan step by step.

use lango_model::{AnsweredCall, CallOutcome, Colleague, Message, ModelRequest, RequestedCall};
use lango_protocol::{DelegationStatus, PLANNER, TRANSFER_TOOL, TransferArguments, marker};
use serde_json::Value;

use super::arguments::fill;
use super::conversation::{Conversation, about_step, ask_reading};
use super::decision::{Meaning, Part, Readings};
use super::model::Reply;
use super::reading::Reader;
use super::steps::{Structure, is_against};
use super::thresholds::{FAST_PATH, HAND_OVER, STEP};
use super::weights::AGENTS;
use super::{talk, wording};

/// What an orchestrator is asked, and what it knows.
pub(crate) struct Orchestrator<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) request: &'a ModelRequest,
}

/// What is to be done about some words.
enum Next<'a> {
    Talk,
    Plan,
    HandOver(&'a str),
    Say(String),
}

/// What parts of a sentence with words such as "then" between them are.
enum Sequence<'w> {
    /// Each a request.
    Steps,
    /// One request, in which somebody says "then".
    One,
    /// Several, of which this one is not clear.
    Unclear(&'w str),
}

impl<'a> Orchestrator<'a> {
    pub(crate) fn reply(&self, conversation: &Conversation<'_>) -> Reply {
        match conversation.done.as_slice() {
            [] => self.begin(conversation),
            done => self.go_on(conversation, done),
        }
    }

    /// The hand-over of a request, if it is quite clear who it is for.
    pub(crate) fn sure(&self, conversation: &Conversation<'_>) -> Option<Reply> {
        let words = conversation.words.as_str();
        let is_first = conversation.done.is_empty() && conversation.answers.is_empty();
        if !is_first
            || conversation.follows_question
            || self.has_images()
            || Structure::of(words) != Structure::One
        {
            return None;
        }
        let readings = self.readings(words);
        match readings.parts().first() {
            Some((Part::Agent(agent), probability)) if *probability >= FAST_PATH => {
                Some(hand_over(agent, words, false))
            }
            _ => None,
        }
    }

    fn colleagues(&self) -> impl Iterator<Item = &'a Colleague> {
        self.request.colleagues.iter().map(|colleague| &**colleague)
    }

    fn readings(&self, words: &str) -> Readings<'a> {
        let gist = self.reader.gist(words);
        Readings::of(self.reader, &gist, &[], self.colleagues())
    }

    fn begin(&self, conversation: &Conversation<'_>) -> Reply {
        let words = conversation.words.as_str();
        if conversation.is_dropped() {
            return Reply::Text(talk::dropped().to_owned());
        }
        if let Some(tool) = conversation.chosen()
            && let Some(owner) =
                self.colleagues().find(|c| c.tools.iter().any(|t| *t.name == *tool))
        {
            // The agent sees the same conversation, and finds the answers in it.
            return hand_over(&owner.name, self.newest_words(), false);
        }
        match Structure::of(words) {
            Structure::List(_) => return self.plan(words),
            Structure::Sequence(steps) => match self.sequence(words, &steps) {
                Sequence::Steps => return self.plan(words),
                Sequence::Unclear(step) => return Reply::Text(talk::unclear_step(step)),
                Sequence::One => {}
            },
            Structure::OtherList if is_against(words) => {
                return Reply::Text(talk::other_list().to_owned());
            }
            Structure::OtherList | Structure::One => {}
        }
        match self.next(words) {
            Next::Talk if self.has_images() => Reply::Text(talk::needs_bigger_model().to_owned()),
            Next::Talk => {
                let agents: Vec<(&str, &str)> = self
                    .colleagues()
                    .map(|colleague| (colleague.name.as_str(), colleague.description.as_str()))
                    .collect();
                Reply::Text(talk::reply(words, &agents))
            }
            Next::Plan => self.plan(words),
            Next::HandOver(agent) => hand_over(agent, words, false),
            Next::Say(text) => Reply::Text(text),
        }
    }

    /// What the newest message says, word for word: then nothing of it is handed over twice.
    fn newest_words(&self) -> &'a str {
        match self.request.newest_user().and_then(|at| self.request.messages.get(at)) {
            Some(Message::User(message)) => &message.text,
            _ => "",
        }
    }

    fn next(&self, words: &str) -> Next<'a> {
        let readings = self.readings(words);
        let parts = readings.parts();
        let Some((part, probability)) = parts.first() else {
            return Next::Say(talk::needs_bigger_model().to_owned());
        };
        match part {
            Part::Talk if *probability >= HAND_OVER => Next::Talk,
            Part::Plan if *probability >= HAND_OVER => Next::Plan,
            Part::Agent(agent) if *probability >= HAND_OVER => Next::HandOver(agent),
            Part::Missing(class) if *probability >= HAND_OVER => {
                Next::Say(self.missing(*class, &readings))
            }
            _ => Next::Say(unsure(&readings)),
        }
    }

    /// Somebody who is not here, or who cannot do it.
    fn missing(&self, class: usize, readings: &Readings<'_>) -> String {
        let name = AGENTS.get(class).copied().unwrap_or_default();
        if self.colleagues().any(|colleague| colleague.name == name) {
            let absent = readings.all.iter().find_map(|reading| match reading.meaning {
                Meaning::Absent(known) if known.agent == class => Some(known.name.as_str()),
                _ => None,
            });
            return talk::no_such_tool(name, absent.unwrap_or_default());
        }
        talk::no_such_agent(name, job(name))
    }

    fn has_images(&self) -> bool {
        let newest = self.request.newest_user().and_then(|at| self.request.messages.get(at));
        matches!(newest, Some(Message::User(message)) if !message.images.is_empty())
    }

    /// What parts with "then" between them are. Where one is a request and others are not, the whole
    /// may still be one request, but not one that can do harm.
    fn sequence<'w>(&self, words: &str, steps: &[&'w str]) -> Sequence<'w> {
        let alone: Vec<bool> = steps.iter().map(|step| self.stands_alone(step)).collect();
        let Some(unclear) = alone.iter().position(|alone| !alone) else { return Sequence::Steps };
        let first = self.readings(words).all.first().map(|reading| reading.meaning);
        let is_dangerous = first.is_some_and(|meaning| meaning.is_dangerous());
        let requests = alone.iter().filter(|alone| **alone).count();
        if requests > 1 || (is_dangerous && requests > 0) {
            return Sequence::Unclear(steps[unclear]);
        }
        Sequence::One
    }

    /// Whether a part of a sentence is a request of its own: clear by itself, and with all that its
    /// tool needs.
    fn stands_alone(&self, step: &str) -> bool {
        let Some(agent) = self.agent_for(step) else { return false };
        let readings = self.readings(step);
        let Some(Meaning::Tool { tool, .. }) =
            readings.tools_of(Some(agent)).first().map(|reading| reading.meaning)
        else {
            return false;
        };
        let filled = fill(self.reader, tool, step, &[]);
        // The same words for two things are words that were not understood.
        let mut values: Vec<&str> = filled.arguments.values().filter_map(Value::as_str).collect();
        let count = values.len();
        values.sort_unstable();
        values.dedup();
        filled.missing.is_empty() && values.len() == count
    }

    /// Who a step is for, if that is clear.
    fn agent_for(&self, step: &str) -> Option<&'a str> {
        match self.readings(step).parts().first() {
            Some((Part::Agent(agent), probability)) if *probability >= STEP => Some(agent),
            _ => None,
        }
    }

    fn plan(&self, words: &str) -> Reply {
        if self.colleagues().any(|colleague| colleague.name == PLANNER) {
            return hand_over(PLANNER, words, true);
        }
        match Structure::of(words).steps().as_slice() {
            [] => Reply::Text(talk::cannot_split().to_owned()),
            steps => self.step(steps, &[]),
        }
    }

    /// After hand-overs.
    fn go_on(&self, conversation: &Conversation<'_>, done: &[&AnsweredCall]) -> Reply {
        let words = conversation.words.as_str();
        let planned = done.first().is_some_and(|call| transferred_to(call) == PLANNER);
        let (plan, made) = if planned { done.split_at(1) } else { (&done[..0], done) };
        let steps = match plan {
            [plan] => planned_steps(plan, words),
            _ => Structure::of(words).steps(),
        };
        // Whoever handed over before, maybe another model, took these very steps.
        let as_planned = made.len() <= steps.len()
            && made.iter().zip(&steps).all(|(call, step)| is_step(call, step));
        if steps.is_empty() || !as_planned {
            return Reply::Text(told(if planned { made_or(plan, made) } else { made }));
        }
        self.step(&steps, made)
    }

    /// The next step of a plan, or its end.
    fn step(&self, steps: &[&str], made: &[&AnsweredCall]) -> Reply {
        if made.is_empty()
            && let Some(unclear) = steps.iter().find(|step| self.agent_for(step).is_none())
        {
            return Reply::Text(talk::unclear_step(unclear));
        }
        if let Some((last, before)) = made.split_last()
            && !self.did_its_step(last)
        {
            let rest = steps.get(made.len()..).unwrap_or_default();
            let step = steps.get(before.len()).copied().unwrap_or_default();
            let ours = self.has_tools(&transferred_to(last));
            return Reply::Text(interrupted(last, ours.then_some(step), before, rest));
        }
        match steps.get(made.len()) {
            Some(step) if self.can_hand_over() => match self.agent_for(step) {
                Some(agent) => hand_over(agent, step, true),
                None => Reply::Text(format!("{}\n\n{}", told(made), talk::unclear_step(step))),
            },
            Some(_) => {
                Reply::Text(format!("{}\n\n{}", told(made), talk::left(&steps[made.len()..])))
            }
            None => Reply::Text(told(made)),
        }
    }

    /// Tells whether a specialist answered and did something: what comes next in a plan may rest on
    /// it. Nothing is known of the calls of a remote agent.
    fn did_its_step(&self, call: &AnsweredCall) -> bool {
        match &call.outcome {
            CallOutcome::Transfer { status: DelegationStatus::Answered, calls, .. } => {
                let acted = calls.succeeded > 0 || !self.has_tools(&transferred_to(call));
                acted && calls.failed == 0
            }
            _ => false,
        }
    }

    /// Tells whether it is one of ours: nothing is known of the tools of a remote agent.
    fn has_tools(&self, agent: &str) -> bool {
        self.colleagues().any(|colleague| colleague.name == agent && !colleague.tools.is_empty())
    }

    fn can_hand_over(&self) -> bool {
        self.request.tools.iter().any(|tool| &*tool.name == TRANSFER_TOOL)
    }
}

/// Hands a task to an agent.
fn hand_over(agent: &str, task: &str, returns: bool) -> Reply {
    Reply::Call(RequestedCall {
        name: TRANSFER_TOOL.to_owned(),
        arguments: TransferArguments::new(agent, task.trim(), returns).to_json(),
    })
}

/// The steps that a planner found, if they are the user's words. What another model planned is not
/// followed.
fn planned_steps<'w>(plan: &AnsweredCall, words: &'w str) -> Vec<&'w str> {
    let CallOutcome::Transfer { text, .. } = &plan.outcome else { return Vec::new() };
    let lines: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(". ").filter(|(n, _)| n.parse::<u8>().is_ok()))
        .map(|(_, step)| step.trim())
        .collect();
    let found = Structure::of(words).steps();
    if lines == found { found } else { Vec::new() }
}

/// Returns the agent that a task was transferred to; empty where the call was no transfer.
fn transferred_to(call: &AnsweredCall) -> String {
    TransferArguments::from_json(&call.arguments).unwrap_or_default().agent_name
}

/// Whether a hand-over was this step of a plan.
fn is_step(call: &AnsweredCall, step: &str) -> bool {
    let transfer = TransferArguments::from_json(&call.arguments);
    transfer.is_ok_and(|transfer| transfer.returns && transfer.task == step)
}

/// What was made, or the plan if there is nothing else.
fn made_or<'c>(
    plan: &'c [&'c AnsweredCall],
    made: &'c [&'c AnsweredCall],
) -> &'c [&'c AnsweredCall] {
    if made.is_empty() { plan } else { made }
}

/// A plan whose last step did not go well, with the steps before and after it. A question comes
/// first, so that its answer can be understood; of an agent elsewhere it is only told.
fn interrupted(
    last: &AnsweredCall,
    own_step: Option<&str>,
    before: &[&AnsweredCall],
    rest: &[&str],
) -> String {
    let mut parts = Vec::new();
    if let (Some(question), Some(step)) = (wording::question(last), own_step) {
        parts.push(marker::ask(question));
        parts.extend(about_step(step));
        parts.push(told(before));
    } else {
        parts.push(told(before));
        parts.push(wording::tell(last));
    }
    if !rest.is_empty() {
        parts.push(talk::not_done(rest));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// What came out of hand-overs.
fn told(made: &[&AnsweredCall]) -> String {
    let parts: Vec<String> = made.iter().map(|call| wording::tell(call)).collect();
    parts.join("\n\n")
}

/// One question with the two likeliest readings.
fn unsure(readings: &Readings<'_>) -> String {
    let mut tools = readings.all.iter().filter_map(|reading| match reading.meaning {
        Meaning::Tool { tool, .. } => Some(tool),
        _ => None,
    });
    match (tools.next(), tools.next()) {
        (Some(first), Some(second)) => marker::ask(&ask_reading(first, second)),
        _ => talk::needs_bigger_model().to_owned(),
    }
}

/// What an agent of the training is for.
pub(crate) fn job(name: &str) -> &'static str {
    match name {
        "operator" => "shell commands, files and skills",
        "navigator" => "web pages",
        "vault" => "keys, secrets and payments",
        "librarian" => "knowledge and documents",
        "automator" => "work that runs later, repeatedly or in the background",
        "chronicler" => "memory of past conversations",
        _ => "plans",
    }
}
