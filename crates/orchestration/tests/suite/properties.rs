//! Tests properties that hold for any set of tools.

use std::collections::BTreeSet;

use lango_orchestration::{RemoteAgentSpec, RoleToolSet, describe_remote_agents, partition_tools};
use lango_protocol::ForeignText;
use proptest::prelude::*;

use crate::support::{
    agent_names, compact, has_word, orchestrator, registry, standard, team, tool_names, tree_with,
};

/// Generates names that look like tools: known prefixes with any ending, and anything else.
fn name() -> impl Strategy<Value = String> {
    let prefixes: Vec<String> =
        standard().agents().iter().flat_map(|spec| spec.prefixes.clone()).collect();
    prop_oneof![
        (proptest::sample::select(prefixes), "[a-z_]{0,8}").prop_map(|(start, end)| start + &end),
        "[a-z][a-z_]{0,12}",
        "\\PC{1,12}",
    ]
}

fn shuffled_names() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    proptest::collection::btree_set(name(), 0..40).prop_flat_map(|names| {
        let names: Vec<String> = names.into_iter().collect();
        (Just(names.clone()), Just(names).prop_shuffle())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn r03_partition_is_total_and_independent_of_order((names, shuffled) in shuffled_names()) {
        for topology in [standard(), compact()] {
            let partition = partition_tools(&topology, &registry(&names));
            let owned = partition.by_agent.values().flatten().chain(&partition.unmatched);
            let mut seen: Vec<&str> = owned.map(|tool| tool.name()).collect();
            seen.sort_unstable();
            prop_assert_eq!(&seen, &names.iter().map(String::as_str).collect::<Vec<_>>());

            let again = partition_tools(&topology, &registry(&shuffled));
            for spec in topology.agents() {
                let (first, second) = (partition.tools_for_spec(spec), again.tools_for_spec(spec));
                prop_assert_eq!(tool_names(first), tool_names(second));
            }
            prop_assert_eq!(tool_names(&partition.unmatched), tool_names(&again.unmatched));
        }
    }

    #[test]
    fn r05_planner_is_empty_and_no_tool_is_lost((names, _) in shuffled_names()) {
        let roles = RoleToolSet::from(partition_tools(&standard(), &registry(&names)));
        prop_assert!(roles.planner.is_empty());
        let topology = standard();
        let owned: usize =
            topology.agents().iter().map(|spec| roles.tools_for_spec(spec).len()).sum();
        prop_assert_eq!(owned + roles.unmatched.len(), names.len());
    }

    /// Whatever a card says, the instructions are those of an agent that says nothing.
    #[test]
    fn r07_no_word_of_a_card_is_in_an_instruction(
        description in "\\PC{0,80}|[a-z#\\n<>/\\[\\]]{0,400}",
        skills in proptest::collection::vec("\\PC{0,60}", 0..12),
    ) {
        for topology in [standard(), compact()] {
            let build = |description: &str, skills: &[String]| {
                tree_with(&topology, &["exec_shell"], |config| {
                    config.remote_agents = vec![RemoteAgentSpec {
                        name: "weather".parse().unwrap(),
                        description: None,
                        card_description: ForeignText::new(description),
                        card_skills: skills.iter().map(ForeignText::new).collect(),
                    }];
                })
            };
            let (tree, silent) = (build(&description, &skills), build("", &[]));
            let context = describe_remote_agents(tree.sub_agents()).unwrap();
            prop_assert_eq!(context.lines().count(), 2);
            prop_assert!(!context.contains(['<', '>']));
            for (agent, same) in tree.sub_agents().iter().zip(silent.sub_agents()) {
                prop_assert_eq!(&agent.system_prompt, &same.system_prompt);
            }
            prop_assert_eq!(orchestrator(tree).system_prompt, orchestrator(silent).system_prompt);
        }
    }

    #[test]
    fn r16_instruction_mentions_exactly_the_created_agents(mask in 0_u8..64, unmatched: bool) {
        let samples =
            ["exec_shell", "browser_click", "crypto_sign", "rag_list", "bg_list", "memory_search"];
        let mut tools: Vec<&str> =
            (0..6).filter(|bit| mask & (1 << bit) != 0).map(|bit| samples[bit]).collect();
        tools.extend(unmatched.then_some("odd_tool"));
        for topology in [standard(), compact()] {
            let team = team(&topology, &tools);
            let created: BTreeSet<&str> = agent_names(&team).into_iter().collect();
            for spec in topology.agents() {
                let name = spec.name.as_str();
                prop_assert_eq!(has_word(&team.system_prompt, name), created.contains(name));
            }
        }
    }
}
