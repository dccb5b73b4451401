//! Memories, observations and reflections.

use lango_model::AnsweredCall;
use serde::Deserialize;

use super::answer::{Answer, code, count, inline};
use super::deed::given;
use super::knowledge::result;

/// Characters of a memory in a list.
const LONGEST_TEXT: usize = 600;

#[derive(Deserialize)]
struct Stored {
    content: String,
    #[serde(default)]
    instead_of: Vec<String>,
}

/// `memory_store`.
pub(super) fn stored(call: &AnsweredCall) -> Option<Answer> {
    let Stored { content, instead_of } = result(call)?;
    let answer = Answer::new(format!("I'll remember: {}", inline(&content, LONGEST_TEXT)));
    if instead_of.is_empty() {
        return Some(answer);
    }
    let ids: Vec<String> = instead_of.iter().take(5).map(|id| code(id)).collect();
    let memories = count(instead_of.len(), "earlier memory", "earlier memories");
    Some(answer.note(format!("It takes the place of {memories}: {}", ids.join(", "))))
}

#[derive(Deserialize)]
struct Query {
    query: String,
}

#[derive(Deserialize)]
struct Memory {
    id: String,
    content: String,
    date: String,
}

fn lines(memories: &[Memory], with_ids: bool) -> String {
    let line = |one: &Memory| {
        let (date, content) = (inline(&one.date, 40), inline(&one.content, LONGEST_TEXT));
        let id = if with_ids { format!(" ({})", code(&one.id)) } else { String::new() };
        format!("- {date}: {content}{id}")
    };
    memories.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// `memory_search`.
pub(super) fn found(call: &AnsweredCall) -> Option<Answer> {
    let Query { query } = given(call)?;
    let query = code(&query);
    if matches!(call.result.as_str(), "There is no memory of this." | "[]") {
        return Some(Answer::new(format!("There is no memory of {query}.")));
    }
    let memories: Vec<Memory> = result(call)?;
    let number = count(memories.len(), "memory", "memories");
    // The last ones may have little to do with what was asked.
    let lead = format!("{number} that may fit {query}, the best first:");
    Some(Answer::new(lead).lines(lines(&memories, false)))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Forgotten {
    Done { forgotten: String, kind: String, date: String, places_in_conversations: u64 },
    Several { memories: Vec<Memory> },
}

/// `memory_forget`. What is forgotten is not repeated.
pub(super) fn forgotten(call: &AnsweredCall) -> Option<Answer> {
    Some(match result(call)? {
        Forgotten::Done { forgotten, kind, date, places_in_conversations: places } => {
            let (id, kind, date) = (code(&forgotten), inline(&kind, 40), inline(&date, 40));
            let places = match places {
                0 => String::new(),
                1 => " It also goes from 1 place in conversations.".to_owned(),
                places => format!(" It also goes from {places} places in conversations."),
            };
            Answer::new(format!("Forgotten: the memory {id} ({kind}, {date}).{places}"))
        }
        Forgotten::Several { memories } => {
            let number = memories.len();
            Answer::new(format!("Nothing was forgotten: {number} memories fit. Which one?"))
                .lines(lines(&memories, true))
        }
    })
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

#[derive(Deserialize)]
struct Event {
    content: String,
    at: Option<String>,
}

/// `observe_event`.
pub(super) fn observed(call: &AnsweredCall) -> Option<Answer> {
    let Id { id } = result(call)?;
    let id = code(&id);
    let Event { content, at } = given(call)?;
    let content = inline(&content, LONGEST_TEXT);
    Some(Answer::new(match at {
        Some(at) => format!("Written down for {}, as {id}: {content}", inline(&at, 60)),
        None => format!("Written down, as {id}: {content}"),
    }))
}

/// `memory_list_observations`.
pub(super) fn observations(call: &AnsweredCall) -> Option<Answer> {
    let observations: Vec<Memory> = result(call)?;
    Some(list(&observations, "observation", "observations"))
}

/// `memory_list_reflections`.
pub(super) fn reflections(call: &AnsweredCall) -> Option<Answer> {
    let reflections: Vec<Memory> = result(call)?;
    Some(list(&reflections, "reflection", "reflections"))
}

fn list(memories: &[Memory], one: &str, several: &str) -> Answer {
    if memories.is_empty() {
        return Answer::new(format!("There are no {several} of this conversation."));
    }
    Answer::new(format!("{}:", count(memories.len(), one, several))).lines(lines(memories, false))
}

#[derive(Deserialize)]
struct ObservedNow {
    observations: Vec<Memory>,
    new_memories: usize,
}

/// `observe_session`.
pub(super) fn observed_now(call: &AnsweredCall) -> Option<Answer> {
    let ObservedNow { observations, new_memories } = result(call)?;
    let memories = count(new_memories, "new memory", "new memories");
    if observations.is_empty() {
        return Some(Answer::new(format!("There was nothing new to observe; {memories}.")));
    }
    let number = count(observations.len(), "new observation", "new observations");
    Some(Answer::new(format!("{number}, {memories}:")).lines(lines(&observations, false)))
}

#[derive(Deserialize)]
struct Reflection {
    content: String,
    date: String,
}

/// `reflect_summary`.
pub(super) fn reflected(call: &AnsweredCall) -> Option<Answer> {
    let Reflection { content, date } = result(call)?;
    Some(Answer::new(format!("In short ({}):", inline(&date, 40))).quoted(content))
}
