//! Measures what a search costs, in collections of different sizes.
//!
//! The passages are made of words that are as unevenly common as those of a language. Their vectors
//! are made up, because embedding a hundred thousand texts says nothing about searching them; the
//! query is embedded for real each time.

use std::sync::Arc;

use anyhow::{Result, ensure};
use lango_protocol::Space;
use lango_retrieval::{
    EmbedFuture, Embedder, EmbeddingModel, EmbeddingPurpose, EntryKey, EntryKind, LocalEmbedder,
    NewEntry, NewPassage, Retrieval, RetrievalIndex, RetrievalMode, SearchQuery,
};
use lango_store::{Database, DatabaseLocation};

use crate::{REPEATS, block_on, figures, finish};

/// Passages of one entry.
const PASSAGES: usize = 20;
/// Words of one passage.
const WORDS: usize = 120;
/// Different words.
const VOCABULARY: f64 = 40_000.0;
/// Searches in one measurement.
const SEARCHES: u32 = 20;
/// Dimensions of a vector.
const DIMENSIONS: usize = 384;

pub(crate) fn measure() -> Result<()> {
    let mut table = figures::Table::default();
    for passages in [1_000, 10_000, 100_000] {
        let directory = tempfile::tempdir()?;
        let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
        block_on(async {
            let embedder = Arc::new(MadeUp { local: LocalEmbedder::new() });
            let index =
                RetrievalIndex::open(Database::open(&location).await?, Some(embedder)).await?;
            let retrieval = index.in_space(&Space::Owner);
            fill(&retrieval, passages).await?;
            for (what, mode) in [
                ("words", RetrievalMode::Words),
                ("meaning", RetrievalMode::Vectors),
                ("both", RetrievalMode::Hybrid),
            ] {
                let mut taken = Vec::with_capacity(REPEATS);
                for repeat in 0..=REPEATS {
                    let mut chance = Chance::new(1_000 * repeat as u64 + 7);
                    let queries: Vec<String> = (0..SEARCHES).map(|_| chance.question()).collect();
                    let before = crate::worker::cpu();
                    for query in queries {
                        let search = SearchQuery {
                            mode,
                            ..SearchQuery::new(EntryKind::Documents, query, 10)
                        };
                        let found = retrieval.search(&search).await?;
                        ensure!(found.words_only.is_none(), "the query was not embedded");
                    }
                    let spent = crate::worker::cpu().saturating_sub(before);
                    // The first round loads the model and fills the caches.
                    if repeat > 0 {
                        taken.push(spent.as_secs_f64() * 1000.0 / f64::from(SEARCHES));
                    }
                }
                let limit = (passages == 100_000 && mode == RetrievalMode::Hybrid).then_some(60.0);
                table.add(&format!("{passages} passages, by {what}, CPU-ms"), limit, taken);
            }
            Ok(())
        })?;
    }
    finish(&table)
}

async fn fill(retrieval: &Retrieval, passages: usize) -> Result<()> {
    let mut chance = Chance::new(1);
    for number in 0..passages / PASSAGES {
        let passages = (0..PASSAGES).map(|place| NewPassage {
            heading: chance.words(3),
            text: chance.words(WORDS),
            position: format!("line {place}"),
        });
        let entry = NewEntry {
            key: EntryKey::new(EntryKind::Documents, "bench", format!("document {number}")),
            title: format!("Document {number}"),
            source: format!("{number}.md"),
            digest: number.to_string(),
            passages: passages.collect(),
        };
        retrieval.put_entry(&entry).await?;
    }
    Ok(())
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between 0 and 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A word; the n-th most common one about n times rarer than the first.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 40,000")]
    fn word_from(&mut self, first: f64) -> String {
        let rank = (first * (VOCABULARY / first).powf(self.share())) as u64;
        // Letters only, so that stemming has something to do.
        let mut word = String::new();
        let mut rest = rank.wrapping_mul(2_654_435_761) % 11_881_376;
        for _ in 0..5 {
            word.push(char::from(b'a' + (rest % 26) as u8));
            rest /= 26;
        }
        word
    }

    pub(crate) fn words(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word_from(1.0)).collect();
        words.join(" ")
    }

    /// Five words that are not among the hundred most common, as a person might ask. Of those, real
    /// languages have the words that are left out of a search anyway.
    fn question(&mut self) -> String {
        let words: Vec<String> = (0..5).map(|_| self.word_from(100.0)).collect();
        format!("how do I {}", words.join(" "))
    }
}

/// Makes up the vectors of passages, and asks the real model for those of queries.
struct MadeUp {
    local: LocalEmbedder,
}

impl Embedder for MadeUp {
    fn model(&self) -> &EmbeddingModel {
        self.local.model()
    }

    fn batch(&self) -> usize {
        1024
    }

    fn embed<'a>(&'a self, texts: &'a [String], purpose: EmbeddingPurpose) -> EmbedFuture<'a> {
        if purpose == EmbeddingPurpose::Query {
            return self.local.embed(texts, purpose);
        }
        Box::pin(async move { Ok(texts.iter().map(|text| made_up(text)).collect()) })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a component needs few digits")]
fn made_up(text: &str) -> Vec<f32> {
    let seed = text.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31) ^ u64::from(byte));
    let mut chance = Chance::new(seed);
    let vector: Vec<f32> = (0..DIMENSIONS).map(|_| (chance.share() - 0.5) as f32).collect();
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.into_iter().map(|value| value / length).collect()
}
