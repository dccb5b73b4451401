//! Gaps: what a finished turn looked for and did not find.
//!
//! A pure function over the turn's events, without a model. It would rather miss a gap than make
//! one up.

use std::collections::{BTreeSet, HashMap};

use lango_protocol::{CallId, CallStatus, Event, EventBody};
use serde_json::Value;

use crate::text::{likeness, shortened, telling_words};

/// The searches that can come back empty.
const SEARCHES: &[&str] =
    &["search_knowledge", "rag_retrieve", "search_learnings", "memory_search"];
/// The lists of their results.
const LISTS: &[&str] = &["hits", "passages", "memories", "results"];
/// What an answer says that found nothing. Whole phrases: a single word would say it too often.
const NOT_FOUND: &[&str] = &[
    "i could not find",
    "i couldn't find",
    "i did not find",
    "i didn't find",
    "nothing was found",
    "no information about",
    "no information on",
    "not in the knowledge",
    "i have no information",
    "i don't have any information",
    "i do not have any information",
];
/// Characters of a topic.
const TOPIC: usize = 160;
/// Searches for the same thing are this alike.
const ALIKE: f64 = 0.5;

/// Something that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// What was looked for.
    pub topic: String,
    /// What could be asked about it.
    pub question: String,
    /// Why.
    pub why: String,
    /// More is more urgent: how often it was looked for.
    pub priority: i64,
}

/// The gaps that a turn shows, the first one first.
pub fn gaps(events: &[Event]) -> Vec<Gap> {
    let (missed, found) = searches(events);
    let mut gaps: Vec<(BTreeSet<String>, Gap)> = Vec::new();
    for (tool, query) in missed {
        let words = telling_words(&query);
        // What another search of the turn did find is no gap.
        if words.is_empty() || found.iter().any(|other| likeness(other, &words) >= ALIKE) {
            continue;
        }
        if let Some((_, gap)) = gaps.iter_mut().find(|(other, _)| likeness(other, &words) >= ALIKE)
        {
            gap.priority += 1;
            continue;
        }
        gaps.push((words, gap(&query, format!("{tool} found nothing about it"))));
    }
    if gaps.is_empty() && found.is_empty() {
        gaps.extend(unanswered(events).map(|gap| (BTreeSet::new(), gap)));
    }
    gaps.into_iter().map(|(_, gap)| gap).collect()
}

fn gap(topic: &str, why: String) -> Gap {
    let topic = topic.split_whitespace().collect::<Vec<_>>().join(" ");
    let topic = shortened(&topic, TOPIC);
    let question = if topic.ends_with('?') {
        topic.clone()
    } else {
        format!("What should be known about \u{201c}{topic}\u{201d}?")
    };
    Gap { topic, question, why, priority: 1 }
}

/// The queries that found nothing, with their tools, and the words of those that found something.
fn searches(events: &[Event]) -> (Vec<(&str, String)>, Vec<BTreeSet<String>>) {
    let mut asked: HashMap<&CallId, String> = HashMap::new();
    let (mut missed, mut found) = (Vec::new(), Vec::new());
    for event in events {
        match &event.body {
            EventBody::ToolCall { call, tool, arguments, .. }
                if SEARCHES.contains(&tool.as_str()) =>
            {
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
                if let Some(query) = arguments["query"].as_str() {
                    asked.insert(call, query.to_owned());
                }
            }
            EventBody::ToolResult { call, tool, status: CallStatus::Ok, output, .. } => {
                let Some(query) = asked.remove(call) else { continue };
                match is_empty(output) {
                    Some(true) => missed.push((tool.as_str(), query)),
                    Some(false) => found.push(telling_words(&query)),
                    None => {}
                }
            }
            _ => {}
        }
    }
    (missed, found)
}

/// Whether a search came back empty. None where that cannot be told, such as for an output that
/// was too long to be shown whole.
fn is_empty(output: &str) -> Option<bool> {
    // `rag_retrieve` counts first and quotes then.
    if let Some((count, _)) = output.split_once(" passage")
        && let Ok(count) = count.parse::<u32>()
    {
        return Some(count == 0);
    }
    let output: Value = serde_json::from_str(output).ok()?;
    LISTS.iter().find_map(|list| output[*list].as_array()).map(Vec::is_empty)
}

/// The user's question, where the answer says that nothing was found.
fn unanswered(events: &[Event]) -> Option<Gap> {
    let asked = events.iter().find_map(|event| match &event.body {
        EventBody::UserMessage { text, .. } => Some(text.as_str()),
        _ => None,
    })?;
    let answer = events.iter().rev().find_map(|event| match &event.body {
        EventBody::Message { text, answer: true } => Some(text.to_lowercase()),
        _ => None,
    })?;
    let answer = answer.replace('\u{2019}', "'");
    let words = telling_words(asked);
    // A whole story is no topic, and neither is a single word.
    let fits = (2..=20).contains(&words.len()) && asked.trim_end().ends_with('?');
    (fits && NOT_FOUND.iter().any(|phrase| answer.contains(phrase)))
        .then(|| gap(asked, "the answer to it was not found".to_owned()))
}
