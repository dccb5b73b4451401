//! What the librarian knows: knowledge, lessons and open questions.

use lango_model::AnsweredCall;
use serde::Deserialize;

use super::answer::{Answer, code, count, inline};
use super::deed::given;

/// Characters of a text in a list.
const LONGEST_TEXT: usize = 600;

/// The result as a type of ours; none where it is something else.
pub(super) fn result<'a, T: Deserialize<'a>>(call: &'a AnsweredCall) -> Option<T> {
    serde_json::from_str(&call.result).ok()
}

/// The day of a moment.
pub(super) fn day(moment: &str) -> &str {
    moment.split_once('T').map_or(moment, |(day, _)| day)
}

#[derive(Deserialize)]
struct Query {
    query: String,
}

#[derive(Deserialize)]
struct Hits<T> {
    hits: Vec<T>,
    note: Option<String>,
}

#[derive(Deserialize)]
struct Known {
    key: String,
    text: String,
    source: Option<String>,
    by: String,
    recorded_at: String,
}

/// `search_knowledge`.
pub(super) fn known(call: &AnsweredCall) -> Option<Answer> {
    let Hits { hits, note } = result::<Hits<Known>>(call)?;
    let Query { query } = given(call)?;
    let lines = hits.iter().map(|hit| {
        let source = hit.source.as_deref().map(|source| format!(", from {}", inline(source, 200)));
        format!(
            "- {}: {} ({}, by {}{})",
            inline(&hit.key, 200),
            inline(&hit.text, LONGEST_TEXT),
            day(&hit.recorded_at),
            inline(&hit.by, 60),
            source.unwrap_or_default()
        )
    });
    Some(found(&query, lines, note.as_deref()))
}

#[derive(Deserialize)]
struct Lesson {
    trigger: String,
    fix: String,
    diagnosis: Option<String>,
    successes: u64,
    tries: u64,
}

/// `search_learnings`.
pub(super) fn lessons(call: &AnsweredCall) -> Option<Answer> {
    let Hits { hits, note } = result::<Hits<Lesson>>(call)?;
    let Query { query } = given(call)?;
    let lines = hits.iter().map(|hit| {
        let why = hit.diagnosis.as_deref().map(|why| format!(" (why: {})", inline(why, 300)));
        let tried = match hit.tries {
            0 => "not tried yet".to_owned(),
            tries => format!("helped {} of {tries} times", hit.successes),
        };
        let (trigger, fix) = (inline(&hit.trigger, 200), inline(&hit.fix, LONGEST_TEXT));
        format!("- {trigger}: {fix}{} ({tried})", why.unwrap_or_default())
    });
    Some(found(&query, lines, note.as_deref()))
}

fn found(query: &str, lines: impl Iterator<Item = String>, note: Option<&str>) -> Answer {
    let lines: Vec<String> = lines.collect();
    let query = code(query);
    if lines.is_empty() {
        return Answer::new(format!("Nothing was found for {query}."));
    }
    let entries = count(lines.len(), "entry", "entries");
    let answer = Answer::new(format!("{entries} found for {query}:")).lines(lines.join("\n"));
    match note {
        Some(note) => answer.note(format!("({})", inline(note, 300))),
        None => answer,
    }
}

#[derive(Deserialize)]
struct Saved {
    key: String,
    version: i64,
    outcome: Outcome,
    replaced: Option<Replaced>,
    /// Of an answer to a question.
    question: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Stored,
    NewVersion,
    Unchanged,
}

#[derive(Deserialize)]
struct Replaced {
    content: String,
}

impl Saved {
    fn told(&self) -> Answer {
        let (key, version) = (code(&self.key), self.version);
        let answer = match self.outcome {
            Outcome::Stored => Answer::new(format!("Saved under {key}.")),
            Outcome::NewVersion => Answer::new(format!("Saved under {key}, as version {version}.")),
            Outcome::Unchanged => {
                Answer::new(format!("{key} said the same already; nothing was changed."))
            }
        };
        match &self.replaced {
            Some(Replaced { content }) => {
                answer.note(format!("The version before said: {}", inline(content, 300)))
            }
            None => answer,
        }
    }
}

/// `save_knowledge`.
pub(super) fn saved(call: &AnsweredCall) -> Option<Answer> {
    result::<Saved>(call).map(|saved| saved.told())
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

/// `save_learning`.
pub(super) fn lesson_saved(call: &AnsweredCall) -> Option<Answer> {
    let Id { id } = result(call)?;
    Some(Answer::new(format!("Saved the lesson, as {}.", code(&id))))
}

#[derive(Deserialize)]
struct Questions {
    inquiries: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    id: String,
    question: String,
}

/// `librarian_pending_inquiries`.
pub(super) fn questions(call: &AnsweredCall) -> Option<Answer> {
    let Questions { inquiries } = result(call)?;
    if inquiries.is_empty() {
        return Some(Answer::new("There is no open question."));
    }
    let line =
        |one: &Question| format!("- {} ({})", inline(&one.question, LONGEST_TEXT), code(&one.id));
    let lines: Vec<String> = inquiries.iter().map(line).collect();
    let questions = count(lines.len(), "open question", "open questions");
    Some(Answer::new(format!("{questions}:")).lines(lines.join("\n")))
}

/// `librarian_answer_inquiry`.
pub(super) fn answered(call: &AnsweredCall) -> Option<Answer> {
    let saved: Saved = result(call)?;
    let question = inline(saved.question.as_deref()?, LONGEST_TEXT);
    Some(saved.told().lines(format!("Answered: {question}")))
}

#[derive(Deserialize)]
struct Dismissed {
    dismissed: Question,
}

/// `librarian_dismiss_inquiry`.
pub(super) fn dismissed(call: &AnsweredCall) -> Option<Answer> {
    let Dismissed { dismissed } = result(call)?;
    let question = inline(&dismissed.question, LONGEST_TEXT);
    Some(Answer::new(format!("Closed without an answer: {question}")))
}
