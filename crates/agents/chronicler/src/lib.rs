//! The chronicler's subsystem: memory of the user and of past conversations.
mod error;
mod extract;
mod gate;
mod record;
mod schema;
mod settings;
mod subject;
mod text;
pub use error::ChroniclerError;
pub use settings::MemorySettings;
