//! Holds the texts of the sections: built-in, replaced by a user's files, or replaced for one
//! agent.

use std::collections::BTreeMap;

use lango_protocol::AgentName;

use super::PromptSection;
use crate::OrchestrationError;

const BUILT_IN: &[(PromptSection, &str)] = &[
    (PromptSection::Identity, include_str!("../../../../prompts/AGENTS.md")),
    (PromptSection::Safety, include_str!("../../../../prompts/SAFETY.md")),
    (PromptSection::ConversationRules, include_str!("../../../../prompts/CONVERSATION_RULES.md")),
    (PromptSection::ToolUsage, include_str!("../../../../prompts/TOOL_USAGE.md")),
];

/// Holds the sections of all agents' prompts. [`Default`] is the built-in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSections {
    shared: BTreeMap<PromptSection, String>,
    agents: BTreeMap<AgentName, BTreeMap<PromptSection, String>>,
}

impl Default for PromptSections {
    fn default() -> Self {
        let shared = BUILT_IN.iter().map(|(section, text)| (section.clone(), tidy_text(text)));
        Self { shared: shared.collect(), agents: BTreeMap::new() }
    }
}

impl PromptSections {
    /// Replaces sections by a user's files. Paths are relative to the prompts directory:
    /// `SAFETY.md` is for all agents, `agents/operator/SAFETY.md` for one agent.
    ///
    /// An empty file changes nothing, nor does a file that is not `*.md`. A `*.md` file with
    /// another name is one more section, after the others.
    pub fn with_files(mut self, files: &[(&str, &str)]) -> Result<Self, OrchestrationError> {
        for (file, text) in files {
            let text = tidy_text(text);
            let Some(path) = file.strip_suffix(".md").filter(|_| !text.is_empty()) else {
                continue;
            };
            let misplaced = |advice| OrchestrationError::MisplacedPromptFile {
                file: (*file).to_owned(),
                advice,
            };
            let parts: Vec<&str> = path.split('/').collect();
            match parts.as_slice() {
                ["IDENTITY"] => {
                    return Err(misplaced(
                        "the shared identity is AGENTS.md, an agent's own is \
                         agents/<name>/IDENTITY.md",
                    ));
                }
                [stem] => {
                    self.shared.insert(PromptSection::from_file_stem(stem), text);
                }
                ["agents", _, "AGENTS"] => {
                    return Err(misplaced("an agent's own identity is IDENTITY.md"));
                }
                ["agents", agent, stem] => {
                    let agent: AgentName = agent.parse().map_err(|problem| {
                        OrchestrationError::InvalidPromptFolder {
                            file: (*file).to_owned(),
                            problem,
                        }
                    })?;
                    let sections = self.agents.entry(agent).or_default();
                    sections.insert(PromptSection::from_file_stem(stem), text);
                }
                _ => {
                    return Err(misplaced(
                        "prompt files lie in the prompts directory or in agents/<name>/",
                    ));
                }
            }
        }
        Ok(self)
    }

    /// Returns the text of a section that all agents share.
    pub fn shared(&self, section: &PromptSection) -> Option<&str> {
        self.shared.get(section).map(String::as_str)
    }

    /// Returns the sections of one agent: the shared ones, with its own on top.
    pub(super) fn of_agent(&self, agent: &AgentName) -> BTreeMap<&PromptSection, &str> {
        let own = self.agents.get(agent).into_iter().flatten();
        self.shared.iter().chain(own).map(|(section, text)| (section, text.as_str())).collect()
    }
}

fn tidy_text(text: &str) -> String {
    text.trim_start_matches('\u{feff}').trim().replace("\r\n", "\n")
}
