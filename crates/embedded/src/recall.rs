//! Looks a question up where its answer may be, one store after the other.
//!
//! People do not say where something is: they told it once, in whatever words. A store that knows
//! nothing is therefore not the end. Only whether a search found something counts here, never what.

use std::collections::BTreeMap;
use std::ops::Range;

use lango_model::{AnsweredCall, CallOutcome, EarlierCall};
use lango_text::{is_stop_word, split_words, stem_word};
use lango_tool::ToolDeclaration;

use super::surroundings::Surroundings;

/// Tools that look something up by a text, in the order in which they are tried.
pub(crate) const LOOKUPS: [&str; 3] = ["search_knowledge", "memory_search", "rag_retrieve"];

/// Looks up relations, by their parts.
pub(crate) const RELATION_LOOKUP: &str = "graph_query";

/// Tools that store what the user says.
const STORES: [&str; 4] = ["memory_store", "save_knowledge", "graph_add", "save_learning"];

/// Limits the files whose texts are searched for an answer.
const MAX_SEARCHED_FILES: usize = 300;

/// A word in the name of a file says as much as several in its text.
const NAME_WEIGHT: usize = 2;

/// Limits the lines of a file that is shown whole.
const MAX_SHOWN_LINES: usize = 30;

/// Words with which questions begin.
#[rustfmt::skip]
const QUESTION_WORDS: [&str; 30] = [
    "what", "whats", "what's", "which", "who", "whos", "who's", "whose", "whom", "when", "whens",
    "when's", "where", "wheres", "where's", "how", "why", "is", "are", "was", "were", "do", "does",
    "did", "has", "have", "will", "would", "am", "whats'",
];

/// Words before a question that say nothing.
#[rustfmt::skip]
const LEAD_WORDS: [&str; 20] = [
    "so", "and", "ok", "okay", "hey", "hi", "hello", "hm", "hmm", "well", "again", "um", "oh",
    "wait", "please", "quick", "sorry", "remind", "me", "tell",
];

/// Words that say where to look.
#[rustfmt::skip]
const STORE_WORDS: [&str; 22] = [
    "knowledge", "document", "documents", "memory", "memories", "remember", "relation", "relations",
    "graph", "ingested", "library", "lesson", "lessons", "learned", "learnt", "saved", "collection",
    "base", "observations", "skill", "skills", "web",
];

/// Tells whether a tool looks something up in a store.
pub(crate) fn is_lookup(tool: &str) -> bool {
    LOOKUPS.contains(&tool) || tool == RELATION_LOOKUP
}

/// Tells whether a text is a question, and not an order.
pub(crate) fn is_question(words: &str) -> bool {
    let has_mark = words.trim_end().ends_with('?');
    // What another person asks is quoted.
    if words.trim_start().starts_with(['"', '“', '«']) && !has_mark {
        return false;
    }
    // "When I was a girl …" tells something.
    let tells = !has_mark && words.to_lowercase().split_whitespace().take(2).eq(["when", "i"]);
    first_word(words).is_some_and(|word| QUESTION_WORDS.contains(&word.as_str())) && !tells
        || has_mark && words.split_whitespace().count() <= 12
}

/// Tells whether a text asks what, which, who, when, where, how or why: whatever it is about, it is no order.
pub(crate) fn asks_for_fact(words: &str) -> bool {
    const ASKING: [&str; 8] = ["what", "which", "who", "whose", "when", "where", "how", "why"];
    is_open_question(words) && first_word(words).is_some_and(|word| ASKING.contains(&word.as_str()))
}

/// Returns the first word that says something.
fn first_word(words: &str) -> Option<String> {
    words
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ':'))
        .map(|word| word.trim_matches(['.', '!', '…', '"']).to_lowercase().replace('’', "'"))
        .filter(|word| !word.is_empty())
        .find(|word| !LEAD_WORDS.contains(&word.as_str()))
}

/// Tells whether a text is a question that may be answered by any store.
pub(crate) fn is_open_question(words: &str) -> bool {
    is_question(words) && !split_words(words).any(|word| STORE_WORDS.contains(&word.as_str()))
}

