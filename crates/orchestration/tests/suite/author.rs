//! Tests R11: the name that answers without an author get. The events adapter itself belongs to the
//! runtime.

use crate::support::{compact, standard, tree_with};

/// 000 and 003, "Multi-agent mode without stored author": the root's name to fall back to.
#[test]
fn r11_root_agent_name_of_a_team_is_the_orchestrator() {
    for topology in [standard(), compact()] {
        let tree = tree_with(&topology, &["exec_shell"], |_| ());
        assert_eq!(tree.root_name().as_str(), "lango-orchestrator");
    }
}

/// 000 and 003, "Single-agent mode".
#[test]
fn r11_root_agent_name_of_a_single_agent_is_lango_agent() {
    let tree = tree_with(&standard(), &["exec_shell"], |config| config.multi_agent = false);
    assert_eq!(tree.root_name().as_str(), "lango-agent");
    assert!(tree.sub_agents().is_empty() && tree.agent("operator").is_none());
}
