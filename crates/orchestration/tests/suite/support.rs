//! Provides tools of any name and functions to build a tree.

use lango_orchestration::{
    AgentTree, AgentTreeConfig, Orchestrator, PromptSections, RootAgent, SingleAgent, Topology,
    build_agent_tree,
};
use lango_tool::{RegisteredTool, SafetyLevel, Tool, ToolContext, ToolError, ToolRegistry};

/// Holds real names with every prefix of both topologies.
pub(crate) const ALL_TOOLS: &[&str] = &[
    "exec_shell",
    "exec_background",
    "fs_read",
    "fs_write",
    "skill_run",
    "skill_deploy",
    "browser_navigate",
    "browser_screenshot",
    "crypto_sign",
    "secrets_get",
    "payment_send",
    "search_knowledge",
    "search_web",
    "rag_retrieve",
    "graph_traverse",
    "graph_query",
    "save_knowledge",
    "save_learning",
    "create_skill",
    "list_skills",
    "librarian_pending_inquiries",
    "memory_store",
    "memory_list_observations",
    "memory_list_reflections",
    "observe_event",
    "reflect_summary",
    "cron_add",
    "bg_submit",
    "workflow_run",
];

struct Dummy;

#[derive(Clone, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl Tool for Dummy {
    type Arguments = Nothing;
    type Output = ();
    const NAME: &'static str = "dummy";
    const DESCRIPTION: &'static str = "Does nothing.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(&self, _: Nothing, _: ToolContext) -> Result<(), ToolError> {
        Ok(())
    }
}

pub(crate) fn registry<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    for name in names {
        let mut tool = RegisteredTool::new(Dummy);
        tool.declaration.name = name.as_ref().into();
        registry.add_registered(tool).unwrap();
    }
    registry
}

pub(crate) fn standard() -> Topology {
    Topology::standard().unwrap()
}

pub(crate) fn compact() -> Topology {
    Topology::compact().unwrap()
}

/// Builds a tree with default settings; `change` adjusts them.
pub(crate) fn tree_with(
    topology: &Topology,
    tools: &[&str],
    change: impl for<'a> FnOnce(&mut AgentTreeConfig<'a>),
) -> AgentTree {
    let tools = registry(tools);
    let prompts = PromptSections::default();
    let mut config = AgentTreeConfig {
        multi_agent: true,
        topology,
        tools: &tools,
        max_delegation_rounds: 0,
        sub_agent_prompt: None,
        remote_agents: Vec::new(),
        prompts: &prompts,
    };
    change(&mut config);
    build_agent_tree(config).unwrap()
}

pub(crate) fn team(topology: &Topology, tools: &[&str]) -> Orchestrator {
    orchestrator(tree_with(topology, tools, |_| ()))
}

pub(crate) fn orchestrator(tree: AgentTree) -> Orchestrator {
    match tree.root {
        RootAgent::Team(orchestrator) => orchestrator,
        RootAgent::Single(_) => panic!("expected a team"),
    }
}

pub(crate) fn single(topology: &Topology, tools: &[&str]) -> SingleAgent {
    match tree_with(topology, tools, |config| config.multi_agent = false).root {
        RootAgent::Single(agent) => agent,
        RootAgent::Team(_) => panic!("expected a single agent"),
    }
}

pub(crate) fn agent_names(orchestrator: &Orchestrator) -> Vec<&str> {
    orchestrator.sub_agents.iter().map(|agent| agent.name.as_str()).collect()
}

pub(crate) fn tool_names(tools: &[std::sync::Arc<RegisteredTool>]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name()).collect()
}

/// Returns the line of the routing table about one agent.
pub(crate) fn routing_line<'a>(orchestrator: &'a Orchestrator, agent: &str) -> &'a str {
    let start = format!("- {agent} ");
    orchestrator.system_prompt.lines().find(|line| line.starts_with(&start)).unwrap()
}

/// Tells whether `word` is a separate word of `text`.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(part_of_word) && !after.is_some_and(part_of_word)
    })
}
