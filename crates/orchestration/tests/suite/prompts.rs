//! Tests R10 and R14, overrides, and the line that every prompt begins with.

use std::cell::RefCell;

use lango_orchestration::{
    AgentTree, AgentTreeConfig, PromptSection, PromptSections, build_agent_tree,
};
use lango_protocol::InstructionText;

use crate::support::{
    ALL_TOOLS, compact, orchestrator, registry, single, standard, team, tree_with,
};

fn tree(multi_agent: bool, files: &[(&str, &str)]) -> AgentTree {
    let prompts = PromptSections::default().with_files(files).unwrap();
    let (topology, tools) = (standard(), registry(ALL_TOOLS));
    build_agent_tree(AgentTreeConfig {
        multi_agent,
        topology: &topology,
        tools: &tools,
        max_delegation_rounds: 0,
        sub_agent_prompt: None,
        remote_agents: Vec::new(),
        prompts: &prompts,
    })
    .unwrap()
}

fn shared(section: &PromptSection) -> String {
    PromptSections::default().shared(section).unwrap().to_owned()
}

/// 000, "Orchestrator prompt construction".
#[test]
fn r10_orchestrator_has_a_delegating_identity_and_no_tool_usage() {
    for topology in [standard(), compact()] {
        let prompt = team(&topology, ALL_TOOLS).system_prompt;
        assert!(!prompt.contains(&shared(&PromptSection::Identity)));
        assert!(
            !prompt.contains(&shared(&PromptSection::ToolUsage)) && !prompt.contains("Tool usage")
        );
        assert!(prompt.contains("You have no tools."));
        assert!(prompt.contains(&shared(&PromptSection::Safety)));
        assert!(prompt.contains(&shared(&PromptSection::ConversationRules)));
    }
}

/// 000, "Orchestrator prompt construction": a user's own identity and tool usage stay out too.
#[test]
fn r10_a_users_identity_and_tool_usage_do_not_reach_the_orchestrator() {
    let files = [("AGENTS.md", "Exec, Browser, Crypto."), ("TOOL_USAGE.md", "Use Exec for all.")];
    let prompt = orchestrator(tree(true, &files)).system_prompt;
    assert!(!prompt.contains("Exec") && !prompt.contains("Browser"));
}

