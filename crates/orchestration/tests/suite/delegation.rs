//! Tests R09, R13, R15, R18 and the keywords of R19 and R20: the orchestrator's instruction.

use crate::support::{
    ALL_TOOLS, compact, has_word, orchestrator, routing_line, standard, team, tree_with,
};

/// 000, "Tool-requiring task" (the instruction; the behaviour is a turn test).
#[test]
fn r09_tool_requiring_tasks_must_be_delegated() {
    let prompt = team(&standard(), ALL_TOOLS).system_prompt;
    assert!(prompt.contains("You have no tools."));
    assert!(prompt.contains("delegate it with transfer_to_agent"));
    assert!(prompt.contains("## Routing table") && prompt.contains("## Decision protocol"));
}

/// 001, "Tool-requiring task" (the instruction).
#[test]
fn r09_compact_tool_requiring_tasks_must_be_delegated() {
    let prompt = team(&compact(), ALL_TOOLS).system_prompt;
    assert!(prompt.contains("You have no tools."));
    assert!(prompt.contains("delegate it with transfer_to_agent"));
}

/// 000, "Agent name exactness": no word that could pass for an agent's name.
#[test]
fn r09_no_word_can_be_taken_for_an_agent_name() {
    let prompt = team(&standard(), &[ALL_TOOLS, &["odd"]].concat()).system_prompt;
    for word in ["exec", "browser", "crypto", "fs", "bg", "rag", "executor", "researcher"] {
        assert!(!has_word(&prompt.to_lowercase(), word), "{word}");
    }
}

/// 000, "Invalid agent name prevention".
#[test]
fn r09_invalid_agent_names_are_forbidden_and_valid_ones_listed() {
    let prompt = team(&standard(), ALL_TOOLS).system_prompt;
    assert!(prompt.contains("NEVER invent or abbreviate agent names"));
    assert!(prompt.contains(
        "Valid names: operator, navigator, vault, librarian, automator, planner, chronicler."
    ));
}

/// 001, "Invalid agent name prevention".
#[test]
fn r09_compact_invalid_agent_names_are_forbidden_and_valid_ones_listed() {
    let prompt = team(&compact(), ALL_TOOLS).system_prompt;
    assert!(prompt.contains("NEVER invent agent names"));
    assert!(prompt.contains("Valid names: executor, researcher, planner, memory-manager."));
}

/// 000, "Sub-agent descriptions use capabilities not tool names".
#[test]
fn r09_entries_describe_capabilities_and_no_tool_names() {
    for topology in [standard(), compact()] {
        let team = team(&topology, &[ALL_TOOLS, &["odd_one"]].concat());
        assert!(team.system_prompt.contains("command execution, file operations"));
        for tool in ALL_TOOLS.iter().chain(&["odd_one"]) {
            assert!(!team.system_prompt.contains(tool), "{tool}");
        }
    }
}

/// 004, decision 5: keywords, accepts, returns and cannot-do for each agent.
#[test]
fn r09_every_entry_has_all_columns() {
    for topology in [standard(), compact()] {
        let team = team(&topology, ALL_TOOLS);
        for spec in topology.agents() {
            let line = routing_line(&team, spec.name.as_str());
            for column in [" Keywords: ", " Accepts: ", " Returns: ", " Cannot: "] {
                assert!(line.contains(column), "{}: {column}", spec.name);
            }
            assert_eq!(line.contains(" Can: "), spec.name != *"planner");
        }
    }
}

/// 001, "Delegation rules by sub-agent role".
#[test]
fn r09_compact_delegation_rules_by_role() {
    let prompt = team(&compact(), ALL_TOOLS).system_prompt;
    for rule in [
        "executor for actions",
        "researcher for information lookup",
        "planner for multi-step planning",
        "memory-manager for memory operations",
    ] {
        assert!(prompt.contains(rule), "{rule}");
    }
}

/// R09: several agents at once, and results that come back.
#[test]
fn r09_parallel_parts_and_returned_results_are_explained() {
    let prompt = team(&standard(), ALL_TOOLS).system_prompt;
    assert!(prompt.contains("transfer to several agents at once"));
    assert!(prompt.contains("return=true"));
}

/// R04: mentioned as not available, by capability and never by name. 004, decision 4.
#[test]
fn r04_unmatched_tools_are_mentioned_as_not_available() {
    let team = team(&standard(), &["exec_shell", "odd_one", "odd_two"]);
    assert!(team.system_prompt.contains("Not available: 2 tools (general actions)"));
    assert!(!team.system_prompt.contains("odd_"));
}

