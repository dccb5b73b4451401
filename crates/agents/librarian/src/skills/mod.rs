//! Writes skills as drafts, until a person approves them.
//!
//! A draft is in a directory that is not searched for skills, so it is offered to no agent.
//! Approving it moves it to the user's own skills, where the operator asks before its first use as
//! for any other.

mod draft;
mod format;
pub(crate) mod tools;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

pub use draft::{SkillDraft, SkillDrafts};
pub use format::NewSkill;

/// Represents a skill in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedSkill {
    /// Its name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The origin.
    pub origin: String,
    /// The state: usable or not.
    pub state: String,
}

/// Holds the drafts and the usable skills for the skill tools.
#[derive(Clone)]
pub struct SkillSources {
    /// The drafts that wait for approval.
    pub drafts: SkillDrafts,
    /// Returns the skills that can be used now. They belong to the operator, so the assembly
    /// provides this function.
    pub usable: Arc<dyn Fn() -> Vec<ListedSkill> + Send + Sync>,
}

impl fmt::Debug for SkillSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillSources").field("drafts", &self.drafts).finish_non_exhaustive()
    }
}
