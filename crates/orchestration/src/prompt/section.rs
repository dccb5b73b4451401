//! Defines the kinds of sections of a system prompt.

/// Is one kind of section. The order of the variants is the order in a prompt;
/// [`PromptSection::priority`] is the same order in numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PromptSection {
    /// The identity of the single agent (`AGENTS.md`). No agent of a team sees it: it describes
    /// tools by category, and a model may take a category for an agent's name.
    Identity,
    /// The identity of one agent (`agents/<name>/IDENTITY.md`).
    AgentIdentity,
    /// The safety rules (`SAFETY.md`).
    Safety,
    /// The rules for conversations (`CONVERSATION_RULES.md`).
    ConversationRules,
    /// The rules for using tools (`TOOL_USAGE.md`). Only agents with tools see it.
    ToolUsage,
    /// Any other `*.md` file of a user, by its title.
    Custom(String),
}

impl PromptSection {
    /// Returns the position of the section: lower comes first.
    pub fn priority(&self) -> u16 {
        match self {
            Self::Identity => 100,
            Self::AgentIdentity => 150,
            Self::Safety => 200,
            Self::ConversationRules => 300,
            Self::ToolUsage => 400,
            Self::Custom(_) => 900,
        }
    }

    /// Returns the heading; identities have none, because they open the prompt.
    pub fn title(&self) -> Option<&str> {
        match self {
            Self::Identity | Self::AgentIdentity => None,
            Self::Safety => Some("Safety"),
            Self::ConversationRules => Some("Conversation rules"),
            Self::ToolUsage => Some("Tool usage"),
            Self::Custom(title) => Some(title),
        }
    }

    /// Returns the section that a file name stands for. `stem` is the name without `.md`.
    pub(super) fn from_file_stem(stem: &str) -> Self {
        match stem {
            "AGENTS" => Self::Identity,
            "IDENTITY" => Self::AgentIdentity,
            "SAFETY" => Self::Safety,
            "CONVERSATION_RULES" => Self::ConversationRules,
            "TOOL_USAGE" => Self::ToolUsage,
            other => Self::Custom(title_from_stem(other)),
        }
    }

    /// Renders the section for a prompt. A text with its own heading keeps it.
    pub(super) fn render(&self, text: &str) -> String {
        match self.title() {
            Some(title) if !text.starts_with('#') => format!("## {title}\n{text}"),
            _ => text.to_owned(),
        }
    }
}

/// Converts `HOUSE_STYLE` to `House style`.
fn title_from_stem(stem: &str) -> String {
    let words = stem.replace(['_', '-'], " ").to_lowercase();
    let mut characters = words.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + characters.as_str()
}
