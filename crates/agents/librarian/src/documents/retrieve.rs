//! Finding passages of documents, by what they say and by what they are about.

use std::collections::HashSet;

use lango_retrieval::{EntryKey, Found, Hit, Mode, Retrieval, Search, Space};
use serde::Serialize;

use crate::LibrarianError;
use crate::graph::Graph;

/// Passages that are less similar in meaning, and share no word, are not an answer.
const LEAST_SIMILARITY: f32 = 0.15;

/// How far through the graph related documents are looked for.
const DEPTH: u32 = 2;

/// What is looked for in documents.
#[derive(Debug, Clone)]
pub struct DocumentSearch {
    /// A question, or words.
    pub query: String,
    /// Only in these collections; in all of them if there are none.
    pub collections: Vec<String>,
    /// Passages that are found directly, at most.
    pub limit: usize,
    /// How.
    pub mode: Mode,
    /// Passages of documents that are related through the graph, at most, in addition.
    pub related: usize,
}

/// A passage, with where it stands.
#[derive(Debug, Clone, Serialize)]
pub struct FoundPassage {
    /// The collection of its document.
    pub collection: String,
    /// The document: a path or an address.
    pub source: String,
    /// Where in it.
    pub position: String,
    /// The headings it stands under.
    pub heading: String,
    /// The text.
    pub text: String,
    /// How good it is; comparable within one search only.
    pub score: f64,
    /// The cosine of its angle to the query, where it was found by meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f32>,
    /// What led from a passage above to this one, where it was found through the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
}

/// What was found, the best first; what is related through the graph last.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FoundPassages {
    /// The passages.
    pub passages: Vec<FoundPassage>,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Searches documents. With a graph, what its relations lead to is looked at too: for each related
/// document, the passage that fits the query best.
pub async fn retrieve(
    retrieval: &Retrieval,
    graph: Option<&Graph>,
    search: &DocumentSearch,
) -> Result<FoundPassages, LibrarianError> {
    let direct = Search {
        collections: search.collections.clone(),
        mode: search.mode,
        least_similarity: LEAST_SIMILARITY,
        ..Search::new(Space::Documents, search.query.as_str(), search.limit)
    };
    let Found { hits, words_only } = retrieval.search(&direct).await?;
    let mut related = Vec::new();
    if let Some(graph) = graph
        && search.related > 0
    {
        related = related_passages(retrieval, graph, search, &hits).await?;
    }
    let note = match words_only {
        Some(error) => Some(format!("found by words alone: {error}")),
        None if hits.is_empty() => Some("no document says anything about this".to_owned()),
        None => None,
    };
    let mut passages: Vec<FoundPassage> = hits.into_iter().map(|hit| passage(hit, None)).collect();
    passages.extend(related);
    Ok(FoundPassages { passages, note })
}

async fn related_passages(
    retrieval: &Retrieval,
    graph: &Graph,
    search: &DocumentSearch,
    hits: &[Hit],
) -> Result<Vec<FoundPassage>, LibrarianError> {
    let mut seen = HashSet::new();
    let starts: Vec<EntryKey> = hits
        .iter()
        .map(|hit| hit.entry.clone())
        .filter(|entry| seen.insert(entry.clone()))
        .collect();
    let mut passages = Vec::new();
    for found in graph.neighbours_of_entries(&starts, DEPTH, search.related).await? {
        let entry = found.entry;
        let wanted =
            search.collections.is_empty() || search.collections.contains(&entry.collection);
        if entry.space != Space::Documents || !wanted {
            continue;
        }
        if let Some(hit) = retrieval.best_passage(&entry, &search.query).await? {
            passages.push(passage(hit, Some(found.path)));
        }
    }
    Ok(passages)
}

fn passage(hit: Hit, through: Option<String>) -> FoundPassage {
    FoundPassage {
        collection: hit.entry.collection,
        source: hit.source,
        position: hit.position,
        heading: hit.heading,
        text: hit.text,
        score: hit.score,
        similarity: hit.similarity,
        through,
    }
}
