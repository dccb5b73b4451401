//! The librarian's subsystems: documents, knowledge, lessons, relations, open questions.
//!
//! Tools are made before a database is open; [`Holdings`] is the handle that gets it later. Who
//! owns a tool and whether a call may run is decided elsewhere.

pub mod documents;
mod error;
pub mod graph;
mod holdings;
mod register;

pub use error::LibrarianError;
pub use holdings::Holdings;
pub use register::register;