/// 000, "Single-agent prompt unaffected".
#[test]
fn r10_single_agent_keeps_all_sections() {
    let prompt = single(&standard(), ALL_TOOLS).system_prompt;
    let sections = [
        PromptSection::Identity,
        PromptSection::Safety,
        PromptSection::ConversationRules,
        PromptSection::ToolUsage,
    ];
    let places: Vec<_> = sections.iter().map(|s| prompt.find(&shared(s)).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn r10_sub_agents_see_no_shared_identity_and_tool_usage_only_with_tools() {
    for agent in team(&standard(), ALL_TOOLS).sub_agents {
        assert!(!agent.system_prompt.contains(&shared(&PromptSection::Identity)));
        let usage = agent.system_prompt.contains(&shared(&PromptSection::ToolUsage));
        assert_eq!(usage, agent.name != *"planner", "{}", agent.name);
    }
}

#[test]
fn every_prompt_begins_with_the_exact_name() {
    let blank = [
        ("AGENTS.md", "Something else."),
        ("agents/operator/IDENTITY.md", "Something else."),
        ("agents/lango-orchestrator/IDENTITY.md", "Something else."),
    ];
    for files in [&[][..], &blank] {
        let team = orchestrator(tree(true, files));
        assert!(team.system_prompt.starts_with("You are lango-orchestrator, "));
        for agent in &team.sub_agents {
            let line = format!("You are {}, ", agent.name);
            assert!(agent.system_prompt.starts_with(&line), "{}", agent.name);
        }
        let lango_orchestration::RootAgent::Single(agent) = tree(false, files).root else {
            panic!()
        };
        assert!(agent.system_prompt.starts_with("You are lango-agent, "));
    }
}

#[test]
fn the_opening_line_is_not_said_twice() {
    let files = [("agents/operator/IDENTITY.md", "You are operator, a careful one.")];
    let tree = tree(true, &files);
    let prompt = &tree.agent("operator").unwrap().system_prompt;
    assert!(prompt.starts_with("You are operator, a careful one.\n\n## Safety"));
}

/// 000, "Function receives correct parameters".
#[test]
fn r14_the_hook_receives_name_and_instruction() {
    let calls = RefCell::new(Vec::new());
    let hook = |name: &str, instruction: &str| {
        calls.borrow_mut().push((name.to_owned(), instruction.to_owned()));
        InstructionText::default()
    };
    let (topology, tools) = (standard(), registry(ALL_TOOLS));
    let prompts = PromptSections::default()
        .with_files(&[("agents/operator/IDENTITY.md", "Replaced.")])
        .unwrap();
    build_agent_tree(AgentTreeConfig {
        multi_agent: true,
        topology: &topology,
        tools: &tools,
        max_delegation_rounds: 0,
        sub_agent_prompt: Some(&hook),
        remote_agents: Vec::new(),
        prompts: &prompts,
    })
    .unwrap();
    let specs = topology.agents().iter();
    let expected: Vec<_> =
        specs.map(|spec| (spec.name.to_string(), spec.instruction.clone())).collect();
    assert_eq!(*calls.borrow(), expected);
}

/// 000, "`SubAgentPrompt` set".
#[test]
fn r14_what_the_hook_returns_is_the_instruction() {
    let team = orchestrator(tree_with(&standard(), ALL_TOOLS, |config| {
        config.sub_agent_prompt =
            Some(&|name, _| InstructionText::from_owner(format!("Custom text for {name}.")));
    }));
    for agent in &team.sub_agents {
        let (opening, rest) = agent.system_prompt.split_once("\n\n").unwrap();
        assert!(opening.starts_with(&format!("You are {}, ", agent.name)));
        assert_eq!(rest, format!("Custom text for {}.", agent.name));
    }
}

/// 000, "`SubAgentPrompt` nil (backward compatible)".
#[test]
fn r14_without_a_hook_the_spec_instruction_is_used() {
    let topology = standard();
    for agent in team(&topology, ALL_TOOLS).sub_agents {
        let spec = topology.agent(agent.name.as_str()).unwrap();
        assert!(agent.system_prompt.contains(&spec.instruction), "{}", agent.name);
    }
}

#[test]
fn user_files_replace_sections_and_empty_ones_do_not() {
    let files = [
        ("SAFETY.md", "Be kind."),
        ("CONVERSATION_RULES.md", " \n"),
        ("agents/operator/SAFETY.md", "# My safety\nBe careful."),
        ("notes.txt", "Not a prompt."),
    ];
    let tree = tree(true, &files);
    let operator = &tree.agent("operator").unwrap().system_prompt;
    let vault = &tree.agent("vault").unwrap().system_prompt;
    assert!(vault.contains("## Safety\nBe kind.\n\n## Conversation rules\n"));
    assert!(operator.contains("\n\n# My safety\nBe careful.\n\n## Conversation rules\n"));
    for prompt in [operator, vault] {
        assert!(prompt.contains(&shared(&PromptSection::ConversationRules)));
        assert!(!prompt.contains("Not a prompt."));
    }
}

#[test]
fn identity_md_replaces_the_instruction_and_leaves_the_routing_table() {
    let files = [
        ("agents/operator/IDENTITY.md", "Only run tests."),
        ("agents/lango-orchestrator/IDENTITY.md", "Speak like a pirate."),
    ];
    let tree = tree(true, &files);
    let operator = &tree.agent("operator").unwrap().system_prompt;
    assert!(operator.contains("Only run tests.") && !operator.contains("What You Do"));
    let prompt = orchestrator(tree.clone()).system_prompt;
    assert!(prompt.contains("Speak like a pirate.\n\n## Routing table\n"));
}

#[test]
fn other_markdown_files_are_sections_after_the_others() {
    let tree = tree(true, &[("HOUSE_STYLE.md", "Write in verse.")]);
    let tail = "\n\n## House style\nWrite in verse.";
    assert!(tree.sub_agents().iter().all(|agent| agent.system_prompt.ends_with(tail)));
    assert!(orchestrator(tree).system_prompt.ends_with(tail));
}

#[test]
fn misplaced_prompt_files_are_errors() {
    for (file, expected) in [
        ("IDENTITY.md", "AGENTS.md"),
        ("agents/operator/AGENTS.md", "IDENTITY.md"),
        ("agents/SAFETY.md", "agents/<name>/"),
        ("agents/The Operator/SAFETY.md", "agent name"),
    ] {
        let error = PromptSections::default().with_files(&[(file, "x")]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{file}: ")) && error.contains(expected), "{error}");
    }
}

#[test]
fn the_order_of_sections_is_the_order_of_their_priorities() {
    let sections = [
        PromptSection::Identity,
        PromptSection::AgentIdentity,
        PromptSection::Safety,
        PromptSection::ConversationRules,
        PromptSection::ToolUsage,
        PromptSection::Custom("A".into()),
    ];
    assert!(sections.is_sorted());
    assert_eq!(sections.each_ref().map(PromptSection::priority), [100, 150, 200, 300, 400, 900]);
}
