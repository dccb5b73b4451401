//! Tests R12 and R16: only agents with something to do exist, and only they are mentioned.

use crate::support::{ALL_TOOLS, agent_names, compact, has_word, standard, team, tool_names};

/// 000, "All tool categories have tools".
#[test]
fn r12_all_categories_create_all_seven() {
    let one_each =
        ["exec_shell", "browser_navigate", "crypto_sign", "search_web", "cron_add", "memory_store"];
    assert_eq!(team(&standard(), &one_each).sub_agents.len(), 7);
}

/// 000, "Partial tools — only operator and librarian".
#[test]
fn r12_only_operator_and_librarian_tools() {
    let team = team(&standard(), &["exec_shell", "search_web"]);
    assert_eq!(agent_names(&team), ["operator", "librarian", "planner"]);
}

/// 000, "No tools at all".
#[test]
fn r12_no_tools_leave_the_planner() {
    assert_eq!(agent_names(&team(&standard(), &[])), ["planner"]);
}

/// 000, "Unmatched-only tools".
#[test]
fn r12_unmatched_only_tools_leave_the_planner_and_are_not_adapted() {
    let team = team(&standard(), &["odd", "mystery_tool"]);
    assert_eq!(agent_names(&team), ["planner"]);
    assert!(team.sub_agents[0].tools().is_empty());
    assert_eq!(tool_names(&team.unmatched), ["mystery_tool", "odd"]);
}

/// 003, "All tool categories have tools".
#[test]
fn r12_compact_all_categories_create_all_four() {
    let team = team(&compact(), &["exec_shell", "search_web", "memory_store"]);
    assert_eq!(agent_names(&team), ["executor", "researcher", "planner", "memory-manager"]);
}

/// 003, "No memory tools assigned".
#[test]
fn r12_compact_no_memory_tools_no_memory_manager() {
    let team = team(&compact(), &["exec_shell", "search_web"]);
    assert_eq!(agent_names(&team), ["executor", "researcher", "planner"]);
}

/// 003, "No tools at all".
#[test]
fn r12_compact_no_tools_leave_the_planner() {
    assert_eq!(agent_names(&team(&compact(), &[])), ["planner"]);
}

/// 000, "Only operator and planner created".
#[test]
fn r16_only_operator_and_planner_are_mentioned() {
    let team = team(&standard(), &["exec_shell"]);
    for spec in standard().agents() {
        let created = ["operator", "planner"].contains(&spec.name.as_str());
        assert_eq!(has_word(&team.system_prompt, spec.name.as_str()), created, "{}", spec.name);
    }
}

/// 003, "Only executor and planner created".
#[test]
fn r16_compact_only_executor_and_planner_are_mentioned() {
    let team = team(&compact(), &["exec_shell"]);
    for spec in compact().agents() {
        let created = ["executor", "planner"].contains(&spec.name.as_str());
        assert_eq!(has_word(&team.system_prompt, spec.name.as_str()), created, "{}", spec.name);
    }
}

/// R16, for specialists: none names another, because the other may not exist.
#[test]
fn r16_no_sub_agent_names_another() {
    for topology in [standard(), compact()] {
        for agent in team(&topology, ALL_TOOLS).sub_agents {
            for other in topology.agents().iter().filter(|other| other.name != agent.name) {
                let other = other.name.as_str();
                assert!(!has_word(&agent.system_prompt, other), "{}: {other}", agent.name);
            }
        }
    }
}
