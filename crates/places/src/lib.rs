//! Tells which places of a machine are hidden from agents, and which are protected because they
//! decide what other programs do.
//!
//! Use this wherever files are read or written on behalf of a model: [`Places`] answers
//! [`Places::hidden_reason`] and [`Places::protection_of`] for a canonical path, which need not exist.
//! Whether a place is refused or asked about is decided by the caller.

mod folding;
mod git_config;
mod lists;
mod places;
mod protection;

pub use folding::folds_case;
pub use git_config::list_paths_named_by_git;
pub use places::{Places, PlacesSettings, ProtectedPlace};
pub use protection::{HiddenReason, PlaceholderKind, Protection};
