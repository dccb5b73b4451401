//! Skills that the librarian writes: drafts, until a person approves them.
//!
//! A draft lies where nobody looks for skills, so it is offered to no agent. Approving it moves it
//! to the user's own skills, where the operator asks before its first use as for any other.

mod draft;
mod format;
pub(crate) mod tools;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

pub use draft::{Draft, Drafts};
pub use format::NewSkill;

/// A skill in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedSkill {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Where it comes from.
    pub origin: String,
    /// Whether it can be used.
    pub state: String,
}

/// What the skill tools work with.
#[derive(Clone)]
pub struct SkillShelf {
    /// What waits for a person.
    pub drafts: Drafts,
    /// The skills that can be used, as things stand. They belong to the operator, so the wiring
    /// says which there are.
    pub usable: Arc<dyn Fn() -> Vec<ListedSkill> + Send + Sync>,
}

impl fmt::Debug for SkillShelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillShelf").field("drafts", &self.drafts).finish_non_exhaustive()
    }
}
