//! Keeps the words of others out of the system role.
//!
//! An [`Instruction`] is made of [`InstructionText`] alone: text of the program, text of the owner,
//! names and numbers. What other parties write (cards of remote agents, MCP servers, web pages) is
//! [`ForeignText`], for which there is no conversion.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::AgentName;

/// Limits the length of a name in an instruction.
const MAX_NAME_CHARACTERS: usize = 64;

/// Holds what a model gets in the system role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction(Arc<str>);

impl Default for Instruction {
    fn default() -> Self {
        "".into()
    }
}

impl Deref for Instruction {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl From<InstructionText> for Instruction {
    fn from(text: InstructionText) -> Self {
        Self(text.0.into())
    }
}

impl From<&'static str> for Instruction {
    fn from(text: &'static str) -> Self {
        Self(text.into())
    }
}

/// Holds text that may stand in an instruction: written by the program or by its owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstructionText(String);

impl InstructionText {
    /// Takes text that the owner wrote: a setting, or a file that a setting names.
    pub fn from_owner(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Takes a name. Other characters than letters, digits, `-`, `_` and `.` become `_`, and a long
    /// name is cut, so that no name is a sentence.
    pub fn from_name(name: &str) -> Self {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let plain = name.chars().take(MAX_NAME_CHARACTERS);
        Self(plain.map(|c| if is_plain(c) { c } else { '_' }).collect())
    }

    /// Joins texts without anything between them.
    pub fn concat<const N: usize>(parts: [Self; N]) -> Self {
        Self(parts.into_iter().map(|part| part.0).collect())
    }

    /// Joins texts with a separator between them.
    pub fn join(parts: impl IntoIterator<Item = Self>, separator: &'static str) -> Self {
        let parts: Vec<String> = parts.into_iter().map(|part| part.0).collect();
        Self(parts.join(separator))
    }

    /// Appends text.
    pub fn push(&mut self, text: impl Into<Self>) {
        self.0.push_str(&text.into().0);
    }

    /// Returns the text without white space at its end.
    #[must_use]
    pub fn trimmed_end(mut self) -> Self {
        self.0.truncate(self.0.trim_end().len());
        self
    }
}

impl Deref for InstructionText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InstructionText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl PartialEq<&str> for InstructionText {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl From<&'static str> for InstructionText {
    fn from(text: &'static str) -> Self {
        Self(text.to_owned())
    }
}

impl From<&AgentName> for InstructionText {
    fn from(name: &AgentName) -> Self {
        Self::from_name(name.as_str())
    }
}

impl From<u32> for InstructionText {
    fn from(number: u32) -> Self {
        Self(number.to_string())
    }
}

/// Holds text that another party wrote. It can be shown as data, in a context block or to a person,
/// and never becomes a part of an instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignText(String);

impl ForeignText {
    /// Takes text as it came.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text for use as data.
    pub fn as_data(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_name_has_no_sentence_in_it(name in "\\PC{0,200}|[a-z \n\r\u{202e}#`]{0,100}") {
            let text = InstructionText::from_name(&name);
            prop_assert!(text.len() <= MAX_NAME_CHARACTERS);
            prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)));
        }
    }

    #[test]
    fn parts_are_put_together_in_order() {
        let name: AgentName = "weather".parse().unwrap();
        let parts = ["- ".into(), (&name).into(), ": ".into(), 3_u32.into()];
        let mut text = InstructionText::concat(parts);
        text.push(InstructionText::join([" a".into(), "b ".into()], ", "));
        assert_eq!(&*text.trimmed_end(), "- weather: 3 a, b");
    }
}
