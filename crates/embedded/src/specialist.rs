//! Answers as a specialist: one call with the user's text, and then a report of its result.

use lango_model::{AnsweredCall, CallOutcome, Message, ModelRequest, RequestRole, RequestedCall};
use lango_phrases::clock_times::find_impossible_time;
use lango_phrases::words::RequestWords;
use lango_protocol::{CallStatus, marker};
use lango_tool::{SafetyLevel, ToolDeclaration};

use super::arguments::{Argument, fill_arguments, to_json};
use super::conversation::{Conversation, ask_reading, ask_value};
use super::decision::{RequestMeaning, WeightedMeanings};
use super::model::{EmbeddedReply, embedded_id};
use super::reading::RequestReader;
use super::reported::is_reported;
use super::steps::RequestStructure;
use super::surroundings::Surroundings;
use super::thresholds::{CALL, CALL_DANGEROUS, CALL_UNKNOWN};
use super::understanding::{FileNames, PlannedStep, RequestReading, TurnMeaning, Understanding};
use super::unknown::is_final;
use super::{recall, talk, wording};

/// Limits the words of a name that is made of what is saved.
const MAX_KEY_WORDS: usize = 6;

/// Holds the request to a specialist and the reader.
pub(crate) struct Specialist<'a> {
    pub(crate) reader: &'a RequestReader,
    pub(crate) request: &'a ModelRequest,
    pub(crate) surroundings: &'a dyn Surroundings,
}

