//! Answers as the orchestrator: it transfers a request, talks, asks, or runs a plan step by step.

mod looking_up;

use lango_model::{AnsweredCall, CallOutcome, Colleague, Message, ModelRequest, RequestedCall};
use lango_protocol::{DelegationStatus, PLANNER, TRANSFER_TOOL, TransferArguments, marker};
use lango_tool::SafetyLevel;

use super::arguments::{Argument, fill_arguments};
use super::conversation::{Conversation, ask_reading, describe_step};
use super::decision::{RequestMeaning, TeamPart, WeightedMeanings};
use super::misread::answer_misread_question;
use super::model::EmbeddedReply;
use super::reading::RequestReader;
use super::steps::{RequestStructure, is_negated};
use super::surroundings::Surroundings;
use super::thresholds::{CALL_DANGEROUS, FAST_PATH, STEP, TRANSFER};
use super::understanding::{FileNames, PlannedStep, TurnMeaning, Understanding, lacks_job_verb};
use super::weights::AGENTS;
use super::{recall, talk, wording};

/// Holds the request to an orchestrator and the reader.
pub(crate) struct Orchestrator<'a> {
    pub(crate) reader: &'a RequestReader,
    pub(crate) request: &'a ModelRequest,
    pub(crate) surroundings: &'a dyn Surroundings,
}

/// Says what to do about a text.
enum NextAction<'a> {
    Talk,
    Plan,
    Transfer(&'a str),
    Say(String),
}

/// Classifies the parts of a sentence with words such as "then" between them.
enum StepSequence<'w> {
    /// Each a request.
    Steps,
    /// One request, in which the word "then" occurs.
    One,
    /// Several, of which this one is not clear.
    Unclear(&'w str),
}

impl<'a> Orchestrator<'a> {
    pub(crate) fn reply(&self, conversation: &Conversation<'_>) -> EmbeddedReply {
        match conversation.done.as_slice() {
            [] => self.start_turn(conversation),
            done => self.continue_turn(conversation, done),
        }
    }

    /// Returns the transfer of a request, if its target is clear.
    pub(crate) fn clear_transfer(&self, conversation: &Conversation<'_>) -> Option<EmbeddedReply> {
        let words = conversation.words.as_str();
        let is_first = conversation.done.is_empty() && conversation.answers.is_empty();
        if !is_first
            || conversation.follows_question
            || self.has_images()
            || RequestStructure::of(words) != RequestStructure::One
        {
            return None;
        }
        let readings = self.weigh_meanings(words);
        match readings.sum_by_part().first() {
            Some((TeamPart::Agent(agent), probability)) if *probability >= FAST_PATH => {
                Some(transfer_task(agent, words, false))
            }
            _ => None,
        }
    }

