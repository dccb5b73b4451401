//! Tests R08 and the phrases of R20.

use std::sync::Arc;

use lango_orchestration::{capability_description, tool_capability};
use lango_tool::RegisteredTool;

use crate::support::{ALL_TOOLS, agent_names, compact, registry, standard, team};

fn tools(names: &[&str]) -> Vec<Arc<RegisteredTool>> {
    registry(names).iter().cloned().collect()
}

/// 000, "Operator description uses capabilities".
#[test]
fn r08_operator_description_uses_capabilities() {
    let team = team(&standard(), &["exec_shell", "fs_read"]);
    assert_eq!(agent_names(&team), ["operator", "planner"]);
    assert_eq!(team.sub_agents[0].description, "command execution, file operations");
    assert!(!team.sub_agents[0].description.contains("exec_shell"));
}

/// 000, "Vault description uses capabilities".
#[test]
fn r08_vault_description_uses_capabilities() {
    let team = team(&standard(), &["crypto_sign", "secrets_get", "payment_send"]);
    assert_eq!(
        team.sub_agents[0].description,
        "cryptography, secret management, blockchain payments (USDC on Base)"
    );
}

/// 000, "Duplicate capabilities are deduplicated".
#[test]
fn r08_duplicate_capabilities_appear_once() {
    assert_eq!(capability_description(&tools(&["exec_shell", "exec_run"])), "command execution");
}

/// 000, "Unknown tool prefix falls back to general actions".
#[test]
fn r08_unknown_prefix_is_general_actions() {
    assert_eq!(tool_capability("mystery_tool"), "general actions");
    let description = capability_description(&tools(&["aaa", "exec_shell", "zzz"]));
    assert_eq!(description, "command execution, general actions");
    assert_eq!(capability_description(&[]), "");
}

/// 000, "Capability description includes librarian inquiry tools".
#[test]
fn r08_librarian_inquiry_tools_have_their_phrase() {
    let description = capability_description(&tools(&["librarian_pending_inquiries"]));
    assert_eq!(description, "knowledge inquiries and gap detection");
}

/// R08: the order of a list does not change its description.
#[test]
fn r08_description_is_the_same_for_any_order() {
    let mut list = tools(ALL_TOOLS);
    let description = capability_description(&list);
    list.reverse();
    assert_eq!(capability_description(&list), description);
}

/// 000, the requirement: entries for all tool prefixes.
#[test]
fn r08_every_prefix_of_both_topologies_has_a_phrase() {
    for topology in [standard(), compact()] {
        for prefix in topology.agents().iter().flat_map(|spec| &spec.prefixes) {
            assert_ne!(tool_capability(prefix), "general actions", "{prefix}");
        }
    }
}

/// 000, the requirement names these three entries.
#[test]
fn r08_secrets_and_skill_management_have_their_own_phrases() {
    let phrases = ["secrets_get", "create_skill", "list_skills", "skill_run"].map(tool_capability);
    let expected = ["secret management", "skill creation", "skill listing", "skill execution"];
    assert_eq!(phrases, expected);
}

/// 000, "Capability description" (automation).
#[test]
fn r20_cron_tools_are_cron_job_scheduling() {
    assert_eq!(tool_capability("cron_add"), "cron job scheduling");
    assert_eq!(tool_capability("bg_submit"), "background tasks");
    assert_eq!(tool_capability("workflow_run"), "multi-step workflows");
}
