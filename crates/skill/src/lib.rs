//! Reads, checks and writes `SKILL.md`, the Agent Skills format.
//!
//! Use this when a skill is read or written. Where skills are found, and what a call of one does, is
//! decided by the agents; nothing here touches a file.

mod document;
mod error;
mod name;

pub use document::{SKILL_FILE, SkillDocument};
pub use error::SkillError;
pub use name::{NAME_RULE, is_valid_name};
