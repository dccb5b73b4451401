//! The chronicler's subsystem: memory of the user and of past conversations.
//!
//! What the user states is noted as *memories*, which are found across conversations. What was said is
//! observed in *observations* and condensed in *reflections*, in the background ([`Chronicler`]). A
//! prompt gets a bounded choice of all three ([`MemoryContext`]). Everything passes a write gate
//! (`gate.rs`), and everything can be forgotten ([`Memory::forget`]).
//!
//! Who owns a tool and whether a call may run is decided elsewhere, and so is which model observes.

mod agent;
mod ask;
mod check;
mod chronicler;
mod context;
mod error;
mod extract;
mod forget;
mod gate;
mod heard;
mod memory;
mod note;
mod observe;
mod record;
mod reflect;
mod remember;
mod schema;
mod seams;
mod settings;
mod shelf;
mod spending;
mod subject;
mod text;
mod tools;
mod traces;

pub use agent::ChroniclerAgent;
pub use check::Problem;
pub use chronicler::{Chronicler, Report};
pub use context::MemoryContext;
pub use error::ChroniclerError;
pub use forget::Forgotten;
pub use gate::Refusal;
pub use memory::{Memory, MemoryResources};
pub use record::{
    MemoryKind, MemoryOrigin, Observation, Priority, Reflection, SourceMessage, StoredMemory,
};
pub use settings::MemorySettings;
