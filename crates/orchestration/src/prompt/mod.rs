//! Builds system prompts from ordered sections: which exist, which agents see them, and how they
//! are combined.
//!
//! The texts are files under `prompts/`, and a user may replace each of them. The routing part of
//! the orchestrator's prompt is generated and belongs to `instruction`.

mod compose;
mod section;
mod sections;

pub(crate) use compose::{PromptAudience, with_opening};
pub use section::PromptSection;
pub use sections::PromptSections;
