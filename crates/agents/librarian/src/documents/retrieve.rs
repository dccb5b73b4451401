//! Finds passages of documents, by their text and through the graph.

use std::collections::HashSet;

use lango_retrieval::{
    EntryKey, EntryKind, Retrieval, RetrievalMode, SearchHit, SearchHits, SearchQuery,
};
use serde::Serialize;

use crate::LibrarianError;
use crate::graph::Graph;

/// Sets the similarity below which a passage without a common word is no hit.
const MIN_SIMILARITY: f32 = 0.15;

/// Limits how far related documents are searched for in the graph.
const MAX_GRAPH_DEPTH: u32 = 2;

/// Describes a search in documents.
#[derive(Debug, Clone)]
pub struct DocumentSearch {
    /// A question, or words.
    pub query: String,
    /// The collections to search; all if empty.
    pub collections: Vec<String>,
    /// Passages that are found directly, at most.
    pub limit: usize,
    /// The search mode.
    pub mode: RetrievalMode,
    /// Passages of documents that are related through the graph, at most, in addition.
    pub related: usize,
}

/// Represents a passage that was found, with its position.
#[derive(Debug, Clone, Serialize)]
pub struct PassageHit {
    /// The collection of its document.
    pub collection: String,
    /// The document: a path or an address.
    pub source: String,
    /// The position in the document.
    pub position: String,
    /// The headings above it.
    pub heading: String,
    /// The text.
    pub text: String,
    /// The rank score; scores are comparable within one search only.
    pub score: f64,
    /// The cosine similarity to the query, if it was found by meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f32>,
    /// Whose document it is, if it is of another space than the turn's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The path from a passage above to this one, if it was found through the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
}

/// Holds the passages that were found, the best first, those from the graph last.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PassageHits {
    /// The passages.
    pub passages: Vec<PassageHit>,
    /// A remark about the result as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Searches documents. With a graph, related documents are searched too: for each, the passage that
/// fits the query best.
pub async fn retrieve_passages(
    retrieval: &Retrieval,
    graph: Option<&Graph>,
    search: &DocumentSearch,
) -> Result<PassageHits, LibrarianError> {
    let direct = SearchQuery {
        collections: search.collections.clone(),
        mode: search.mode,
        min_similarity: MIN_SIMILARITY,
        ..SearchQuery::new(EntryKind::Documents, search.query.as_str(), search.limit)
    };
    let SearchHits { hits, words_only } = retrieval.search(&direct).await?;
    let mut related = Vec::new();
    if let Some(graph) = graph
        && search.related > 0
    {
        related = find_related_passages(retrieval, graph, search, &hits).await?;
    }
    let note = match words_only {
        Some(error) => Some(format!("found by words alone: {error}")),
        None if hits.is_empty() => Some("no document says anything about this".to_owned()),
        None => None,
    };
    let mut passages: Vec<PassageHit> =
        hits.into_iter().map(|hit| build_passage_hit(hit, None)).collect();
    passages.extend(related);
    Ok(PassageHits { passages, note })
}

async fn find_related_passages(
    retrieval: &Retrieval,
    graph: &Graph,
    search: &DocumentSearch,
    hits: &[SearchHit],
) -> Result<Vec<PassageHit>, LibrarianError> {
    let mut seen = HashSet::new();
    let starts: Vec<EntryKey> = hits
        .iter()
        .map(|hit| hit.entry.clone())
        .filter(|entry| seen.insert(entry.clone()))
        .collect();
    let mut passages = Vec::new();
    for found in graph.find_texts_related_to(&starts, MAX_GRAPH_DEPTH, search.related).await? {
        let entry = found.entry;
        let wanted =
            search.collections.is_empty() || search.collections.contains(&entry.collection);
        if entry.kind != EntryKind::Documents || !wanted {
            continue;
        }
        if let Some(hit) = retrieval.find_best_passage(&entry, &search.query).await? {
            passages.push(build_passage_hit(hit, Some(found.path)));
        }
    }
    Ok(passages)
}

fn build_passage_hit(hit: SearchHit, through: Option<String>) -> PassageHit {
    PassageHit {
        collection: hit.entry.collection,
        source: hit.source,
        position: hit.position,
        heading: hit.heading,
        text: hit.text,
        score: hit.score,
        similarity: hit.similarity,
        from: None,
        through,
    }
}
