//! Tests R03, R04, R05 and the tool routing of R19 and R20.

use lango_orchestration::{RoleToolSet, partition_tools};

use crate::support::{ALL_TOOLS, compact, registry, standard, tool_names};

fn roles(names: &[&str]) -> RoleToolSet {
    partition_tools(&standard(), &registry(names)).into()
}

fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}

/// Returns the tools of one compact agent.
fn compact_owner(names: &[&str], agent: &str) -> Vec<String> {
    let topology = compact();
    let partition = partition_tools(&topology, &registry(names));
    let tools = partition.tools_for_spec(topology.agent(agent).unwrap());
    tool_names(tools).into_iter().map(str::to_owned).collect()
}

/// 000, "Operator gets shell, file, and skill tools".
#[test]
fn r03_operator_gets_shell_file_and_skill_tools() {
    let names = ["exec_shell", "fs_read", "skill_deploy"];
    assert_eq!(tool_names(&roles(&names).operator), names);
}

/// R03: `exec` has no underscore in the documents.
#[test]
fn r03_exec_matches_without_underscore() {
    assert_eq!(tool_names(&roles(&["exec", "execute"]).operator), ["exec", "execute"]);
}

/// 000, "Navigator gets browser tools".
#[test]
fn r03_navigator_gets_browser_tools() {
    let names = ["browser_navigate", "browser_screenshot"];
    assert_eq!(tool_names(&roles(&names).navigator), names);
}

/// 000, "Vault gets crypto, secrets, and payment tools".
#[test]
fn r03_vault_gets_crypto_secrets_and_payment_tools() {
    let names = ["crypto_sign", "payment_send", "secrets_get"];
    assert_eq!(tool_names(&roles(&names).vault), names);
}

/// 000, "Librarian gets search, RAG, graph, and skill management tools".
#[test]
fn r03_librarian_gets_search_rag_graph_and_skill_management_tools() {
    let names = [
        "search_web",
        "rag_query",
        "graph_traverse",
        "save_knowledge_item",
        "create_skill_x",
        "list_skills",
    ];
    assert_eq!(tool_names(&roles(&names).librarian), sorted(&names));
}

/// 000, "Chronicler gets memory tools".
#[test]
fn r03_chronicler_gets_memory_tools() {
    let names = ["memory_store", "observe_event", "reflect_summary"];
    assert_eq!(tool_names(&roles(&names).chronicler), names);
}

/// 000, "Librarian prefix priority over operator". The operator is made greedy, so that only the
/// match order can decide.
#[test]
fn r03_librarian_prefixes_win_over_operator() {
    let mut greedy = standard().agent("operator").unwrap().clone();
    greedy.prefixes.extend(["save_".into(), "create_".into(), "list_".into()]);
    let topology = standard().with_agents([greedy]).unwrap();
    let names = ["create_skill_new", "list_skills", "save_knowledge_data"];
    let roles = RoleToolSet::from(partition_tools(&topology, &registry(names)));
    assert_eq!(tool_names(&roles.librarian), names);
    assert!(roles.operator.is_empty());
}

/// 002, "Graph tools routed to Researcher".
#[test]
fn r03_compact_graph_tools_routed_to_researcher() {
    let names = ["graph_query", "graph_traverse"];
    assert_eq!(compact_owner(&names, "researcher"), names);
}

/// 002, the prefixes of the requirement.
#[test]
fn r03_compact_prefixes_of_document_002() {
    let executor = ["browser_click", "crypto_sign", "exec_shell", "fs_read", "skill_run"];
    assert_eq!(compact_owner(ALL_TOOLS, "memory-manager").len(), 5);
    assert_eq!(compact_owner(&executor, "executor"), executor);
    let researcher = ["rag_retrieve", "save_knowledge", "save_learning", "search_web"];
    assert_eq!(compact_owner(&researcher, "researcher"), researcher);
}

/// 000, "Unmatched tools tracked separately".
#[test]
fn r04_unmatched_tools_are_tracked_and_given_to_no_agent() {
    let partition = partition_tools(&standard(), &registry(["mystery_tool", "output_read"]));
    assert_eq!(tool_names(&partition.unmatched), ["mystery_tool", "output_read"]);
    assert!(partition.by_agent.is_empty());
}

/// 002, "Unmatched tools default to Executor".
#[test]
fn r04_compact_unmatched_tools_default_to_executor() {
    let names = ["cron_add", "librarian_pending_inquiries", "mystery_tool", "secrets_get"];
    assert_eq!(compact_owner(&names, "executor"), names);
    assert!(partition_tools(&compact(), &registry(names)).unmatched.is_empty());
}

/// 000, "`RoleToolSet` structure". The pattern names every field: eight, no more and no less.
#[test]
fn r05_role_tool_set_has_seven_roles_and_unmatched() {
    let RoleToolSet {
        operator,
        navigator,
        vault,
        librarian,
        planner,
        chronicler,
        automator,
        unmatched,
    } = roles(&[ALL_TOOLS, &["odd"]].concat());
    let filled = [operator, navigator, vault, librarian, chronicler, automator, unmatched];
    assert!(filled.iter().all(|tools| !tools.is_empty()));
    assert_eq!(filled.iter().map(Vec::len).sum::<usize>(), ALL_TOOLS.len() + 1);
    assert!(planner.is_empty());
}

/// 000, "Planner tools always empty"; `properties` shows it for any input.
#[test]
fn r05_planner_tools_are_empty_even_for_planner_like_names() {
    assert!(roles(&["planner", "planner_run", "plan_make"]).planner.is_empty());
}

/// 000, the requirement "Automator in RoleToolSet": `toolsForSpec` knows the automator.
#[test]
fn r05_tools_for_spec_returns_the_field_of_the_spec() {
    let roles = roles(ALL_TOOLS);
    let topology = standard();
    let partition = partition_tools(&topology, &registry(ALL_TOOLS));
    for spec in topology.agents() {
        let by_field = tool_names(roles.tools_for_spec(spec));
        assert_eq!(by_field, tool_names(partition.tools_for_spec(spec)), "{}", spec.name);
        assert_eq!(by_field.is_empty(), spec.name == *"planner");
    }
}

/// 000, "Librarian tool routing with inquiry prefix".
#[test]
fn r19_librarian_gets_its_inquiry_tools() {
    let names = ["librarian_pending_inquiries"];
    assert_eq!(tool_names(&roles(&names).librarian), names);
}

/// 000, "Automator routing".
#[test]
fn r20_automator_gets_cron_background_and_workflow_tools() {
    let names = ["bg_submit", "cron_add", "workflow_run"];
    assert_eq!(tool_names(&roles(&names).automator), names);
}

/// 000, "Tool partitioning order": with a greedy operator, only the match order can decide.
#[test]
fn r20_automator_is_matched_before_operator() {
    let mut greedy = standard().agent("operator").unwrap().clone();
    greedy.prefixes.extend(["cron".into(), "bg".into(), "work".into()]);
    let topology = standard().with_agents([greedy]).unwrap();
    let names = ["bg_submit", "cron_add", "workflow_run"];
    let roles = RoleToolSet::from(partition_tools(&topology, &registry(names)));
    assert_eq!(tool_names(&roles.automator), names);
    assert!(roles.operator.is_empty());
}