impl Specialist<'_> {
    pub(crate) fn reply(&self, conversation: &Conversation<'_>) -> EmbeddedReply {
        if conversation.is_cancelled() {
            return EmbeddedReply::Text(talk::cancelled_line().to_owned());
        }
        if let Some(last) = conversation.done.last() {
            return self.continue_steps(conversation, last);
        }
        if let Some(chosen) = conversation.chosen_tool()
            && let Some(tool) = self.request.tools.iter().find(|tool| *tool.name == *chosen)
        {
            return self.call(tool, conversation);
        }
        if let Some(reply) = self.reply_understood(&conversation.words) {
            return reply;
        }
        let gist = self.reader.read_gist(&conversation.words);
        let readings = WeightedMeanings::of(self.reader, &gist, &self.request.tools, []);
        // A single agent also talks with the user.
        if self.request.role == RequestRole::Single
            && let Some(text) = answer_without_tool(&conversation.words, &readings)
        {
            return EmbeddedReply::Text(text);
        }
        let own = readings.list_for_agent(None);
        let (Some(first), second) = (own.first(), own.get(1)) else {
            return EmbeddedReply::Text(talk::needs_bigger_model().to_owned());
        };
        let RequestMeaning::Tool { tool, .. } = first.meaning else {
            return EmbeddedReply::Text(talk::needs_bigger_model().to_owned());
        };
        if let Some(other) = self.tool_said_instead(&tool.name, &conversation.words) {
            return self.call(other, conversation);
        }
        // Compared among its own tools: the request has already been transferred to this agent.
        let among: f32 = own.iter().map(|reading| reading.probability).sum();
        let sure = if first.meaning.is_dangerous() {
            first.probability >= self.required_probability(tool)
                && !is_reported(&conversation.words)
        } else {
            // A question is looked up, and not taken for the wish to change something.
            first.probability / among.max(f32::MIN_POSITIVE) >= CALL
                || recall::is_lookup(&tool.name) && recall::asks_for_fact(&conversation.words)
        };
        if let Some(lookup) = self.lookup_instead(&conversation.words, tool, sure) {
            return self.call(lookup, conversation);
        }
        match second.map(|second| second.meaning) {
            _ if sure => match self.reply_as(tool, &conversation.words) {
                Some(reply) => reply,
                None => self.call(tool, conversation),
            },
            Some(RequestMeaning::Tool { tool: other, .. }) => {
                EmbeddedReply::Text(marker::mark_question(&ask_reading(tool, other)))
            }
            _ => EmbeddedReply::Text(talk::needs_bigger_model().to_owned()),
        }
    }

    /// Returns the tool that the words say plainly instead of one that differs from it in little: a password
    /// that is kept already is not stored again.
    fn tool_said_instead(&self, chosen: &str, words: &str) -> Option<&ToolDeclaration> {
        let request = RequestWords::of(words);
        let other = match chosen {
            "secrets_set" if is_kept_already(&request) => "secrets_get",
            "memory_forget" if request.has_phrase(TELLING_AGAIN) => "memory_store",
            _ => return None,
        };
        self.request.tools.iter().find(|tool| *tool.name == *other)
    }

    fn understanding(&self) -> Understanding<'_> {
        Understanding {
            reader: self.reader,
            own: &self.request.tools,
            colleagues: Vec::new(),
            files: FileNames::new(self.surroundings),
            earlier: &self.request.earlier_calls,
        }
    }

    /// Returns the call of a tool with names that are looked up, or what has to be asked first.
    fn reply_as(&self, tool: &ToolDeclaration, words: &str) -> Option<EmbeddedReply> {
        match self.understanding().understand_as(&tool.name, words) {
            RequestReading::Calls(calls) => {
                let step = |call| PlannedStep { part: words.to_owned(), call };
                next_step(&calls.into_iter().map(step).collect::<Vec<_>>())
            }
            RequestReading::Ask(question) => {
                Some(EmbeddedReply::Text(marker::mark_question(&question.text)))
            }
            RequestReading::Say(text) => Some(EmbeddedReply::Text(text)),
            RequestReading::Open => None,
        }
    }

    /// Returns the reply to a request that is understood as a whole.
    fn reply_understood(&self, words: &str) -> Option<EmbeddedReply> {
        let understanding = self.understanding();
        match understanding.understand_turn(self.request, words) {
            TurnMeaning::Steps(steps) => {
                let is_own = |step: &PlannedStep| {
                    self.request.tools.iter().any(|tool| *tool.name == *step.call.tool)
                };
                steps.iter().all(is_own).then(|| next_step(&steps)).flatten()
            }
            TurnMeaning::Ask(question) => {
                Some(EmbeddedReply::Text(marker::mark_question(&question)))
            }
            TurnMeaning::Say(text) => Some(EmbeddedReply::Text(text)),
            TurnMeaning::Cancelled => Some(EmbeddedReply::Text(talk::cancelled_line().to_owned())),
            TurnMeaning::Open => None,
        }
    }

    /// Goes on after a call: with the next step if it did what it should, and with a report
    /// otherwise.
    fn continue_steps(
        &self,
        conversation: &Conversation<'_>,
        last: &AnsweredCall,
    ) -> EmbeddedReply {
        let rest = self.remaining_steps();
        if rest.is_empty()
            && let Some(reply) = self.look_further(conversation)
        {
            return reply;
        }
        if did_its_step(last)
            && let Some(reply) = next_step(&rest)
        {
            return reply;
        }
        let mut parts: Vec<String> =
            conversation.done.iter().map(|call| wording::render_result(call)).collect();
        if !rest.is_empty() {
            let mut left: Vec<&str> = rest.iter().map(|step| step.part.as_str()).collect();
            left.dedup();
            parts.push(talk::list_steps_not_done(&left));
        }
        EmbeddedReply::Text(parts.join("\n\n"))
    }

    /// Looks a question up in the next store, after others in which nothing was found. Where none is
    /// left, another agent may know it.
    fn look_further(&self, conversation: &Conversation<'_>) -> Option<EmbeddedReply> {
        let words = conversation.words.as_str();
        let done = conversation.done.as_slice();
        if !recall::is_open_question(words) || !done.iter().all(|call| recall::found_nothing(call))
        {
            return None;
        }
        let next = recall::next_lookup(done, &self.request.tools, words);
        Some(match next {
            Some((tool, arguments)) => EmbeddedReply::Call(RequestedCall {
                name: tool.to_owned(),
                // Texts can always be written.
                arguments: serde_json::to_string(&arguments).unwrap_or_default(),
            }),
            None if self.request.role == RequestRole::Single => {
                EmbeddedReply::Text(talk::unknown_answer_line().to_owned())
            }
            None => EmbeddedReply::Text(marker::mark_rejection("nothing is known about it here")),
        })
    }

    /// Returns the tool that looks a question up, where another tool that was chosen would store it, list
    /// everything, or is only a guess.
    fn lookup_instead(
        &self,
        words: &str,
        chosen: &ToolDeclaration,
        is_sure: bool,
    ) -> Option<&ToolDeclaration> {
        let stores = chosen.level != SafetyLevel::Safe && !is_sure_order(words);
        let lists = &*chosen.name == "rag_list" && recall::asks_for_detail(words);
        let find = |name: &str| self.request.tools.iter().find(|tool| *tool.name == *name);
        if !recall::is_question(words) || recall::is_lookup(&chosen.name) {
            return None;
        }
        if lists {
            return find("rag_retrieve");
        }
        if is_sure && !stores || chosen.name.starts_with("exec_") {
            return None;
        }
        recall::LOOKUPS.into_iter().find_map(find)
    }

    /// Returns the steps that are left of a request. They went along with the newest call.
    fn remaining_steps(&self) -> Vec<PlannedStep> {
        let state = self.request.messages.iter().rev().find_map(|message| match message {
            Message::Exchange { provider_state, .. } => Some(provider_state.as_ref()),
            _ => None,
        });
        let own = state.flatten().and_then(|state| state.for_model(&embedded_id()));
        own.and_then(|state| serde_json::from_str(state).ok()).unwrap_or_default()
    }

    /// Returns the probability that a dangerous tool needs.
    fn required_probability(&self, tool: &ToolDeclaration) -> f32 {
        let known = self.reader.trained_tools.find(&tool.name).is_some();
        if known || is_final(tool) { CALL_DANGEROUS } else { CALL_UNKNOWN }
    }

    fn call(&self, tool: &ToolDeclaration, conversation: &Conversation<'_>) -> EmbeddedReply {
        let given = conversation.given_values(&tool.name);
        let mut filled = fill_arguments(self.reader, tool, &conversation.words, &given);
        if tool.name.starts_with("cron_")
            && let Some(time) = filled.arguments.get("schedule").and_then(Argument::as_text)
            && let Some(time) = find_impossible_time(time)
        {
            return EmbeddedReply::Text(marker::mark_question(&talk::describe_impossible_time(
                time,
            )));
        }
        if let Some(Argument::Text(address)) = filled.arguments.get_mut("url") {
            complete_address(address);
        }
        // A question that is looked up names its subject, one way or the other.
        if recall::is_lookup(&tool.name) && filled.missing.iter().any(|one| one.name == "query") {
            let subject = recall::subject_of(&conversation.words).to_owned();
            filled.arguments.insert("query".to_owned(), Argument::Text(subject));
            filled.missing.retain(|parameter| parameter.name != "query");
        }
        // What is saved is found again by its own words if no name was said for it.
        if &*tool.name == "save_knowledge"
            && let [parameter] = filled.missing.as_slice()
            && parameter.name == "key"
            && let Some(Argument::Text(content)) = filled.arguments.get("content")
        {
            let key: Vec<&str> = content.split_whitespace().take(MAX_KEY_WORDS).collect();
            filled.arguments.insert("key".to_owned(), Argument::Text(key.join(" ")));
            filled.missing.clear();
        }
        match filled.missing.first() {
            Some(parameter) => {
                EmbeddedReply::Text(marker::mark_question(&ask_value(tool, parameter)))
            }
            None => EmbeddedReply::Call(RequestedCall {
                name: tool.name.to_string(),
                arguments: to_json(&filled.arguments),
            }),
        }
    }
}

