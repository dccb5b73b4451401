//! Tests topologies as data: the two built-in ones, a user's folder and extra agents.

use lango_orchestration::{
    AgentSpec, MatchOrder, OrchestrationError, Topology, UnmatchedToolPolicy, partition_tools,
};

use crate::support::{compact, registry, standard, tool_names};

fn agent(name: &str, prefixes: &str) -> String {
    format!("---\nname: {name}\ndescription: tests\nprefixes: [{prefixes}]\n---\nTest.")
}

fn spec(name: &str, prefixes: &str) -> AgentSpec {
    AgentSpec::parse(name, &agent(name, prefixes)).unwrap()
}

fn names(topology: &Topology) -> Vec<&str> {
    topology.agents().iter().map(|spec| spec.name.as_str()).collect()
}

fn owned(topology: &Topology, agent: &str, tools: &[&str]) -> Vec<String> {
    let partition = partition_tools(topology, &registry(tools));
    let tools = partition.tools_for_spec(topology.agent(agent).unwrap());
    tool_names(tools).into_iter().map(str::to_owned).collect()
}

/// R03 and 004, decision 3, with the automator where R03 puts it.
#[test]
fn r03_standard_orders_and_prefixes_are_those_of_the_documents() {
    let topology = standard();
    let MatchOrder::Agents(order) = topology.match_order() else { panic!() };
    let order: Vec<&str> = order.iter().map(lango_protocol::AgentName::as_str).collect();
    let expected = ["librarian", "chronicler", "automator", "navigator", "vault", "operator"];
    assert_eq!(order, expected);
    assert_eq!(*topology.unmatched(), UnmatchedToolPolicy::NoAgent);
    let librarian = "search_ rag_ graph_ save_knowledge save_learning create_skill list_skills \
                     librarian_";
    for (agent, prefixes) in [
        ("operator", "exec fs_ skill_"),
        ("navigator", "browser_"),
        ("vault", "crypto_ secrets_ payment_"),
        ("librarian", librarian),
        ("automator", "cron_ bg_ workflow_"),
        ("planner", ""),
        ("chronicler", "memory_ observe_ reflect_"),
    ] {
        assert_eq!(topology.agent(agent).unwrap().prefixes.join(" "), prefixes, "{agent}");
    }
}

#[test]
fn r03_compact_prefixes_are_those_of_the_documents() {
    let topology = compact();
    assert_eq!(*topology.unmatched(), UnmatchedToolPolicy::Agent("executor".parse().unwrap()));
    for (agent, prefixes) in [
        ("executor", "exec fs_ browser_ crypto_ skill_"),
        ("researcher", "search_ rag_ graph_ save_knowledge save_learning"),
        ("planner", ""),
        ("memory-manager", "memory_ observe_ reflect_"),
    ] {
        assert_eq!(topology.agent(agent).unwrap().prefixes.join(" "), prefixes, "{agent}");
    }
}

#[test]
fn a_folder_without_header_is_alphabetical_and_the_longest_prefix_claims() {
    let (writer, coder) = (agent("writer", "text_, code_review"), agent("coder", "code_, text_"));
    let files = [("writer.md", writer.as_str()), ("coder/AGENT.md", coder.as_str())];
    let topology = Topology::from_files("mine", &files).unwrap();
    assert_eq!(topology.name(), "mine");
    assert_eq!(names(&topology), ["coder", "writer"]);
    let tools = ["code_review_all", "code_run", "other", "text_edit"];
    assert_eq!(owned(&topology, "coder", &tools), ["code_run", "text_edit"]);
    assert_eq!(owned(&topology, "writer", &tools), ["code_review_all"]);
    let unmatched = partition_tools(&topology, &registry(tools)).unmatched;
    assert_eq!(tool_names(&unmatched), ["other"]);
}

#[test]
fn a_header_decides_names_orders_and_the_rest() {
    let header = "---\nname: pair\nagents: [writer, coder]\nmatch_order: [coder, writer]\n\
                  unmatched: writer\nname_rule: NEVER guess names\n---\n";
    let (writer, coder) = (agent("writer", "code_review"), agent("coder", "code_"));
    let files = [("TOPOLOGY.md", header), ("w.md", &writer), ("c.md", &coder)];
    let topology = Topology::from_files("folder", &files).unwrap();
    assert_eq!((topology.name(), topology.name_rule()), ("pair", "NEVER guess names"));
    assert_eq!(names(&topology), ["writer", "coder"]);
    assert_eq!(owned(&topology, "coder", &["code_review_all", "other"]), ["code_review_all"]);
    assert_eq!(owned(&topology, "writer", &["code_review_all", "other"]), ["other"]);
}

#[test]
fn mistakes_in_a_header_are_named() {
    let coder = agent("coder", "code_");
    for (header, expected) in [
        ("agents: [writer]", "agents names \"writer\", but no agent file has that name"),
        ("match_order: []", "match_order leaves out \"coder\""),
        ("match_order: [coder, writer]", "match_order names \"writer\""),
        ("unmatched: writer", "unmatched names \"writer\""),
        ("matchOrder: [coder]", "unknown field \"matchOrder\"; did you mean \"match_order\"?"),
    ] {
        let header = format!("---\n{header}\n---\n");
        let files = [("TOPOLOGY.md", header.as_str()), ("coder.md", &coder)];
        let error = Topology::from_files("mine", &files).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let second = agent("second", "");
    let header = "---\nagents: [coder]\n---\n";
    let files = [("TOPOLOGY.md", header), ("coder.md", &coder), ("second.md", &second)];
    let error = Topology::from_files("mine", &files).unwrap_err().to_string();
    assert!(error.contains("agents leaves out \"second\""), "{error}");
}

#[test]
fn empty_doubled_and_reserved_agents_are_errors() {
    let none = Topology::from_files("mine", &[]).unwrap_err();
    assert_eq!(none, OrchestrationError::NoAgents { topology: "mine".into() });
    let coder = agent("coder", "");
    let doubled = Topology::from_files("mine", &[("a.md", &coder), ("b.md", &coder)]).unwrap_err();
    assert_eq!(doubled, OrchestrationError::DuplicateAgent { name: "coder".parse().unwrap() });
    for name in ["lango-orchestrator", "lango-agent"] {
        let text = agent(name, "");
        let reserved = Topology::from_files("mine", &[("a.md", &text)]).unwrap_err();
        assert_eq!(reserved, OrchestrationError::ReservedName { name: name.parse().unwrap() });
    }
}

#[test]
fn an_extra_agent_is_last_in_the_registry_and_first_to_claim() {
    let topology = standard().with_agents([spec("reader", "fs_read")]).unwrap();
    assert_eq!(names(&topology).last(), Some(&"reader"));
    assert_eq!(owned(&topology, "reader", &["fs_read", "fs_write"]), ["fs_read"]);
    assert_eq!(owned(&topology, "operator", &["fs_read", "fs_write"]), ["fs_write"]);
}

#[test]
fn an_extra_agent_with_a_known_name_replaces_it_in_its_place() {
    let before = standard();
    let topology = standard().with_agents([spec("vault", "crypto_")]).unwrap();
    assert_eq!(names(&topology), names(&before));
    assert_eq!(topology.match_order(), before.match_order());
    assert_eq!(owned(&topology, "vault", &["crypto_sign", "secrets_get"]), ["crypto_sign"]);
}

#[test]
fn a_planner_that_is_given_prefixes_can_claim_its_tools() {
    let topology = standard().with_agents([spec("planner", "plan_")]).unwrap();
    assert_eq!(owned(&topology, "planner", &["plan_save"]), ["plan_save"]);
}
