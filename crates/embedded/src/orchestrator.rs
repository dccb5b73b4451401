//! Answers as the orchestrator: it transfers a request, talks, asks, or runs a plan step by step.

use lango_model::{AnsweredCall, CallOutcome, Colleague, Message, ModelRequest, RequestedCall};
use lango_protocol::{DelegationStatus, PLANNER, TRANSFER_TOOL, TransferArguments, marker};

use super::arguments::{Argument, fill};
use super::conversation::{Conversation, about_step, ask_reading};
use super::decision::{Meaning, Part, Readings};
use super::model::Reply;
use super::reading::Reader;
use super::steps::{Structure, is_negated};
use super::thresholds::{FAST_PATH, STEP, TRANSFER};
use super::weights::AGENTS;
use super::{talk, wording};

/// Holds the request to an orchestrator and the reader.
pub(crate) struct Orchestrator<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) request: &'a ModelRequest,
}

/// Says what to do about a text.
enum NextAction<'a> {
    Talk,
    Plan,
    Transfer(&'a str),
    Say(String),
}

/// Classifies the parts of a sentence with words such as "then" between them.
enum Sequence<'w> {
    /// Each a request.
    Steps,
    /// One request, in which the word "then" occurs.
    One,
    /// Several, of which this one is not clear.
    Unclear(&'w str),
}

impl<'a> Orchestrator<'a> {
    pub(crate) fn reply(&self, conversation: &Conversation<'_>) -> Reply {
        match conversation.done.as_slice() {
            [] => self.begin(conversation),
            done => self.continue_turn(conversation, done),
        }
    }

    /// Returns the transfer of a request, if its target is clear.
    pub(crate) fn clear_transfer(&self, conversation: &Conversation<'_>) -> Option<Reply> {
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
                Some(transfer(agent, words, false))
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
        if conversation.is_cancelled() {
            return Reply::Text(talk::cancelled().to_owned());
        }
        if let Some(tool) = conversation.chosen_tool()
            && let Some(owner) =
                self.colleagues().find(|c| c.tools.iter().any(|t| *t.name == *tool))
        {
            // The agent sees the same conversation, and finds the answers in it.
            return transfer(&owner.name, self.newest_words(), false);
        }
        match Structure::of(words) {
            Structure::List(_) => return self.plan(words),
            Structure::Sequence(steps) => match self.sequence(words, &steps) {
                Sequence::Steps => return self.plan(words),
                Sequence::Unclear(step) => return Reply::Text(talk::unclear_step(step)),
                Sequence::One => {}
            },
            Structure::OtherList if is_negated(words) => {
                return Reply::Text(talk::other_list().to_owned());
            }
            Structure::OtherList | Structure::One => {}
        }
        match self.next(words) {
            NextAction::Talk if self.has_images() => {
                Reply::Text(talk::needs_bigger_model().to_owned())
            }
            NextAction::Talk => {
                let agents: Vec<(&str, &str)> = self
                    .colleagues()
                    .map(|colleague| (colleague.name.as_str(), colleague.description.as_str()))
                    .collect();
                Reply::Text(talk::reply(words, &agents))
            }
            NextAction::Plan => self.plan(words),
            NextAction::Transfer(agent) => transfer(agent, words, false),
            NextAction::Say(text) => Reply::Text(text),
        }
    }

