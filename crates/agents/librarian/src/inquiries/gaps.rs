//! Finds gaps: subjects that a finished turn searched for without a result.
//!
//! This is a pure function over the turn's events, without a model. It would rather miss a gap than
//! invent one.

use std::collections::{BTreeSet, HashMap};

use lango_protocol::{CallId, CallReport, CallStatus, Event, EventBody};
use lango_text::{jaccard_similarity, to_one_line};
use serde_json::Value;

use crate::text::significant_words;

/// Lists the search tools whose results may be empty. The data of their reports is a list of what
/// was found.
const SEARCHES: &[&str] =
    &["search_knowledge", "rag_retrieve", "search_learnings", "memory_search"];
/// Lists phrases of an answer that found nothing. Single words would match too often.
const NOT_FOUND_PHRASES: &[&str] = &[
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
/// Limits a topic.
const MAX_TOPIC_CHARACTERS: usize = 160;
/// Sets the similarity from which two searches have the same topic.
const MIN_TOPIC_SIMILARITY: f64 = 0.5;

/// Is something that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The subject of the search.
    pub topic: String,
    /// The question to ask about it.
    pub question: String,
    /// The reason.
    pub why: String,
    /// The priority: how often it was searched for.
    pub priority: i64,
}

/// Returns the gaps of a turn, in their order.
pub fn gaps(events: &[Event]) -> Vec<Gap> {
    let (missed, found) = searches(events);
    let said = words_of_user(events);
    let mut gaps: Vec<(BTreeSet<String>, Gap)> = Vec::new();
    for (tool, query) in missed {
        let words = significant_words(&query);
        // A topic that another search of the turn found is no gap, and neither is one that the user
        // did not name: the question would bring a model's words into later prompts.
        if words.is_empty()
            || !words.is_subset(&said)
            || found.iter().any(|other| jaccard_similarity(other, &words) >= MIN_TOPIC_SIMILARITY)
        {
            continue;
        }
        if let Some((_, gap)) = gaps
            .iter_mut()
            .find(|(other, _)| jaccard_similarity(other, &words) >= MIN_TOPIC_SIMILARITY)
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

/// Returns the words of the user's message.
fn words_of_user(events: &[Event]) -> BTreeSet<String> {
    let texts = events.iter().filter_map(|event| match &event.body {
        EventBody::UserMessage { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.flat_map(significant_words).collect()
}

fn gap(topic: &str, why: String) -> Gap {
    let topic = to_one_line(topic, MAX_TOPIC_CHARACTERS);
    let question = if topic.ends_with('?') {
        topic.clone()
    } else {
        format!("What should be known about \u{201c}{topic}\u{201d}?")
    };
    Gap { topic, question, why, priority: 1 }
}

/// Returns the queries that found nothing, with their tools, and the words of those that found
/// something.
fn searches(events: &[Event]) -> (Vec<(&str, String)>, Vec<BTreeSet<String>>) {
    let mut asked: HashMap<&CallId, String> = HashMap::new();
    let (mut missed, mut found) = (Vec::new(), Vec::new());
    for event in events {
        match &event.body {
            EventBody::ToolCall { call, tool, arguments, .. }
                if SEARCHES.contains(&tool.as_str()) =>
            {
                // Arguments that are no JSON were refused, so nothing was searched.
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
                if let Some(query) = arguments["query"].as_str() {
                    asked.insert(call, query.to_owned());
                }
            }
            EventBody::ToolResult { call, tool, status: CallStatus::Ok, report, .. } => {
                let Some(query) = asked.remove(call) else { continue };
                match report.as_deref().and_then(is_empty) {
                    Some(true) => missed.push((tool.as_str(), query)),
                    Some(false) => found.push(significant_words(&query)),
                    None => {}
                }
            }
            _ => {}
        }
    }
    (missed, found)
}

/// Tells whether a search found nothing. Returns none if that is unknown, because the data was too
/// long to record.
fn is_empty(report: &CallReport) -> Option<bool> {
    report.data.as_ref()?.as_array().map(Vec::is_empty)
}

/// Returns the user's question as a gap if the answer says that nothing was found.
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
    let words = significant_words(asked);
    // A long message is no topic, and neither is a single word.
    let fits = (2..=20).contains(&words.len()) && asked.trim_end().ends_with('?');
    (fits && NOT_FOUND_PHRASES.iter().any(|phrase| answer.contains(phrase)))
        .then(|| gap(asked, "the answer to it was not found".to_owned()))
}