/// Tells whether a question is about all that is remembered of the user.
pub(crate) fn is_about_user(words: &str) -> bool {
    let words: Vec<String> = split_words(words).collect();
    let knows =
        words.iter().any(|word| ["know", "remember", "remembered"].contains(&word.as_str()));
    knows && words.len() <= 8 && words.ends_with(&["about".to_owned(), "me".to_owned()])
}

/// Tells whether a question asks for a duration or a deadline: "how long till a refund is paid out?"
pub(crate) fn asks_how_long(words: &str) -> bool {
    let words: Vec<String> = split_words(words).collect();
    let is = |pair: &[String], one: &str, other: &str| pair[0] == one && pair[1] == other;
    words.windows(2).any(|pair| {
        is(pair, "how", "long")
            || is(pair, "how", "soon")
            || is(pair, "until", "when")
            || is(pair, "by", "when")
    })
}

/// Tells whether a question is about a detail of what is the user's: "name of my cat?"
pub(crate) fn asks_for_detail_of_user(words: &str) -> bool {
    const DETAILS: [&str; 9] =
        ["name", "birthday", "number", "code", "address", "phone", "age", "anniversary", "colour"];
    /// What has such details, and is looked up in another place.
    const OTHERS: [&str; 15] = [
        "file",
        "files",
        "folder",
        "folders",
        "wallet",
        "computer",
        "machine",
        "server",
        "secret",
        "secrets",
        "key",
        "keys",
        "host",
        "notes",
        "documents",
    ];
    let words: Vec<String> = split_words(words).collect();
    let is_own = |three: &[String]| {
        DETAILS.contains(&three[0].as_str())
            && three[1] == "of"
            && matches!(three[2].as_str(), "my" | "our")
    };
    words.windows(3).any(is_own) && !words.iter().any(|word| OTHERS.contains(&word.as_str()))
}

/// Tells whether a call looked something up and found nothing.
pub(crate) fn found_nothing(call: &AnsweredCall) -> bool {
    let CallOutcome::Tool { report: Some(report), .. } = &call.outcome else { return false };
    is_lookup(&call.name) && report.found_nothing
}

/// Returns the next look-up after others that found nothing: its tool and arguments.
pub(crate) fn next_lookup(
    done: &[&AnsweredCall],
    own: &[ToolDeclaration],
    words: &str,
) -> Option<(&'static str, BTreeMap<String, String>)> {
    let last = done.last()?;
    let arguments: BTreeMap<String, String> =
        serde_json::from_str(&last.arguments).unwrap_or_default();
    // A relation may be on record in other words.
    if last.name == RELATION_LOOKUP && arguments.contains_key("predicate") && arguments.len() > 1 {
        let ends = arguments.into_iter().filter(|(name, _)| name != "predicate").collect();
        return Some((RELATION_LOOKUP, ends));
    }
    let is_own = |name: &str| own.iter().any(|tool| *tool.name == *name);
    let next = LOOKUPS
        .into_iter()
        .find(|name| is_own(name) && !done.iter().any(|call| call.name == *name));
    let Some(next) = next else {
        let relations = done.iter().filter(|call| call.name == RELATION_LOOKUP).count();
        let end = ["object", "subject"].into_iter().nth(relations)?;
        let subject = content_ranges(words).pop().filter(|_| is_own(RELATION_LOOKUP))?;
        let arguments = BTreeMap::from([(end.to_owned(), words[subject].to_owned())]);
        return Some((RELATION_LOOKUP, arguments));
    };
    let query = arguments.get("query").cloned().unwrap_or_else(|| subject_of(words).to_owned());
    Some((next, BTreeMap::from([("query".to_owned(), query)])))
}

/// Returns the part of a question that says what it is about, as it stands there.
pub(crate) fn subject_of(words: &str) -> &str {
    let ranges = content_ranges(words);
    match (ranges.first(), ranges.last()) {
        (Some(first), Some(last)) => &words[first.start..last.end],
        _ => words.trim(),
    }
}

/// Tells whether a question asks for a detail, and not for what a store has.
pub(crate) fn asks_for_detail(words: &str) -> bool {
    let first = first_word(words);
    first.is_some_and(|word| ["when", "who", "where", "why", "how"].contains(&word.as_str()))
        && !words.to_lowercase().contains("how many")
}