/// Words of a user who does not want to say something again.
const TELLING_AGAIN: &[&str] = &[
    "not have to tell",
    "not have to say",
    "not have to repeat",
    "not have to remind",
    "don't have to tell",
    "don't have to repeat",
    "without telling you",
];

/// Tells whether a request speaks of a secret that is stored, and does not ask to store one.
fn is_kept_already(request: &RequestWords<'_>) -> bool {
    let kept = request.has_any(&["kept", "stored", "saved", "filed", "held"]);
    let stores = request.has_any(&[
        "store", "save", "set", "keep", "add", "put", "remember", "note", "stash", "rotate",
        "update", "replace", "new", "here", "here's", "want", "like", "should", "must", "be",
    ]);
    kept && !stores
}

/// Tells whether a question is a polite order: "can you remember that …?"
fn is_sure_order(words: &str) -> bool {
    let lower = words.to_lowercase();
    ["remember", "save", "store", "note", "record", "forget", "keep", "add"]
        .iter()
        .any(|verb| lower.split(|c: char| !c.is_alphanumeric()).any(|word| word == *verb))
}

/// Adds the scheme that people leave out of an address.
fn complete_address(address: &mut String) {
    let bare = address.trim_end_matches(['.', ',', '/']);
    let is_host = bare.contains('.') && !bare.contains([' ', ':']) && !bare.starts_with('/');
    if is_host {
        *address = format!("https://{bare}");
    }
}

/// Makes the first of these calls; the others go along with it.
fn next_step(steps: &[PlannedStep]) -> Option<EmbeddedReply> {
    let (first, rest) = steps.split_first()?;
    let call =
        RequestedCall { name: first.call.tool.clone(), arguments: to_json(&first.call.arguments) };
    if rest.is_empty() {
        return Some(EmbeddedReply::Call(call));
    }
    // Texts and numbers can always be written.
    let rest = serde_json::to_string(rest).unwrap_or_default();
    Some(EmbeddedReply::FirstCall { call, rest })
}

/// Tells whether a call did what it was asked for.
fn did_its_step(call: &AnsweredCall) -> bool {
    match &call.outcome {
        CallOutcome::Tool { status, report } => {
            *status == CallStatus::Ok && !report.as_ref().is_some_and(|report| report.unsuccessful)
        }
        CallOutcome::Transfer { .. } => false,
    }
}

/// Returns the answer of a single agent to a request that none of its tools is for.
fn answer_without_tool(words: &str, readings: &WeightedMeanings<'_>) -> Option<String> {
    if RequestStructure::of(words) != RequestStructure::One {
        return Some(talk::one_step_at_a_time_line().to_owned());
    }
    match readings.all.first()?.meaning {
        RequestMeaning::SmallTalk => Some(talk::answer_small_talk(words, &[])),
        RequestMeaning::Plan => Some(talk::cannot_split_line().to_owned()),
        RequestMeaning::Help => Some(talk::answer_help(words)),
        RequestMeaning::Writing => Some(talk::needs_bigger_model().to_owned()),
        RequestMeaning::Vague => Some(marker::mark_question(talk::vague_line())),
        RequestMeaning::Stray => Some(talk::stray_line().to_owned()),
        RequestMeaning::Absent(known) => Some(talk::describe_untransferable_tool(&known.name)),
        RequestMeaning::Tool { .. } | RequestMeaning::Remote(_) => None,
    }
}
