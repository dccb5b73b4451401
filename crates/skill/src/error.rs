//! Defines why a text is no skill.

use lango_text::FrontMatterError;

use crate::NAME_RULE;

/// Says what is wrong with a `SKILL.md`. Its author can fix all of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    /// There is no front matter.
    #[error("SKILL.md does not begin with ---")]
    NoFrontMatter,
    /// The front matter does not end.
    #[error("the front matter of SKILL.md is not closed by ---")]
    UnclosedFrontMatter,
    /// The front matter is no YAML, or has other fields.
    #[error("SKILL.md: {0}")]
    FrontMatter(String),
    /// The name cannot be that of a directory.
    #[error("the name {0:?} {NAME_RULE}")]
    Name(String),
    /// The description is empty or too long.
    #[error("the description must have 1 to {max_characters} characters")]
    Description {
        /// The characters that it may have.
        max_characters: usize,
    },
    /// The note about compatibility is too long.
    #[error("compatibility is longer than {max_characters} characters")]
    Compatibility {
        /// The characters that it may have.
        max_characters: usize,
    },
}

impl From<FrontMatterError> for SkillError {
    fn from(error: FrontMatterError) -> Self {
        match error {
            FrontMatterError::Missing => Self::NoFrontMatter,
            FrontMatterError::Unclosed => Self::UnclosedFrontMatter,
        }
    }
}