    /// Returns the newest message verbatim, so that no part of it is transferred twice.
    fn newest_words(&self) -> &'a str {
        match self.request.newest_user().and_then(|at| self.request.messages.get(at)) {
            Some(Message::User(message)) => &message.text,
            _ => "",
        }
    }

    fn next(&self, words: &str) -> NextAction<'a> {
        let readings = self.readings(words);
        let parts = readings.parts();
        let Some((part, probability)) = parts.first() else {
            return NextAction::Say(talk::needs_bigger_model().to_owned());
        };
        match part {
            Part::Talk if *probability >= TRANSFER => NextAction::Talk,
            Part::Plan if *probability >= TRANSFER => NextAction::Plan,
            Part::Agent(agent) if *probability >= TRANSFER => NextAction::Transfer(agent),
            Part::Missing(class) if *probability >= TRANSFER => {
                NextAction::Say(self.explain_missing(*class, &readings))
            }
            _ => NextAction::Say(ask_which_reading(&readings)),
        }
    }

    /// Explains that an agent is missing, or lacks the tool.
    fn explain_missing(&self, class: usize, readings: &Readings<'_>) -> String {
        let name = AGENTS.get(class).copied().unwrap_or_default();
        if self.colleagues().any(|colleague| colleague.name == name) {
            let absent = readings.all.iter().find_map(|reading| match reading.meaning {
                Meaning::Absent(known) if known.agent == class => Some(known.name.as_str()),
                _ => None,
            });
            return talk::no_such_tool(name, absent.unwrap_or_default());
        }
        talk::no_such_agent(name, agent_purpose(name))
    }

    fn has_images(&self) -> bool {
        let newest = self.request.newest_user().and_then(|at| self.request.messages.get(at));
        matches!(newest, Some(Message::User(message)) if !message.images.is_empty())
    }

    /// Classifies parts with "then" between them. Where one is a request and others are not, the
    /// whole may still be one request, but not a dangerous one.
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

    /// Tells whether a part of a sentence is a request of its own: clear by itself, and with all
    /// that its tool needs.
    fn stands_alone(&self, step: &str) -> bool {
        let Some(agent) = self.agent_for(step) else { return false };
        let readings = self.readings(step);
        let Some(Meaning::Tool { tool, .. }) =
            readings.tools_of(Some(agent)).first().map(|reading| reading.meaning)
        else {
            return false;
        };
        let filled = fill(self.reader, tool, step, &[]);
        // Two arguments with the same text mean that it was not understood.
        let mut values: Vec<&str> =
            filled.arguments.values().filter_map(Argument::as_text).collect();
        let count = values.len();
        values.sort_unstable();
        values.dedup();
        filled.missing.is_empty() && values.len() == count
    }

    /// Returns the agent that a step is for, if that is clear.
    fn agent_for(&self, step: &str) -> Option<&'a str> {
        match self.readings(step).parts().first() {
            Some((Part::Agent(agent), probability)) if *probability >= STEP => Some(agent),
            _ => None,
        }
    }

    fn plan(&self, words: &str) -> Reply {
        if self.colleagues().any(|colleague| colleague.name == PLANNER) {
            return transfer(PLANNER, words, true);
        }
        match Structure::of(words).steps().as_slice() {
            [] => Reply::Text(talk::cannot_split().to_owned()),
            steps => self.step(steps, &[]),
        }
    }

    /// Continues after transfers.
    fn continue_turn(&self, conversation: &Conversation<'_>, done: &[&AnsweredCall]) -> Reply {
        let words = conversation.words.as_str();
        let planned = done.first().is_some_and(|call| transferred_to(call) == PLANNER);
        let (plan, made) = if planned { done.split_at(1) } else { (&done[..0], done) };
        let steps = match plan {
            [plan] => planned_steps(plan, words),
            _ => Structure::of(words).steps(),
        };
        // An earlier model may have made the transfers; they have to be these very steps.
        let as_planned = made.len() <= steps.len()
            && made.iter().zip(&steps).all(|(call, step)| is_step(call, step));
        if steps.is_empty() || !as_planned {
            return Reply::Text(report_results(if planned { made_or(plan, made) } else { made }));
        }
        self.step(&steps, made)
    }

    /// Returns the next step of a plan, or its end.
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
            return Reply::Text(report_interrupted(last, ours.then_some(step), before, rest));
        }
        match steps.get(made.len()) {
            Some(step) if self.can_transfer() => match self.agent_for(step) {
                Some(agent) => transfer(agent, step, true),
                None => {
                    Reply::Text(format!("{}\n\n{}", report_results(made), talk::unclear_step(step)))
                }
            },
            Some(_) => Reply::Text(format!(
                "{}\n\n{}",
                report_results(made),
                talk::not_allowed(&steps[made.len()..])
            )),
            None => Reply::Text(report_results(made)),
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

    fn can_transfer(&self) -> bool {
        self.request.tools.iter().any(|tool| &*tool.name == TRANSFER_TOOL)
    }
}

/// Transfers a task to an agent.
fn transfer(agent: &str, task: &str, returns: bool) -> Reply {
    Reply::Call(RequestedCall {
        name: TRANSFER_TOOL.to_owned(),
        arguments: TransferArguments::new(agent, task.trim(), returns).to_json(),
    })
}

/// Returns the steps that a planner found, if they are parts of the user's text. A plan of another
/// model is not followed.
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

/// Tells whether a transfer was this step of a plan.
fn is_step(call: &AnsweredCall, step: &str) -> bool {
    let transfer = TransferArguments::from_json(&call.arguments);
    transfer.is_ok_and(|transfer| transfer.returns && transfer.task == step)
}

/// Returns the transfers that were made, or the plan if there are none.
fn made_or<'c>(
    plan: &'c [&'c AnsweredCall],
    made: &'c [&'c AnsweredCall],
) -> &'c [&'c AnsweredCall] {
    if made.is_empty() { plan } else { made }
}

/// Reports a plan whose last step failed, with the steps before and after it. A question comes
/// first, so that its answer can be understood; a question of a remote agent is only reported.
fn report_interrupted(
    last: &AnsweredCall,
    own_step: Option<&str>,
    before: &[&AnsweredCall],
    rest: &[&str],
) -> String {
    let mut parts = Vec::new();
    if let (Some(question), Some(step)) = (wording::question(last), own_step) {
        parts.push(marker::ask(question));
        parts.extend(about_step(step));
        parts.push(report_results(before));
    } else {
        parts.push(report_results(before));
        parts.push(wording::render_result(last));
    }
    if !rest.is_empty() {
        parts.push(talk::not_done(rest));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// Reports the results of transfers.
fn report_results(made: &[&AnsweredCall]) -> String {
    let parts: Vec<String> = made.iter().map(|call| wording::render_result(call)).collect();
    parts.join("\n\n")
}

/// Asks which of the two likeliest readings is meant.
fn ask_which_reading(readings: &Readings<'_>) -> String {
    let mut tools = readings.all.iter().filter_map(|reading| match reading.meaning {
        Meaning::Tool { tool, .. } => Some(tool),
        _ => None,
    });
    match (tools.next(), tools.next()) {
        (Some(first), Some(second)) => marker::ask(&ask_reading(first, second)),
        _ => talk::needs_bigger_model().to_owned(),
    }
}

/// Returns the purpose of an agent of the training.
pub(crate) fn agent_purpose(name: &str) -> &'static str {
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
