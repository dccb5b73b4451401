//! Holds the librarian's subsystems: documents, knowledge, lessons, relations, open questions.
//!
//! [`LibrarianAgent`] opens them in a database and provides the tools, which share [`Holdings`]. The
//! topology decides which agent owns a tool, the runtime whether a call may run.

mod agent;
mod backfill;
mod context;
pub mod documents;
mod error;
pub mod graph;
mod holdings;
pub mod inquiries;
pub mod knowledge;
pub mod learnings;
mod proposing;
mod provenance;
mod reporting;
mod seams;
pub mod skills;
mod text;
mod web;

pub use agent::{
    DocumentSettings, KnowledgeSettings, LIBRARIAN, LibrarianAgent, LibrarianResources,
    LibrarianSettings,
};
pub use context::KnowledgeContext;
pub use error::LibrarianError;
pub use holdings::{Holdings, SpaceHoldings};
pub use provenance::Provenance;
pub use seams::{InquiryContext, LibrarianAdvisor, LibrarianObserver};
pub use web::{WebHit, WebSearchClient, WebSearchError};

/// The parts of the database's schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[lango_store::SchemaComponent] =
    &[graph::COMPONENT, learnings::COMPONENT, knowledge::COMPONENT, inquiries::COMPONENT];