/// Returns the tool that stored what a question is about, a moment ago.
pub(crate) fn store_of_subject<'c>(words: &str, earlier: &'c [EarlierCall]) -> Option<&'c str> {
    let asked: Vec<String> = content_words(words).iter().map(|word| stem_word(word)).collect();
    let is_about = |call: &&EarlierCall| {
        STORES.contains(&call.tool.as_str())
            && split_words(&call.arguments).any(|word| asked.contains(&stem_word(&word)))
    };
    earlier.iter().rev().find(is_about).map(|call| call.tool.as_str())
}

/// Returns a request that shows the part of a file which may answer a question.
pub(crate) fn find_in_files(words: &str, surroundings: &dyn Surroundings) -> Option<String> {
    let asked: Vec<String> = content_words(words).iter().map(|word| stem_word(word)).collect();
    let mut best: Option<(usize, String, Option<String>)> = None;
    let files = surroundings.list_files();
    for entry in files.iter().filter(|entry| !entry.is_directory).take(MAX_SEARCHED_FILES) {
        let Some(text) = surroundings.read_text(&entry.path) else { continue };
        let name = entry.path.rsplit('/').next().unwrap_or_default();
        let in_name = NAME_WEIGHT * count_matches(&asked, name);
        let is_short = text.lines().count() <= MAX_SHOWN_LINES;
        let lines = text.lines().map(|line| (weigh_line(&asked, line), line));
        let Some((in_line, line)) = lines.max_by_key(|(count, _)| *count) else { continue };
        let total = in_name + in_line;
        let needed = if asked.len() > 1 { 2 } else { 1 };
        if total < needed || best.as_ref().is_some_and(|(most, _, _)| total <= *most) {
            continue;
        }
        let pattern = rarest_match(&asked, line, &text);
        let whole = is_short && in_name > 0 || pattern.is_none();
        best = Some((total, entry.path.clone(), pattern.filter(|_| !whole)));
    }
    let (_, path, pattern) = best?;
    Some(match pattern {
        Some(pattern) => format!("search for \"{pattern}\" in \"{path}\""),
        None => format!("show me \"{path}\""),
    })
}

/// Counts the words of a question that a line has; the name of a setting counts as two.
fn weigh_line(asked: &[String], line: &str) -> usize {
    let name = line.split([':', '=']).next().filter(|name| name.len() < line.len());
    let is_setting = name.is_some_and(|name| {
        let mut words = split_words(name);
        words.next().is_some_and(|word| asked.contains(&stem_word(&word))) && words.next().is_none()
    });
    count_matches(asked, line) + usize::from(is_setting)
}

/// Counts the words of a question that a text has.
fn count_matches(asked: &[String], text: &str) -> usize {
    let own: Vec<String> = split_words(text).map(|word| stem_word(&word)).collect();
    asked.iter().filter(|word| own.contains(word)).count()
}

/// Returns the word of a line that a question has, and the fewest lines of the text.
fn rarest_match(asked: &[String], line: &str, text: &str) -> Option<String> {
    let words = split_words(line).filter(|word| asked.contains(&stem_word(word)));
    words.min_by_key(|word| text.to_lowercase().matches(word.as_str()).count())
}

fn content_words(words: &str) -> Vec<String> {
    content_ranges(words).into_iter().map(|range| words[range].to_lowercase()).collect()
}

/// Returns the places of the words that say something.
fn content_ranges(words: &str) -> Vec<Range<usize>> {
    const FILLERS: [&str; 8] = ["told", "know", "say", "says", "said", "thing", "much", "many"];
    let is_content = |range: &Range<usize>| {
        let word = words[range.clone()].to_lowercase();
        let word = word.as_str();
        word.chars().count() > 1
            && !is_stop_word(word)
            && !QUESTION_WORDS.contains(&word)
            && !LEAD_WORDS.contains(&word)
            && !FILLERS.contains(&word)
    };
    let mut ranges = Vec::new();
    let mut start = 0;
    for part in words.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        ranges.push(start..start + word.len());
        start += part.len();
    }
    ranges.retain(is_content);
    ranges
}

#[cfg(test)]
mod tests;
