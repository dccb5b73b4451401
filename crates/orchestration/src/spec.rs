//! One agent as data: what its `AGENT.md` says about it.

use lango_protocol::AgentName;
use serde::Deserialize;

use crate::{OrchestrationError, front_matter};

/// An agent that can be created. Front matter and body of one `AGENT.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSpec {
    /// The one exact name.
    pub name: AgentName,
    /// A noun phrase that completes "NAME for …", such as `shell commands and files`.
    pub description: String,
    /// The beginnings of the tool names this agent owns.
    pub prefixes: Vec<String>,
    /// Words in a request that point to this agent.
    pub keywords: Vec<String>,
    /// What a task for it must contain.
    pub accepts: String,
    /// What it gives back.
    pub returns: String,
    /// What others must do instead.
    pub cannot_do: Vec<String>,
    /// Whether it is created even when it owns no tool.
    pub always_include: bool,
    /// What the agent itself is told.
    pub instruction: String,
}

#[derive(Deserialize)]
struct Fields {
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
    /// The fields an `AGENT.md` may have. `name` and `description` are required.
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
        let (fields, instruction) = front_matter::parse::<Fields>(file, text, Self::FIELDS)?;
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
            description: one_line(&fields.description),
            prefixes: fields.prefixes,
            keywords: fields.keywords,
            accepts: one_line(&fields.accepts),
            returns: one_line(&fields.returns),
            cannot_do: fields.cannot_do,
            always_include: fields.always_include,
            instruction,
        })
    }

    /// The longest prefix of this agent that `tool_name` begins with.
    pub(crate) fn longest_match(&self, tool_name: &str) -> Option<usize> {
        let matching = self.prefixes.iter().filter(|prefix| tool_name.starts_with(prefix.as_str()));
        matching.map(String::len).max()
    }
}

/// A routing table has one line per agent, so a value may not bring its own line breaks.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
