//! Builds the index, its embedder and the document reader from the configuration.

mod embedding;

use std::path::PathBuf;

use lango_egress::{ClientLimits, GuardedClient};
use lango_librarian::documents::{DocumentReader, Ingester, PageFetcher, ReadLimits};
use lango_librarian::skills::SkillDrafts;
use lango_librarian::{LIBRARIAN, WebSearchClient};
use lango_operator::skill_directories;
use lango_redaction::Scrubber;
use lango_retrieval::RetrievalIndex;
use lango_store::Database;

use crate::config::Config;
use crate::{AppError, Home, web};

pub(crate) use embedding::secrets;
pub use embedding::{EmbeddingChoice, choose_embedding};

/// Opens the index of a database, with the embedder of the configuration.
pub async fn open(config: &Config, database: Database) -> Result<RetrievalIndex, AppError> {
    Ok(RetrievalIndex::open(database, choose_embedding(config).embedder()).await?)
}

/// Returns the ingester of files and pages into the index, which replaces the values that the
/// scrubber knows.
pub fn build_ingester(
    config: &Config,
    index: RetrievalIndex,
    scrubber: Scrubber,
) -> Result<Ingester, AppError> {
    let (reader, fetch) = build_reader(config)?;
    Ok(Ingester::new(index, reader.with_scrubber(scrubber), Some(fetch)))
}

/// Returns the reader of files and the fetcher of pages.
pub(crate) fn build_reader(config: &Config) -> Result<(DocumentReader, PageFetcher), AppError> {
    let limits = ReadLimits { max_file_bytes: config.librarian.max_file_bytes };
    let reader = DocumentReader::of_this_program(limits)?;
    Ok((reader, PageFetcher::new(web::build_guard(config, LIBRARIAN)?, limits)))
}

/// Returns the directories of the librarian's drafts and of the user's own skills.
pub fn open_drafts(home: &Home) -> Result<SkillDrafts, AppError> {
    let user = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let own = skill_directories(user, None)
        .into_iter()
        .next()
        .ok_or_else(|| AppError::usage("there is no home directory for skills: set HOME"))?;
    Ok(SkillDrafts { pending: home.data.join("skill-drafts"), own })
}

/// Returns the web search server, if one is configured.
pub(crate) fn build_web_search(config: &Config) -> Result<Option<WebSearchClient>, AppError> {
    let Some(url) = &config.search.url else { return Ok(None) };
    // The user named this server, so it may be reached at any address.
    let guard = web::build_guard_with_server(config, LIBRARIAN, url)?;
    let client = GuardedClient::new(guard, ClientLimits::default());
    let search =
        WebSearchClient::new(url, client).map_err(|error| AppError::usage(error.to_string()))?;
    Ok(Some(search))
}
