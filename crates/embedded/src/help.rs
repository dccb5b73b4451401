//! Answers questions about Lango from a page of questions and short answers.
//!
//! Every way to ask has a vector that is part of the program, so that a question is compared with all of
//! them in no time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use lango_encoder::Encoder;
use lango_text::{split_words, stem_word};
use sha2::{Digest as _, Sha256};

use super::weights::HIDDEN;

/// The page, as it stands in the documentation.
const PAGE: &str = include_str!("../../../docs/help.md");
/// The digest of the ways to ask, and their vectors.
const VECTORS: &[u8] = include_bytes!("../weights/help.q8");
const DIGEST_BYTES: usize = 32;
/// The least likeness at which an entry answers a question.
const ACCEPTED: f32 = 0.40;
/// The weight of words that a question shares with an entry.
const WORD_WEIGHT: f32 = 0.15;

/// A question of the page with its answer.
#[derive(Debug)]
struct HelpEntry {
    /// The question, and other ways to ask it.
    questions: Vec<&'static str>,
    /// The answer, with its commands.
    answer: &'static str,
    /// The stems of the words of the questions and of the answer.
    stems: BTreeSet<String>,
}

/// Holds the page.
#[derive(Debug)]
struct HelpPage {
    entries: Vec<HelpEntry>,
    /// How many entries have a stem.
    frequency: BTreeMap<String, usize>,
}

/// An entry that answers a question.
struct FoundHelp<'p> {
    entry: &'p HelpEntry,
    /// How much the question is like the nearest way to ask of the entry.
    likeness: f32,
}

/// Answers a question about Lango: one sentence and the commands. None where the page has no answer.
pub fn answer_help_question(question: &str) -> Option<String> {
    HelpPage::shared().find(question).map(|found| found.entry.answer.to_owned())
}

/// Answers a question that is at least this much like one of the page's own.
pub(crate) fn answer_like_question(question: &str, likeness: f32) -> Option<&'static str> {
    HelpPage::shared()
        .find(question)
        .filter(|found| found.likeness >= likeness)
        .map(|found| found.entry.answer)
}

/// Computes the file of vectors for the page.
pub fn encode_help_page() -> Vec<u8> {
    let page = HelpPage::shared();
    let mut file = page.digest().to_vec();
    for entry in &page.entries {
        for vector in Encoder::shared().encode(&entry.questions) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a part of a vector of length 1 is at most 1"
            )]
            file.extend(
                vector.iter().map(|value| ((value * 127.0).round() as i8).to_le_bytes()[0]),
            );
        }
    }
    file
}

impl HelpPage {
    fn shared() -> &'static Self {
        static SHARED: OnceLock<HelpPage> = OnceLock::new();
        SHARED.get_or_init(|| Self::parse(PAGE))
    }

    fn parse(page: &'static str) -> Self {
        let entries: Vec<HelpEntry> =
            page.split("\n### ").skip(1).filter_map(HelpEntry::parse).collect();
        let mut frequency = BTreeMap::new();
        for stem in entries.iter().flat_map(|entry| &entry.stems) {
            *frequency.entry(stem.clone()).or_insert(0) += 1;
        }
        Self { entries, frequency }
    }

    /// Returns the digest of all ways to ask.
    fn digest(&self) -> [u8; DIGEST_BYTES] {
        let mut digest = Sha256::new();
        for question in self.entries.iter().flat_map(|entry| &entry.questions) {
            digest.update(question.as_bytes());
            digest.update(b"\n");
        }
        digest.finalize().into()
    }

    fn find(&self, question: &str) -> Option<FoundHelp<'_>> {
        let asked = Encoder::shared().encode(&[question]).pop()?;
        let stems = stems_of(question);
        let weight = |stem: &String| {
            #[expect(clippy::cast_precision_loss, reason = "the page has few entries")]
            self.frequency
                .get(stem)
                .map_or(0.0, |count| (self.entries.len() as f32 / *count as f32).ln())
        };
        let all: f32 = stems.iter().map(weight).sum::<f32>().max(1.0);
        let mut vectors = VECTORS[DIGEST_BYTES.min(VECTORS.len())..].chunks_exact(HIDDEN);
        let mut best: Option<(f32, f32, &HelpEntry)> = None;
        for entry in &self.entries {
            let own = vectors.by_ref().take(entry.questions.len());
            let alike = own.map(|vector| likeness(vector, &asked)).fold(-1.0, f32::max);
            let shared: f32 = stems.intersection(&entry.stems).map(weight).sum();
            let score = alike + WORD_WEIGHT * shared / all;
            if best.is_none_or(|(_, most, _)| score > most) {
                best = Some((alike, score, entry));
            }
        }
        let (likeness, _, entry) = best?;
        (likeness >= ACCEPTED).then_some(FoundHelp { entry, likeness })
    }
}

/// Compares a stored vector with one of length 1.
fn likeness(stored: &[u8], asked: &[f32]) -> f32 {
    let sum: f32 = stored
        .iter()
        .zip(asked)
        .map(|(byte, value)| f32::from(i8::from_le_bytes([*byte])) * value)
        .sum();
    sum / 127.0
}

impl HelpEntry {
    fn parse(text: &'static str) -> Option<Self> {
        let text = text.split("\n## ").next()?;
        let (question, rest) = text.split_once('\n')?;
        let mut questions = vec![question.trim()];
        let mut answer = rest.trim();
        if let Some(also) = answer.strip_prefix("also:") {
            let (also, after) = also.split_once('\n')?;
            questions.extend(also.split(';').map(str::trim).filter(|way| !way.is_empty()));
            answer = after.trim();
        }
        let mut stems: BTreeSet<String> = questions.iter().flat_map(|way| stems_of(way)).collect();
        stems.extend(stems_of(answer));
        Some(Self { questions, answer, stems })
    }
}

fn stems_of(text: &str) -> BTreeSet<String> {
    split_words(text)
        .filter(|word| !lango_text::is_stop_word(word))
        .map(|word| stem_word(&word))
        .collect()
}

#[cfg(test)]
mod tests;
