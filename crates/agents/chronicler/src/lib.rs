//! Holds the chronicler's subsystem: memory of the user and of past conversations.
//!
//! The user's statements are noted as *memories*, which are found across conversations.
//! Conversations are observed in *observations* and condensed in *reflections*, in the background
//! ([`Chronicler`]). A prompt gets a bounded choice of all three ([`MemoryContext`]). Everything
//! passes a write gate (`gate.rs`), and everything can be forgotten ([`Memory::forget_memory`]).
//!
//! Other crates decide which agent owns a tool, whether a call may run, and which model observes.

mod agent;
mod ask;
mod check;
mod chronicler;
mod clause;
mod context;
mod conversation;
mod error;
mod extract;
mod forget;
mod gate;
mod memory;
mod note;
mod observe;
mod pattern;
mod record;
mod reflect;
mod remember;
mod rows;
mod schema;
mod seams;
mod settings;
mod spending;
mod subject;
mod text;
mod tools;
mod traces;

pub use agent::ChroniclerAgent;
pub use check::MemoryProblem;
pub use chronicler::{Chronicler, ChroniclerReport};
pub use context::MemoryContext;
pub use error::ChroniclerError;
pub use forget::ForgetReport;
pub use gate::MemoryRefusal;
pub use memory::{Memory, MemoryResources, MemorySystem};
pub use record::{
    MemoryKind, MemoryOrigin, Observation, Priority, Reflection, SourceMessage, StoredMemory,
};
pub use settings::MemorySettings;

/// The parts of the database's schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[lango_store::SchemaComponent] = &[schema::COMPONENT];
