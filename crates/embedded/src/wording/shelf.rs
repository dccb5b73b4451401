//! The librarian's shelves: documents and skills.

use lango_model::AnsweredCall;
use serde::Deserialize;

use super::answer::{Answer, code, count, inline};
use super::knowledge::result;

#[derive(Deserialize)]
struct Ingested {
    collection: String,
    documents: u64,
    added: u64,
    replaced: u64,
    unchanged: u64,
    removed: u64,
    passages: u64,
    skipped: Vec<Skipped>,
    #[serde(default)]
    more_skipped: u64,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Deserialize)]
struct Skipped {
    source: String,
    why: String,
}

/// `rag_ingest`.
pub(super) fn ingested(call: &AnsweredCall) -> Option<Answer> {
    let told: Ingested = result(call)?;
    let parts = [
        (told.added, "added"),
        (told.replaced, "replaced"),
        (told.unchanged, "unchanged"),
        (told.removed, "removed"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let collection = code(&told.collection);
    let lead = if parts.is_empty() {
        format!("No document was taken into {collection}")
    } else {
        let documents = number(told.documents, "document", "documents");
        let passages = number(told.passages, "new passage", "new passages");
        format!("{documents} read into {collection}: {}; {passages}", parts.join(", "))
    };
    let skipped = told.more_skipped.saturating_add(told.skipped.len() as u64);
    let answer = if skipped == 0 {
        Answer::new(format!("{lead}."))
    } else {
        let lines = told
            .skipped
            .iter()
            .map(|one| format!("- {}: {}", inline(&one.source, 300), inline(&one.why, 300)));
        let lines: Vec<String> = lines.collect();
        Answer::new(format!("{lead}. Left out, {skipped}:")).lines(lines.join("\n"))
    };
    Some(told.notes.iter().fold(answer, |answer, note| answer.note(inline(note, 300))))
}

fn number(number: u64, one: &str, several: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), one, several)
}

#[derive(Deserialize)]
struct Listed {
    collections: Vec<Collection>,
    documents: Vec<Document>,
    more: bool,
}

#[derive(Deserialize)]
struct Collection {
    #[serde(rename = "collection")]
    name: String,
    documents: u64,
    passages: u64,
}

#[derive(Deserialize)]
struct Document {
    source: String,
    title: String,
}

/// `rag_list`.
pub(super) fn listed(call: &AnsweredCall) -> Option<Answer> {
    let Listed { collections, documents, more } = result(call)?;
    if collections.is_empty() {
        return Some(Answer::new("There are no documents yet."));
    }
    let sizes = collections.iter().map(|one| {
        let documents = number(one.documents, "document", "documents");
        let passages = number(one.passages, "passage", "passages");
        format!("{documents} with {passages} in {}", code(&one.name))
    });
    let sizes: Vec<String> = sizes.collect();
    let lines = documents
        .iter()
        .map(|one| format!("- {} ({})", inline(&one.title, 160), inline(&one.source, 300)));
    let lines: Vec<String> = lines.collect();
    let answer = Answer::new(format!("{}:", sizes.join("; "))).lines(lines.join("\n"));
    Some(if more { answer.note("(There are more documents than these.)") } else { answer })
}

#[derive(Deserialize)]
struct Created {
    #[serde(rename = "created")]
    name: String,
    state: String,
    next: String,
}

/// `create_skill`.
pub(super) fn created(call: &AnsweredCall) -> Option<Answer> {
    let Created { name, state, next } = result(call)?;
    let (name, state) = (code(&name), inline(&state, 200));
    let command = next.split_once(": lango ").map(|(_, rest)| format!("lango {}", rest.trim()));
    let answer = Answer::new(format!("Wrote the skill {name}, {state}."));
    Some(match command {
        Some(command) => answer.note(format!("To look at it and approve it: {}", code(&command))),
        None => answer.note(inline(&next, 300)),
    })
}

#[derive(Deserialize)]
struct Skills {
    skills: Vec<Skill>,
}

#[derive(Deserialize)]
struct Skill {
    name: String,
    description: String,
    state: String,
}

/// `list_skills`.
pub(super) fn skills(call: &AnsweredCall) -> Option<Answer> {
    let Skills { skills } = result(call)?;
    if skills.is_empty() {
        return Some(Answer::new("There are no skills yet."));
    }
    let lines = skills.iter().map(|one| {
        let (description, state) = (inline(&one.description, 300), inline(&one.state, 100));
        format!("- {}: {description} ({state})", code(&one.name))
    });
    let lines: Vec<String> = lines.collect();
    let skills = count(lines.len(), "skill", "skills");
    Some(Answer::new(format!("{skills}:")).lines(lines.join("\n")))
}
