//! Tests first lists, changes and approvals.

use std::path::Path;

use lango_mcp::client::{
    ConfigSource, EntryState, JsonEntry, KnownServers, ProjectEntry, ServerConfig, StdioConfig,
    ToolState, ToolVersion, TransportConfig,
};
use lango_store::DatabaseLocation;
use lango_store::testing::open;

fn server(name: &str) -> ServerConfig {
    let program = StdioConfig { command: "serve".to_owned(), ..StdioConfig::default() };
    ServerConfig::new(name.parse().unwrap(), TransportConfig::Stdio(program))
}

/// A server of a project's file.
fn project_server(directory: &str, command: &str) -> ServerConfig {
    let entry = JsonEntry { command: Some(command.to_owned()), ..JsonEntry::default() };
    let entry = ProjectEntry::new(Path::new(directory), &entry).unwrap();
    ServerConfig { source: ConfigSource::Project(entry), ..server("one") }
}

fn tool(name: &str, description: &str) -> ToolVersion {
    ToolVersion::new(name, description, r#"{"type":"object"}"#, "")
}

fn states(known_servers: &KnownServers, config: &ServerConfig) -> Vec<(String, ToolState)> {
    let tools = known_servers.find_server(config).unwrap().tools;
    tools.values().map(|tool| (tool.name.clone(), tool.state())).collect()
}

pub(crate) async fn the_first_sight_is_agreed_to_and_what_differs_later_is_frozen(
    location: DatabaseLocation,
) {
    use ToolState::{Approved, Frozen, Gone};
    let known_servers = KnownServers::open(open(&location).await).await.unwrap();
    let config = server("one");
    assert!(known_servers.find_server(&config).is_none());
    let first = [tool("a", "A\0 with a NUL"), tool("b", "B")];
    let changes = known_servers.record_tool_list(&config, &first).await.unwrap();
    assert!(changes.is_new && changes.any && changes.frozen.is_empty());
    assert!(!known_servers.record_tool_list(&config, &first).await.unwrap().any);
    // One tool is changed, one is removed, one is new.
    let later = [tool("a", "A, and more"), tool("c", "C")];
    let changes = known_servers.record_tool_list(&config, &later).await.unwrap();
    assert_eq!(changes.frozen, ["a", "c"]);
    let known = |name: &str, state| (name.to_owned(), state);
    let expected = [known("a", Frozen), known("b", Gone), known("c", Frozen)];
    assert_eq!(states(&known_servers, &config), expected);
    assert_eq!(known_servers.approve(&config, Some("c")).await.unwrap(), ["c"]);
    assert_eq!(states(&known_servers, &config)[0].1, Frozen);
    // The original version is still approved.
    known_servers.record_tool_list(&config, &first).await.unwrap();
    let expected = [known("a", Approved), known("b", Approved), known("c", Gone)];
    assert_eq!(states(&known_servers, &config), expected);
    // A tool that was never approved is deleted when it is removed.
    known_servers.record_tool_list(&config, &[tool("d", "D")]).await.unwrap();
    assert!(known_servers.find_tool(&config, "d").is_some());
    assert!(known_servers.record_tool_list(&config, &first).await.unwrap().any);
    known_servers.load().await.unwrap();
    assert_eq!(states(&known_servers, &config), expected);
}

pub(crate) async fn what_was_agreed_to_is_known_to_the_next_process(location: DatabaseLocation) {
    let config = server("one");
    let first = KnownServers::open(open(&location).await).await.unwrap();
    first.record_tool_list(&config, &[tool("a", "A")]).await.unwrap();
    first.record_tool_list(&config, &[tool("a", "other")]).await.unwrap();
    let second = KnownServers::open(open(&location).await).await.unwrap();
    assert_eq!(second.find_server(&config), first.find_server(&config));
    assert_eq!(states(&second, &config)[0].1, ToolState::Frozen);
    second.approve(&config, None).await.unwrap();
    // The first store is unchanged until it is loaded again.
    assert_eq!(states(&first, &config)[0].1, ToolState::Frozen);
    first.load().await.unwrap();
    assert_eq!(states(&first, &config)[0].1, ToolState::Approved);
    second.forget(&config).await.unwrap();
    first.load().await.unwrap();
    assert!(first.find_server(&config).is_none());
}

pub(crate) async fn the_servers_of_two_projects_are_two(location: DatabaseLocation) {
    let known_servers = KnownServers::open(open(&location).await).await.unwrap();
    let of = |directory: &str| project_server(directory, "serve");
    known_servers.record_tool_list(&of("/a"), &[tool("a", "A")]).await.unwrap();
    assert!(
        known_servers.find_server(&of("/b")).is_none()
            && known_servers.find_server(&server("one")).is_none()
    );
    let changes = known_servers.record_tool_list(&of("/b"), &[tool("a", "another")]).await.unwrap();
    assert!(changes.is_new && changes.frozen.is_empty());
}

pub(crate) async fn an_entry_of_a_project_is_approved_by_its_content(location: DatabaseLocation) {
    use EntryState::{Approved, Changed, Declined, New};
    let known_servers = KnownServers::open(open(&location).await).await.unwrap();
    let (good, evil) = (project_server("/a", "good"), project_server("/a", "evil"));
    let other_place = project_server("/b", "good");
    let states =
        |known: &KnownServers| [&good, &evil, &other_place].map(|config| known.entry_state(config));
    assert_eq!(states(&known_servers), [New, New, New]);
    // That its tools were seen once is no approval.
    known_servers.record_tool_list(&good, &[tool("a", "A")]).await.unwrap();
    assert_eq!(states(&known_servers), [New, New, New]);
    known_servers.decide_entry(&good, true).await.unwrap();
    assert_eq!(states(&known_servers), [Approved, Changed, New]);
    let next_process = KnownServers::open(open(&location).await).await.unwrap();
    assert_eq!(states(&next_process), [Approved, Changed, New]);
    next_process.decide_entry(&evil, false).await.unwrap();
    known_servers.load().await.unwrap();
    assert_eq!(states(&known_servers), [Changed, Declined, New]);
    // The user's own configuration needs no approval.
    assert_eq!(known_servers.entry_state(&server("one")), Approved);
}