    fn colleagues(&self) -> impl Iterator<Item = &'a Colleague> {
        self.request.colleagues.iter().map(|colleague| &**colleague)
    }

    fn weigh_meanings(&self, words: &str) -> WeightedMeanings<'a> {
        let gist = self.reader.read_gist(words);
        WeightedMeanings::of(self.reader, &gist, &[], self.colleagues())
    }

    fn start_turn(&self, conversation: &Conversation<'_>) -> EmbeddedReply {
        let words = conversation.words.as_str();
        if conversation.is_cancelled() {
            return EmbeddedReply::Text(talk::cancelled_line().to_owned());
        }
        if let Some(tool) = conversation.chosen_tool()
            && let Some(owner) =
                self.colleagues().find(|c| c.tools.iter().any(|t| *t.name == *tool))
        {
            // The agent sees the same conversation, and finds the answers in it.
            return transfer_task(&owner.name, self.newest_words(), false);
        }
        let is_odd_list = RequestStructure::of(words) == RequestStructure::OtherList;
        if !is_odd_list
            && !self.has_images()
            && !looking_up::exclaims(words)
            && let Some(reply) = self.reply_understood(words)
        {
            return reply;
        }
        match RequestStructure::of(words) {
            RequestStructure::List(_) => return self.request_plan(words),
            RequestStructure::Sequence(steps) => match self.classify_sequence(words, &steps) {
                StepSequence::Steps => return self.request_plan(words),
                StepSequence::Unclear(step) => {
                    return EmbeddedReply::Text(talk::describe_unclear_step(step));
                }
                StepSequence::One => {}
            },
            RequestStructure::OtherList if is_negated(words) => {
                return EmbeddedReply::Text(talk::unclear_list_line().to_owned());
            }
            RequestStructure::OtherList | RequestStructure::One => {}
        }
        let next = if looking_up::exclaims(words) { NextAction::Talk } else { self.next(words) };
        match next {
            NextAction::Talk if self.has_images() => {
                EmbeddedReply::Text(talk::needs_bigger_model().to_owned())
            }
            NextAction::Talk => {
                let agents: Vec<(&str, &str)> = self
                    .colleagues()
                    .map(|colleague| (colleague.name.as_str(), colleague.description.as_str()))
                    .collect();
                EmbeddedReply::Text(talk::answer_small_talk(words, &agents))
            }
            NextAction::Plan => self.request_plan(words),
            NextAction::Transfer(agent) => transfer_task(agent, words, false),
            NextAction::Say(text) => EmbeddedReply::Text(text),
        }
    }

    /// Returns the reply to a request that is understood as a whole.
    fn reply_understood(&self, words: &str) -> Option<EmbeddedReply> {
        let understanding = Understanding {
            reader: self.reader,
            own: &[],
            colleagues: self.colleagues().collect(),
            files: FileNames::new(self.surroundings),
            earlier: &self.request.earlier_calls,
        };
        match understanding.understand_turn(self.request, words) {
            TurnMeaning::Steps(steps) => {
                let owner = |step: &PlannedStep| {
                    self.colleagues()
                        .find(|c| c.tools.iter().any(|tool| *tool.name == *step.call.tool))
                        .map(|colleague| colleague.name.as_str())
                };
                let first = steps.first().and_then(owner)?;
                // The specialist understands the same words in the same way.
                steps
                    .iter()
                    .all(|step| owner(step) == Some(first))
                    .then(|| transfer_task(first, words, false))
            }
            TurnMeaning::Ask(question) => {
                Some(EmbeddedReply::Text(marker::mark_question(&question)))
            }
            TurnMeaning::Say(text) => Some(EmbeddedReply::Text(text)),
            TurnMeaning::Cancelled => Some(EmbeddedReply::Text(talk::cancelled_line().to_owned())),
            TurnMeaning::Open => None,
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
        let readings = self.weigh_meanings(words);
        let parts = readings.sum_by_part();
        let Some((part, probability)) = parts.first() else {
            return NextAction::Say(talk::needs_bigger_model().to_owned());
        };
        if let Some(agent) = self.find_store_of(words, &readings) {
            return NextAction::Transfer(agent);
        }
        if let Some(answer) = answer_misread_question(words, *part, &readings) {
            return NextAction::Say(answer.to_owned());
        }
        // What another tool does is not known: it may well answer.
        let changes = |meaning: &RequestMeaning<'_>| {
            matches!(meaning, RequestMeaning::Tool { tool, .. }
                if tool.level != SafetyLevel::Safe
                    && !tool.name.starts_with("exec_")
                    && self.reader.trained_tools.find(&tool.name).is_some())
        };
        if recall::asks_for_fact(words)
            && readings.all.first().is_some_and(|first| changes(&first.meaning))
        {
            return self.look_up_or_ask(words, &readings);
        }
        match part {
            TeamPart::Talk if *probability >= TRANSFER => NextAction::Talk,
            TeamPart::Plan if *probability >= TRANSFER => match self.find_teacher(words) {
                Some(agent) => NextAction::Transfer(agent),
                None => NextAction::Plan,
            },
            TeamPart::Help if *probability >= TRANSFER => NextAction::Say(talk::answer_help(words)),
            TeamPart::Writing if *probability >= TRANSFER => {
                NextAction::Say(talk::needs_bigger_model().to_owned())
            }
            TeamPart::Vague if *probability >= TRANSFER => {
                NextAction::Say(marker::mark_question(talk::vague_line()))
            }
            TeamPart::Stray if *probability >= TRANSFER => {
                NextAction::Say(talk::stray_line().to_owned())
            }
            TeamPart::Agent(agent) if *probability >= TRANSFER => NextAction::Transfer(agent),
            TeamPart::Missing(class) if *probability >= TRANSFER => {
                NextAction::Say(self.explain_missing(*class, &readings))
            }
            _ => self.look_up_or_ask(words, &readings),
        }
    }

    /// Explains that an agent is missing, or lacks the tool.
    fn explain_missing(&self, class: usize, readings: &WeightedMeanings<'_>) -> String {
        let name = AGENTS.get(class).copied().unwrap_or_default();
        if self.colleagues().any(|colleague| colleague.name == name) {
            let absent = readings.all.iter().find_map(|reading| match reading.meaning {
                RequestMeaning::Absent(known) if known.agent == class => Some(known.name.as_str()),
                _ => None,
            });
            return talk::describe_missing_tool(name, absent.unwrap_or_default());
        }
        talk::describe_missing_agent(name, agent_purpose(name))
    }

    fn has_images(&self) -> bool {
        let newest = self.request.newest_user().and_then(|at| self.request.messages.get(at));
        matches!(newest, Some(Message::User(message)) if !message.images.is_empty())
    }

    /// Classifies parts with "then" between them. Where one is a request and others are not, the
    /// whole may still be one request, but not a dangerous one.
    fn classify_sequence<'w>(&self, words: &str, steps: &[&'w str]) -> StepSequence<'w> {
        let alone: Vec<bool> = steps.iter().map(|step| self.stands_alone(step)).collect();
        let Some(unclear) = alone.iter().position(|alone| !alone) else {
            return StepSequence::Steps;
        };
        let first = self.weigh_meanings(words).all.first().map(|reading| reading.meaning);
        let is_dangerous = first.is_some_and(|meaning| meaning.is_dangerous());
        let requests = alone.iter().filter(|alone| **alone).count();
        if requests > 1 || (is_dangerous && requests > 0) {
            return StepSequence::Unclear(steps[unclear]);
        }
        StepSequence::One
    }

    /// Tells whether a part of a sentence is a request of its own: clear by itself, and with all
    /// that its tool needs.
    fn stands_alone(&self, step: &str) -> bool {
        let Some(agent) = self.find_agent_for(step) else { return false };
        let readings = self.weigh_meanings(step);
        let Some(RequestMeaning::Tool { tool, .. }) =
            readings.list_for_agent(Some(agent)).first().map(|reading| reading.meaning)
        else {
            return false;
        };
        let filled = fill_arguments(self.reader, tool, step, &[]);
        // Two arguments with the same text mean that it was not understood.
        let mut values: Vec<&str> =
            filled.arguments.values().filter_map(Argument::as_text).collect();
        let count = values.len();
        values.sort_unstable();
        values.dedup();
        filled.missing.is_empty() && values.len() == count
    }

    /// Returns the agent that a step is for, if that is clear.
    fn find_agent_for(&self, step: &str) -> Option<&'a str> {
        let readings = self.weigh_meanings(step);
        // A step that changes something has to be clear by itself.
        let least = match readings.all.first().map(|first| first.meaning) {
            Some(RequestMeaning::Tool { tool, .. }) if lacks_job_verb(&tool.name, step) => {
                return None;
            }
            Some(RequestMeaning::Tool { tool, .. }) if tool.level != SafetyLevel::Safe => {
                STEP.max(CALL_DANGEROUS)
            }
            _ => STEP,
        };
        match readings.sum_by_part().first() {
            Some((TeamPart::Agent(agent), probability)) if *probability >= least => Some(agent),
            _ => None,
        }
    }

    fn request_plan(&self, words: &str) -> EmbeddedReply {
        if self.colleagues().any(|colleague| colleague.name == PLANNER) {
            return transfer_task(PLANNER, words, true);
        }
        match RequestStructure::of(words).steps().as_slice() {
            [] => EmbeddedReply::Text(talk::cannot_split_line().to_owned()),
            steps => self.next_planned_step(steps, &[]),
        }
    }

    /// Continues after transfers.
    fn continue_turn(
        &self,
        conversation: &Conversation<'_>,
        done: &[&AnsweredCall],
    ) -> EmbeddedReply {
        let words = conversation.words.as_str();
        if let Some(reply) = self.look_further(words, done) {
            return reply;
        }
        let planned = done.first().is_some_and(|call| transfer_target(call) == PLANNER);
        let (plan, made) = if planned { done.split_at(1) } else { (&done[..0], done) };
        let steps = match plan {
            [plan] => read_planned_steps(plan, words),
            _ => RequestStructure::of(words).steps(),
        };
        // An earlier model may have made the transfers; they have to be these very steps.
        let as_planned = made.len() <= steps.len()
            && made.iter().zip(&steps).all(|(call, step)| is_step(call, step));
        if steps.is_empty() || !as_planned {
            return EmbeddedReply::Text(report_results(if planned {
                transfers_or_plan(plan, made)
            } else {
                made
            }));
        }
        self.next_planned_step(&steps, made)
    }

    /// Returns the next step of a plan, or its end.
    fn next_planned_step(&self, steps: &[&str], made: &[&AnsweredCall]) -> EmbeddedReply {
        if made.is_empty()
            && let Some(unclear) = steps.iter().find(|step| self.find_agent_for(step).is_none())
        {
            return EmbeddedReply::Text(talk::describe_unclear_step(unclear));
        }
        if let Some((last, before)) = made.split_last()
            && !self.did_its_step(last)
        {
            let rest = steps.get(made.len()..).unwrap_or_default();
            let step = steps.get(before.len()).copied().unwrap_or_default();
            let ours = self.has_tools(&transfer_target(last));
            return EmbeddedReply::Text(report_interrupted(
                last,
                ours.then_some(step),
                before,
                rest,
            ));
        }
        match steps.get(made.len()) {
            Some(step) if self.can_transfer() => match self.find_agent_for(step) {
                Some(agent) => transfer_task(agent, step, true),
                None => EmbeddedReply::Text(format!(
                    "{}\n\n{}",
                    report_results(made),
                    talk::describe_unclear_step(step)
                )),
            },
            Some(_) => EmbeddedReply::Text(format!(
                "{}\n\n{}",
                report_results(made),
                talk::list_steps_not_allowed(&steps[made.len()..])
            )),
            None => EmbeddedReply::Text(report_results(made)),
        }
    }

    /// Tells whether a specialist answered and did something: what comes next in a plan may rest on
    /// it. Nothing is known of the calls of a remote agent.
    fn did_its_step(&self, call: &AnsweredCall) -> bool {
        match &call.outcome {
            CallOutcome::Transfer { status: DelegationStatus::Answered, calls, .. } => {
                let acted = calls.succeeded > 0 || !self.has_tools(&transfer_target(call));
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
fn transfer_task(agent: &str, task: &str, returns: bool) -> EmbeddedReply {
    EmbeddedReply::Call(RequestedCall {
        name: TRANSFER_TOOL.to_owned(),
        arguments: TransferArguments::new(agent, task.trim(), returns).to_json(),
    })
}

/// Returns the steps that a planner found, if they are parts of the user's text. A plan of another
/// model is not followed.
fn read_planned_steps<'w>(plan: &AnsweredCall, words: &'w str) -> Vec<&'w str> {
    let CallOutcome::Transfer { text, .. } = &plan.outcome else { return Vec::new() };
    let lines: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(". ").filter(|(n, _)| n.parse::<u8>().is_ok()))
        .map(|(_, step)| step.trim())
        .collect();
    let found = RequestStructure::of(words).steps();
    if lines == found { found } else { Vec::new() }
}

