//! `lango documents search_documents`: shows what an agent would find.

use lango_app::config::Config;
use lango_librarian::Holdings;
use lango_librarian::documents::{DocumentSearch, retrieve_passages};
use lango_librarian::inquiries::InquirySettings;
use lango_retrieval::{Retrieval, RetrievalMode};
use lango_text::{make_line_visible, truncate_characters};

use super::Printer;
use crate::failure::Failure;
use lango_arguments::{SearchArguments, SearchMode};
use lango_terminal::write_stderr;

/// Limits the additional passages that are related through the graph.
const MAX_RELATED_COUNT: usize = 3;

/// Limits the characters of a passage that are shown.
const MAX_SHOWN_CHARACTERS: usize = 600;

pub(super) async fn search_documents(
    printer: Printer,
    config: &Config,
    retrieval: &Retrieval,
    arguments: SearchArguments,
) -> Result<(), Failure> {
    let SearchArguments { query, collections, limit, mode, json } = arguments;
    let has_model = retrieval.embedder().is_some();
    let through_graph = config.graph.enabled && matches!(mode, None | Some(SearchMode::Graph));
    let mode = match mode {
        Some(SearchMode::Vectors) => RetrievalMode::Vectors,
        Some(SearchMode::Hybrid | SearchMode::Graph) => RetrievalMode::Hybrid,
        None if has_model => RetrievalMode::Hybrid,
        Some(SearchMode::Words) | None => RetrievalMode::Words,
    };
    let stores = Holdings::open(retrieval.index().clone(), InquirySettings::default()).await?;
    let stores = stores.in_space(retrieval.space());
    let graph = through_graph.then(|| stores.graph());
    let search = DocumentSearch {
        query: query.join(" "),
        collections,
        limit: usize::from(limit),
        mode,
        related: MAX_RELATED_COUNT,
    };
    let found = retrieve_passages(retrieval, graph, &search).await?;
    if json {
        return Ok(printer.json(&found)?);
    }
    if let Some(note) = &found.note {
        write_stderr(&format!("{note}\n"));
    }
    if !has_model && mode == RetrievalMode::Words {
        write_stderr("found by words alone: there is no embedding model\n");
    }
    let mut text = String::new();
    for (number, passage) in (1..).zip(&found.passages) {
        let place = if passage.position.is_empty() { "" } else { ", " };
        text.push_str(&format!(
            "{number}. {}{place}{}  (score {:.4})\n",
            make_line_visible(&passage.source),
            passage.position,
            passage.score
        ));
        if let Some(through) = &passage.through {
            text.push_str(&format!("   related: {}\n", make_line_visible(through)));
        }
        if !passage.heading.is_empty() {
            text.push_str(&format!("   {}\n", make_line_visible(&passage.heading)));
        }
        let shown = truncate_characters(&passage.text, MAX_SHOWN_CHARACTERS);
        for line in shown.lines() {
            text.push_str(&format!("   | {}\n", make_line_visible(line)));
        }
        text.push('\n');
    }
    Ok(printer.print(&text)?)
}
