//! Writes the orchestrator's instruction: which agents exist, how to choose one, and when not to.
//!
//! It is generated from the agents that were created, so that it names no other. The runtime
//! enforces every rule in it (names, rounds, rejections), whatever a model does.

use std::sync::Arc;

use lango_protocol::AgentName;
use lango_text::{to_single_spaced, truncate_characters};
use lango_tool::RegisteredTool;

use crate::{AgentSpec, RemoteAgentSpec, capability_description};

/// The orchestrator's identity, in place of the shared one.
pub(crate) const DELEGATING_IDENTITY: &str = "You have no tools. Whatever needs one is done by a \
    specialist: delegate it with transfer_to_agent. Everything else you answer yourself.";

/// Limits the description of a remote agent, which is untrusted text in the system prompt.
const MAX_REMOTE_DESCRIPTION_CHARACTERS: usize = 300;
/// Limits one skill of a remote agent.
const MAX_REMOTE_SKILL_CHARACTERS: usize = 100;
/// Limits the listed skills of a remote agent.
const MAX_REMOTE_SKILL_COUNT: usize = 8;

/// Represents one line of the routing table.
pub(crate) enum RoutingEntry<'a> {
    /// An agent of this process and the capabilities of its tools.
    Local { spec: &'a AgentSpec, capabilities: String },
    /// A remote agent.
    Remote(&'a RemoteAgentSpec),
}

impl RoutingEntry<'_> {
    fn name(&self) -> &AgentName {
        match self {
            Self::Local { spec, .. } => &spec.name,
            Self::Remote(remote) => &remote.name,
        }
    }
}

/// Holds everything that the instruction depends on.
pub(crate) struct RoutedTeam<'a> {
    pub(crate) entries: &'a [RoutingEntry<'a>],
    pub(crate) unmatched: &'a [Arc<RegisteredTool>],
    pub(crate) max_delegation_rounds: u32,
    pub(crate) name_rule: &'a str,
}

impl RoutedTeam<'_> {
    /// Returns the routing table and the rules for using it.
    pub(crate) fn render_instruction(&self) -> String {
        let rounds = self.max_delegation_rounds;
        let mut text = format!("## Routing table\n{}\n", self.render_routing_table());
        if !self.unmatched.is_empty() {
            let count = self.unmatched.len();
            let capabilities = capability_description(self.unmatched);
            let (tools, belong, them) =
                if count == 1 { ("tool", "belongs", "it") } else { ("tools", "belong", "them") };
            text.push_str(&format!(
                "\nNot available: {count} {tools} ({capabilities}) {belong} to no agent. Say so \
                 when a request needs {them}.\n"
            ));
        }
        text.push_str(&format!(
            "\n## Decision protocol\n\
             1. Greetings, small talk, opinions, clarifying questions, general knowledge: answer \
             directly, without transfer.\n\
             2. Anything that must be done, looked up or remembered: match it with keywords, \
             accepts and cannot, and transfer it. Never guess a result or claim an action.\n\
             3. Put everything the agent needs into the task: goal, names, paths, numbers.\n\
             4. Independent parts: transfer to several agents at once. Dependent parts: one after \
             the other.\n\
             5. The agent answers the user itself. Set return=true when you need its result for a \
             further step.\n\
             6. No agent fits: say what cannot be done.\n\n\
             ## Rejections\n\
             [REJECT] means the task went to the wrong agent: choose another one, never the same. \
             When no agent is left, tell the user.\n\n\
             ## Limit\n\
             At most {rounds} delegation rounds per request. Then answer with what you have."
        ));
        text
    }

    fn render_routing_table(&self) -> String {
        if self.entries.is_empty() {
            return "There are no specialists: answer everything yourself.".to_owned();
        }
        let mut table = String::new();
        for entry in self.entries {
            let line = match entry {
                RoutingEntry::Local { spec, capabilities } => render_local_line(spec, capabilities),
                RoutingEntry::Remote(remote) => render_remote_line(remote),
            };
            table.push_str(&format!("{line}\n"));
        }
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.name().as_str()).collect();
        table.push_str(&format!("\nValid names: {}. {}.", names.join(", "), self.name_rule));
        table
    }
}

fn render_local_line(spec: &AgentSpec, capabilities: &str) -> String {
    let mut line = format!("- {} for {}.", spec.name, spec.description);
    let mut add = |label: &str, value: &str| {
        if !value.is_empty() {
            line.push_str(&format!(" {label}: {value}."));
        }
    };
    add("Can", capabilities);
    add("Keywords", &spec.keywords.join(", "));
    add("Accepts", &spec.accepts);
    add("Returns", &spec.returns);
    add("Cannot", &spec.cannot_do.join(", "));
    line
}

fn render_remote_line(remote: &RemoteAgentSpec) -> String {
    format!("- {} (remote; in its own words: {})", remote.name, describe_remote(remote))
}

/// Returns the description of a remote agent for a model: one line of limited length.
pub(crate) fn describe_remote(remote: &RemoteAgentSpec) -> String {
    let mut text = sanitize(&remote.description, MAX_REMOTE_DESCRIPTION_CHARACTERS);
    let skills: Vec<String> = remote
        .skills
        .iter()
        .map(|skill| sanitize(skill, MAX_REMOTE_SKILL_CHARACTERS))
        .filter(|skill| !skill.is_empty())
        .take(MAX_REMOTE_SKILL_COUNT)
        .collect();
    if !skills.is_empty() {
        let separator = if text.is_empty() { "" } else { "; " };
        text.push_str(&format!("{separator}can: {}", skills.join("; ")));
    }
    text
}

/// Removes from untrusted text what could be taken for instructions: line breaks, headings,
/// markers, brackets and invisible characters.
fn sanitize(text: &str, max_characters: usize) -> String {
    let replace_unsafe = |c: char| match c {
        '[' | ']' | '(' | ')' | '{' | '}' | '<' | '>' | '#' | '`' | '|' => ' ',
        c if c.is_control() || is_invisible(c) => ' ',
        c => c,
    };
    let text: String = text.chars().map(replace_unsafe).collect();
    truncate_characters(&to_single_spaced(&text), max_characters).to_owned()
}

/// Tells whether a character changes the writing direction, joins others or has no width.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}