/// Returns the agent that a task was transferred to; empty where the call was no transfer.
fn transfer_target(call: &AnsweredCall) -> String {
    TransferArguments::from_json(&call.arguments).unwrap_or_default().agent_name
}

/// Tells whether a transfer was this step of a plan.
fn is_step(call: &AnsweredCall, step: &str) -> bool {
    let transfer = TransferArguments::from_json(&call.arguments);
    transfer.is_ok_and(|transfer| transfer.returns && transfer.task == step)
}

/// Returns the transfers that were made, or the plan if there are none.
fn transfers_or_plan<'c>(
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
    if let (Some(question), Some(step)) = (wording::find_question(last), own_step) {
        parts.push(marker::mark_question(question));
        parts.extend(describe_step(step));
        parts.push(report_results(before));
    } else {
        parts.push(report_results(before));
        parts.push(wording::render_result(last));
    }
    if !rest.is_empty() {
        parts.push(talk::list_steps_not_done(rest));
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
fn ask_which_reading(readings: &WeightedMeanings<'_>) -> String {
    let mut tools = readings.all.iter().filter_map(|reading| match reading.meaning {
        RequestMeaning::Tool { tool, .. } => Some(tool),
        _ => None,
    });
    match (tools.next(), tools.next()) {
        (Some(first), Some(second)) => marker::mark_question(&ask_reading(first, second)),
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