#[test]
fn r04_without_unmatched_tools_nothing_is_said_about_them() {
    assert!(!team(&standard(), ALL_TOOLS).system_prompt.contains("Not available"));
}

/// 000, "Simple greeting" and "Task requiring tools" (the instruction; the rest are turn tests).
#[test]
fn r13_simple_queries_are_answered_directly() {
    let prompt = team(&standard(), ALL_TOOLS).system_prompt;
    for kind in ["Greetings", "opinions", "general knowledge"] {
        assert!(prompt.contains(kind), "{kind}");
    }
    assert!(prompt.contains("answer directly, without transfer"));
}

/// 001 and 003, "Simple greeting", "Task requiring tools", "Complex task requiring tools" (the
/// instruction): small talk and clarifying questions are 003's words.
#[test]
fn r13_compact_simple_queries_are_answered_directly() {
    let prompt = team(&compact(), ALL_TOOLS).system_prompt;
    for kind in ["Greetings", "small talk", "clarifying questions", "opinions"] {
        assert!(prompt.contains(kind), "{kind}");
    }
    assert!(prompt.contains("answer directly, without transfer"));
}

/// 000, "Default max rounds".
#[test]
fn r15_default_is_five_rounds() {
    let team = team(&standard(), ALL_TOOLS);
    assert_eq!(team.max_delegation_rounds, 5);
    assert!(team.system_prompt.contains("At most 5 delegation rounds"));
}

/// 001, "Default max rounds"; 003 says 3, which 000 and 001 supersede.
#[test]
fn r15_compact_default_is_five_rounds() {
    let team = team(&compact(), ALL_TOOLS);
    assert_eq!(team.max_delegation_rounds, 5);
    assert!(team.system_prompt.contains("At most 5 delegation rounds"));
}

#[test]
fn r15_a_configured_limit_is_used() {
    let tree = tree_with(&standard(), ALL_TOOLS, |config| config.max_delegation_rounds = 2);
    let team = orchestrator(tree);
    assert_eq!(team.max_delegation_rounds, 2);
    assert!(team.system_prompt.contains("At most 2 delegation rounds"));
}

/// 004, decision 6: the orchestrator knows what a rejection means.
#[test]
fn r18_rejections_are_routed_to_another_agent() {
    for topology in [standard(), compact()] {
        let prompt = team(&topology, ALL_TOOLS).system_prompt;
        assert!(prompt.contains("[REJECT]") && prompt.contains("choose another one"));
    }
}

/// 004, decision 6: every specialist knows how to refuse.
#[test]
fn r18_every_sub_agent_can_reject() {
    for topology in [standard(), compact()] {
        for agent in team(&topology, ALL_TOOLS).sub_agents {
            let line = "If the task is not yours, answer with exactly one line: [REJECT] reason";
            assert!(agent.system_prompt.contains(line), "{}", agent.name);
        }
    }
}

fn keywords(line: &str) -> Vec<&str> {
    let (_, rest) = line.split_once(" Keywords: ").unwrap();
    rest.split_once('.').unwrap().0.split(", ").collect()
}

/// 000, "Inquiry keyword routing" (the table).
#[test]
fn r19_librarian_keywords_are_in_the_table() {
    let team = team(&standard(), ALL_TOOLS);
    let keywords = keywords(routing_line(&team, "librarian"));
    for keyword in ["inquiry", "question", "gap"] {
        assert!(keywords.contains(&keyword), "{keyword}");
    }
}

/// 000, "Automator keywords" (the table).
#[test]
fn r20_automator_keywords_are_in_the_table() {
    let team = team(&standard(), ALL_TOOLS);
    let keywords = keywords(routing_line(&team, "automator"));
    for keyword in ["schedule", "cron", "background", "workflow", "automate"] {
        assert!(keywords.contains(&keyword), "{keyword}");
    }
}

#[test]
fn r20_no_two_agents_share_a_keyword() {
    for topology in [standard(), compact()] {
        let team = team(&topology, ALL_TOOLS);
        let mut seen = std::collections::BTreeMap::new();
        for spec in topology.agents() {
            for keyword in keywords(routing_line(&team, spec.name.as_str())) {
                let earlier = seen.insert(keyword.to_owned(), spec.name.clone());
                assert!(earlier.is_none(), "{keyword}: {earlier:?} and {}", spec.name);
            }
        }
    }
}
