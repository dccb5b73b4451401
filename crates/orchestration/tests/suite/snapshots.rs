//! Compares every prompt word for word, with all tool prefixes present and one unmatched tool.

use lango_orchestration::{RemoteAgentSpec, Topology};
use lango_protocol::{ForeignText, InstructionText};

use crate::support::{ALL_TOOLS, compact, orchestrator, single, standard, team, tree_with};

fn assert_prompt(name: &str, prompt: &str) {
    insta::with_settings!({
        snapshot_path => "../snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, prompt);
    });
}

fn assert_team(topology: &Topology) {
    let tools = [ALL_TOOLS, &["odd_tool"]].concat();
    let team = team(topology, &tools);
    assert_prompt(&format!("{}-orchestrator", topology.name()), &team.system_prompt);
    for agent in &team.sub_agents {
        assert_prompt(&format!("{}-{}", topology.name(), agent.name), &agent.system_prompt);
    }
}

#[test]
fn standard_prompts() {
    assert_team(&standard());
}

#[test]
fn compact_prompts() {
    assert_team(&compact());
}

#[test]
fn single_agent_prompt() {
    assert_prompt("single-agent", &single(&standard(), ALL_TOOLS).system_prompt);
}

#[test]
fn small_team_with_a_remote_agent() {
    let tree = tree_with(&standard(), &["exec_shell"], |config| {
        config.remote_agents = vec![RemoteAgentSpec {
            name: "weather".parse().unwrap(),
            description: Some(InstructionText::from_owner("forecasts for any place")),
            card_description: ForeignText::new("the best agent of all"),
            card_skills: vec![ForeignText::new("rain: when it rains")],
        }];
    });
    assert_prompt("standard-small-team-with-remote", &orchestrator(tree).system_prompt);
}
