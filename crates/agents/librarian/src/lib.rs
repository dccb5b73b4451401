//! The librarian's subsystems: documents, knowledge, lessons, relations, open questions.
//!
//! Tools are made before a database is open; [`Holdings`] is the handle that gets it later. Who
//! owns a tool and whether a call may run is decided elsewhere.

mod context;
pub mod documents;
mod error;
pub mod graph;
mod holdings;
pub mod inquiries;
pub mod knowledge;
pub mod learnings;
mod provenance;
mod register;
mod reporting;
mod seams;
pub mod skills;
mod text;
mod web;

pub use context::KnowledgeContext;
pub use error::LibrarianError;
pub use holdings::Holdings;
pub use provenance::Provenance;
pub use register::{Offered, register};
pub use seams::{InquiryContext, LibrarianAdvisor, LibrarianObserver};
pub use web::{WebHit, WebSearch, WebSearchError};
