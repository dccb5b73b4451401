//! Writes the orchestrator's instruction: which agents exist, how to choose one, and when not to.
//!
//! It is generated from the agents that were created, so that it names no other. The runtime
//! enforces every rule in it (names, rounds, rejections), whatever a model does.

use std::sync::Arc;

use lango_protocol::{AgentName, InstructionText};
use lango_tool::RegisteredTool;

use crate::card::CARDS_SOURCE;
use crate::{AgentSpec, RemoteAgentSpec, capability_description};

/// The orchestrator's identity, in place of the shared one.
pub(crate) const DELEGATING_IDENTITY: &str = "You have no tools. Whatever needs one is done by a \
    specialist: delegate it with transfer_to_agent. Everything else you answer yourself.";

/// Represents one line of the routing table.
pub(crate) enum RoutingEntry<'a> {
    /// An agent of this process and the capabilities of its tools.
    Local { spec: &'a AgentSpec, capabilities: InstructionText },
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
    pub(crate) fn render_instruction(&self) -> InstructionText {
        let mut text = InstructionText::from("## Routing table\n");
        text.push(self.render_routing_table());
        text.push("\n");
        text.push(self.render_unmatched());
        text.push(
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
             At most ",
        );
        text.push(self.max_delegation_rounds);
        text.push(" delegation rounds per request. Then answer with what you have.");
        text
    }

    /// Returns a sentence about the tools that no agent has, if there are any.
    fn render_unmatched(&self) -> InstructionText {
        // The registry holds far fewer tools than that.
        let count = u32::try_from(self.unmatched.len()).unwrap_or(u32::MAX);
        let (tools, belong, ending) = match count {
            0 => return InstructionText::default(),
            1 => (" tool (", ") belongs", "it.\n"),
            _ => (" tools (", ") belong", "them.\n"),
        };
        InstructionText::concat([
            "\nNot available: ".into(),
            count.into(),
            tools.into(),
            capability_description(self.unmatched),
            belong.into(),
            " to no agent. Say so when a request needs ".into(),
            ending.into(),
        ])
    }

    fn render_routing_table(&self) -> InstructionText {
        if self.entries.is_empty() {
            return "There are no specialists: answer everything yourself.".into();
        }
        let mut table = InstructionText::default();
        for entry in self.entries {
            table.push(match entry {
                RoutingEntry::Local { spec, capabilities } => render_local_line(spec, capabilities),
                RoutingEntry::Remote(remote) => render_remote_line(remote),
            });
            table.push("\n");
        }
        table.push("\nValid names: ");
        let names = self.entries.iter().map(|entry| entry.name().into());
        table.push(InstructionText::join(names, ", "));
        table.push(". ");
        table.push(InstructionText::from_owner(self.name_rule));
        table.push(".");
        table
    }
}

/// Describes a local agent. Its file is a part of the program, or the owner's.
fn render_local_line(spec: &AgentSpec, capabilities: &InstructionText) -> InstructionText {
    let owner = |text: &str| InstructionText::from_owner(text);
    let mut line = InstructionText::concat([
        "- ".into(),
        (&spec.name).into(),
        " for ".into(),
        owner(&spec.description),
        ".".into(),
    ]);
    let mut add = |label: &'static str, value: InstructionText| {
        if !value.is_empty() {
            line.push(InstructionText::concat([label.into(), value, ".".into()]));
        }
    };
    add(" Can: ", capabilities.clone());
    add(" Keywords: ", owner(&spec.keywords.join(", ")));
    add(" Accepts: ", owner(&spec.accepts));
    add(" Returns: ", owner(&spec.returns));
    add(" Cannot: ", owner(&spec.cannot_do.join(", ")));
    line
}

/// Describes a remote agent in the owner's words. The words of its card are no instruction: without a
/// description by the owner, the line says which context block has them.
fn render_remote_line(remote: &RemoteAgentSpec) -> InstructionText {
    let mut line = InstructionText::concat(["- ".into(), (&remote.name).into()]);
    let parts = if let Some(description) = &remote.description {
        [" (remote) for ".into(), description.clone(), ".".into()]
    } else {
        [
            " (remote; its own description is in the context \"".into(),
            CARDS_SOURCE.into(),
            "\")".into(),
        ]
    };
    line.push(InstructionText::concat(parts));
    line
}
