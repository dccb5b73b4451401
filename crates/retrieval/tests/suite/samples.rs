//! Provides entries and embedders for the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lango_protocol::Space;
use lango_retrieval::{
    EmbedError, EmbedFuture, Embedder, EmbeddingModel, EmbeddingPurpose, EntryKey, EntryKind,
    NewEntry, NewPassage, Retrieval, RetrievalIndex,
};
use lango_store::DatabaseLocation;

/// Knows the meaning of a few words, and counts its calls.
pub(crate) struct Thesaurus {
    model: EmbeddingModel,
    pub(crate) asked: AtomicUsize,
}

const MEANINGS: &[&[&str]] =
    &[&["car", "automobile", "vehicle"], &["bread", "loaf", "bakery"], &["moon", "lunar", "night"]];

impl Thesaurus {
    pub(crate) fn new(name: &str) -> Arc<Self> {
        let model = EmbeddingModel { name: name.to_owned() };
        Arc::new(Self { model, asked: AtomicUsize::new(0) })
    }
}

impl Embedder for Thesaurus {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn batch(&self) -> usize {
        2
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> EmbedFuture<'a> {
        Box::pin(async move {
            self.asked.fetch_add(texts.len(), Ordering::SeqCst);
            let vector = |text: &String| {
                let text = text.to_lowercase();
                let mut vector: Vec<f32> = MEANINGS
                    .iter()
                    .map(|words| f32::from(u8::from(words.iter().any(|word| text.contains(word)))))
                    .collect();
                // Something in common, so that no vector is empty.
                vector.push(0.1);
                let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
                vector.iter().map(|value| value / length).collect()
            };
            Ok(texts.iter().map(vector).collect())
        })
    }
}

/// Never answers.
pub(crate) struct Silent(pub(crate) EmbeddingModel);

impl Embedder for Silent {
    fn model(&self) -> &EmbeddingModel {
        &self.0
    }

    fn batch(&self) -> usize {
        8
    }

    fn embed<'a>(&'a self, _: &'a [String], _: EmbeddingPurpose) -> EmbedFuture<'a> {
        let error = EmbedError::Unreachable { model: self.0.name.clone(), reason: "away".into() };
        Box::pin(async move { Err(error) })
    }
}

pub(crate) async fn opened(
    location: &DatabaseLocation,
    embedder: Option<Arc<dyn Embedder>>,
) -> Retrieval {
    let database = lango_store::testing::open(location).await;
    let index = RetrievalIndex::open(database, embedder).await.unwrap();
    index.in_space(&Space::Owner)
}

pub(crate) fn document(key: &str, texts: &[&str]) -> NewEntry {
    in_collection("notes", key, texts)
}

pub(crate) fn in_collection(collection: &str, key: &str, texts: &[&str]) -> NewEntry {
    let passages = texts.iter().zip(1..).map(|(text, line)| NewPassage {
        heading: String::new(),
        text: (*text).to_owned(),
        position: format!("line {line}"),
    });
    NewEntry {
        key: EntryKey::new(EntryKind::Documents, collection, key),
        title: key.to_owned(),
        source: format!("{key}.md"),
        digest: texts.concat(),
        passages: passages.collect(),
    }
}
