//! Combines sections into a system prompt.

use lango_protocol::{AgentName, Instruction, InstructionText};

use super::{PromptSection, PromptSections};

/// The kind of agent that a prompt is for. It decides which sections are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptAudience {
    /// Sees neither the shared identity nor the tool usage.
    Orchestrator,
    /// Sees no shared identity; sees the tool usage when it has tools.
    SubAgent { has_tools: bool },
    /// Sees everything.
    SingleAgent,
}

impl PromptAudience {
    fn includes(self, section: &PromptSection) -> bool {
        match section {
            PromptSection::Identity => self == Self::SingleAgent,
            PromptSection::ToolUsage => match self {
                Self::Orchestrator => false,
                Self::SubAgent { has_tools } => has_tools,
                Self::SingleAgent => true,
            },
            // It is passed separately, because it comes before everything else.
            PromptSection::AgentIdentity => false,
            PromptSection::Safety | PromptSection::ConversationRules | PromptSection::Custom(_) => {
                true
            }
        }
    }
}

impl PromptSections {
    /// Returns the whole system prompt of one agent.
    ///
    /// `identity` describes the agent unless its `IDENTITY.md` replaces it; `generated` follows it
    /// and cannot be replaced.
    pub(crate) fn compose(
        &self,
        name: &AgentName,
        role: InstructionText,
        audience: PromptAudience,
        identity: InstructionText,
        generated: InstructionText,
    ) -> Instruction {
        let mut sections = self.of_agent(name);
        let own_identity = sections.get(&PromptSection::AgentIdentity).copied();
        if own_identity.is_some() {
            sections.remove(&PromptSection::Identity);
        }
        let visible = sections.into_iter().filter(|(section, _)| audience.includes(section));
        // Sections are the program's own, or files of the owner.
        let identity = own_identity.map_or(identity, InstructionText::from_owner);
        let mut parts = vec![identity, generated];
        let sections = visible.map(|(section, text)| section.render(text));
        parts.extend(sections.map(InstructionText::from_owner));
        parts.retain(|part| !part.is_empty());
        with_opening(name, role, InstructionText::join(parts, "\n\n"))
    }
}

/// Puts the line that names the agent before a prompt. It is written here and not in a file, so
/// that no override can lose it: logs, tests and scripted models find the speaker by it.
pub(crate) fn with_opening(
    name: &AgentName,
    role: InstructionText,
    prompt: InstructionText,
) -> Instruction {
    if prompt.starts_with(&format!("You are {name}, ")) {
        return prompt.into();
    }
    let parts = ["You are ".into(), name.into(), ", ".into(), role, ".\n\n".into(), prompt];
    InstructionText::concat(parts).trimmed_end().into()
}
