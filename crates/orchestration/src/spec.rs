//! Represents one agent as data, read from its `AGENT.md`.

use lango_protocol::AgentName;
use lango_text::to_single_spaced;
use serde::Deserialize;

use crate::{OrchestrationError, front_matter};

/// Describes an agent that can be created: the front matter and body of one `AGENT.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSpec {
    /// The one exact name.
    pub name: AgentName,
    /// A noun phrase that completes "NAME for …", such as `shell commands and files`.
    pub description: String,
    /// The prefixes of the tool names that this agent owns.
    pub prefixes: Vec<String>,
    /// The words in a request that point to this agent.
    pub keywords: Vec<String>,
    /// The required content of a task for it.
    pub accepts: String,
    /// The content of its results.
    pub returns: String,
    /// The tasks that other agents must do instead.
    pub cannot_do: Vec<String>,
    /// True if it is created even when it owns no tool.
    pub always_include: bool,
    /// The agent's own instruction.
    pub instruction: String,
}

#[derive(Deserialize)]
struct SpecFields {
    name: AgentName,
    description: String,
    #[serde(default)]
    prefixes: Vec<String>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    accepts: String,
    #[serde(default)]
    returns: String,
    #[serde(default)]
    cannot_do: Vec<String>,
    #[serde(default)]
    always_include: bool,
}

impl AgentSpec {
    /// Lists the fields that an `AGENT.md` may have. `name` and `description` are required.
    pub const FIELDS: &'static [&'static str] = &[
        "name",
        "description",
        "prefixes",
        "keywords",
        "accepts",
        "returns",
        "cannot_do",
        "always_include",
    ];

    /// Reads the text of an `AGENT.md`. `file` is the name that errors carry.
    pub fn parse(file: &str, text: &str) -> Result<Self, OrchestrationError> {
        let (fields, instruction) =
            front_matter::parse_front_matter::<SpecFields>(file, text, Self::FIELDS)?;
        let invalid = |field, problem: String| OrchestrationError::InvalidValue {
            file: file.to_owned(),
            field,
            problem,
        };
        if fields.description.trim().is_empty() {
            return Err(invalid("description", "is empty; say what the agent is for".into()));
        }
        // An empty prefix would own every tool; one with a space could never own any.
        let unusable = |prefix: &&String| prefix.is_empty() || prefix.contains(char::is_whitespace);
        if let Some(prefix) = fields.prefixes.iter().find(unusable) {
            return Err(invalid("prefixes", format!("holds {prefix:?}, which no tool name has")));
        }
        if instruction.is_empty() {
            return Err(OrchestrationError::NoInstruction { file: file.to_owned() });
        }
        Ok(Self {
            name: fields.name,
            description: to_single_spaced(&fields.description),
            prefixes: fields.prefixes,
            keywords: fields.keywords,
            accepts: to_single_spaced(&fields.accepts),
            returns: to_single_spaced(&fields.returns),
            cannot_do: fields.cannot_do,
            always_include: fields.always_include,
            instruction,
        })
    }

    /// Returns the length of the longest prefix of this agent that `tool_name` begins with.
    pub(crate) fn longest_match(&self, tool_name: &str) -> Option<usize> {
        let matching = self.prefixes.iter().filter(|prefix| tool_name.starts_with(prefix.as_str()));
        matching.map(String::len).max()
    }
}
