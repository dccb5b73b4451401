//! Builds the MCP servers from the configuration, and the agents' tools from the servers.

mod entry;
mod variables;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lango_keystore::KeyStore;
use lango_mcp::client::{
    ClientEnvironment, KnownServers, MAX_SERVER_FILE_BYTES, NoPerson, Person, ProcessEnvironment,
    Server, ServerConfig, Servers, ToolState, TransportConfig, read_servers, server_home,
};
use lango_model::Model;
use lango_store::Database;
use lango_tool::RegisteredTool;

use crate::config::Config;
use crate::definition::is_trusted;
use crate::provider::ReadyModels;
use crate::secret_values::SecretValues;
use crate::{App, AppError, Home, confinement, web};

pub use entry::{EntryError, import_entry, resolve_entry};

/// Names the file with a project's servers.
pub const PROJECT_FILE: &str = ".mcp.json";

/// Holds the usable servers, and messages about the others.
#[derive(Debug, Default)]
pub struct ConfiguredServers {
    /// The servers.
    pub servers: Vec<ServerConfig>,
    /// Messages about entries that are not used.
    pub notices: Vec<String>,
}

/// Reads the user's servers and, where the directory is trusted, the project's, which a person has to
/// approve one by one. An entry that cannot be used is a notice; the others work.
fn servers(config: &Config, workspace: &Path, secrets: &SecretValues) -> ConfiguredServers {
    let mut found = ConfiguredServers::default();
    for (name, given) in &config.mcp_servers {
        match resolve_entry(name, given, secrets) {
            Ok(server) => found.servers.push(server),
            // A server that is switched off may lack its variables.
            Err(_) if !given.enabled => {}
            Err(why) => found.notices.push(format!("mcp_servers.{name} is not used: {why}")),
        }
    }
    let file = workspace.join(PROJECT_FILE);
    match read_optional_file(&file) {
        Ok(None) => {}
        // While a command runs, the sandbox may leave an empty placeholder in its place.
        Ok(Some(text)) if text.trim().is_empty() => {}
        _ if !is_trusted(config, workspace) => found.notices.push(format!(
            "{PROJECT_FILE} of this directory is not used, because the directory is not trusted. \
             Look at it, then: lango trust"
        )),
        Err(why) => found.notices.push(format!("{} is not used: {why}", file.display())),
        Ok(Some(text)) => add_project_servers(&text, config, workspace, &mut found),
    }
    found
}

/// Reads the servers, with the secrets of the vault that they name.
pub async fn read_configured_servers(
    config: &Config,
    workspace: &Path,
    store: &KeyStore,
) -> ConfiguredServers {
    let secrets = SecretValues::read_for_servers(config, store).await;
    servers(config, workspace, &secrets)
}

/// Tells whether the names are equal, or one continues the other as tool names do: a rule for the
/// tools of `time` would hold for those of `time_x`.
fn names_overlap(one: &str, other: &str) -> bool {
    let goes_on = |long: &str, short: &str| {
        long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    goes_on(one, other) || goes_on(other, one)
}

fn add_project_servers(
    text: &str,
    config: &Config,
    workspace: &Path,
    found: &mut ConfiguredServers,
) {
    let entries = match read_servers(text) {
        Ok(entries) => entries,
        Err(why) => {
            found.notices.push(format!("{PROJECT_FILE} is not used: {why}"));
            return;
        }
    };
    for given in entries {
        let name = lango_text::make_visible_short(&given.name);
        // This also holds if that server is off, or could not be read.
        if config.mcp_servers.keys().any(|known| names_overlap(known, &given.name)) {
            let why = "the configuration has a server of that name, or one that begins like it";
            found.notices.push(format!("{name} of {PROJECT_FILE} is not used: {why}"));
            continue;
        }
        let server = given.entry.map_err(EntryError::from).and_then(|entry| {
            entry::resolve_project_entry(&given.name, &entry, &given.unknown, workspace, config)
        });
        match server {
            Ok(server) => found.servers.push(server),
            Err(why) => {
                found.notices.push(format!("{name} of {PROJECT_FILE} is not used: {why}"));
            }
        }
    }
}

/// Returns the text of a file, or `None` if it does not exist.
pub fn read_optional_file(file: &Path) -> Result<Option<String>, String> {
    let opened = match std::fs::File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let is_file = opened.metadata().is_ok_and(|found| found.is_file());
    if !is_file {
        return Err("it is not a file".to_owned());
    }
    let mut text = String::new();
    let read = opened.take(MAX_SERVER_FILE_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_SERVER_FILE_BYTES {
        return Err("it is longer than 1 MiB".to_owned());
    }
    Ok(Some(text))
}

/// Returns the directory in which earlier versions stored tokens.
pub(crate) fn token_directory(home: &Home) -> PathBuf {
    home.data.join("mcp")
}

/// Returns the directory of the servers' homes. It is absolute, because servers run in other
/// directories.
fn homes_directory(home: &Home) -> PathBuf {
    let homes = home.data.join("mcp/homes");
    // That fails only if the current directory is gone, and then a relative path leads nowhere.
    std::path::absolute(&homes).unwrap_or(homes)
}

/// Returns the home of a server. A program that is not confined, or an address, has none.
pub fn find_server_home(app: &App, config: &ServerConfig) -> Option<PathBuf> {
    match &config.transport {
        TransportConfig::Stdio(program) if program.sandbox => {
            Some(server_home(&homes_directory(&app.home), config))
        }
        TransportConfig::Stdio(_) | TransportConfig::Http(_) => None,
    }
}

/// Returns the environment of the servers.
pub fn build_client_environment(
    config: &Config,
    home: &Home,
    workspace: &Path,
    person: Arc<dyn Person>,
    model: Option<Arc<dyn Model>>,
    key_store: KeyStore,
) -> Result<ClientEnvironment, AppError> {
    Ok(ClientEnvironment {
        process_environment: ProcessEnvironment {
            workspace: workspace.to_owned(),
            sandbox: confinement::build_sandbox(config),
            policy: confinement::build_sandbox_policy(config, home, workspace)?,
            homes: homes_directory(home),
        },
        rules: web::egress_rules(config)?,
        key_store,
        person,
        model,
    })
}

/// Opens the servers with their stored state. Nothing is started. An agent's tools are folded when
/// they take more than `fold_above` bytes.
pub async fn open(
    configured: Vec<ServerConfig>,
    environment: ClientEnvironment,
    database: Database,
    fold_above: usize,
) -> Result<Servers, AppError> {
    let known_servers = KnownServers::open(database).await?;
    Ok(Servers::new(configured, known_servers, environment, fold_above))
}

/// Holds what MCP servers add to a team.
#[derive(Default)]
pub(crate) struct McpTools {
    /// The servers, if any are configured.
    pub(crate) servers: Option<Servers>,
    pub(crate) tools: Vec<RegisteredTool>,
    /// Messages about servers that are not used, or only partly.
    pub(crate) notices: Vec<String>,
    /// Values that must not be recorded or shown.
    pub(crate) secrets: Vec<String>,
}

/// Returns the tools of all servers. Servers that were never connected are asked first.
pub(crate) async fn start_servers(
    app: &App,
    workspace: &Path,
    (database, store): (&Database, &KeyStore),
    person: Arc<dyn Person>,
    models: &ReadyModels,
) -> Result<McpTools, AppError> {
    let config = app.config();
    let ConfiguredServers { servers, mut notices } =
        read_configured_servers(config, workspace, store).await;
    // Nothing is opened if no server is used.
    if servers.is_empty() {
        return Ok(McpTools { notices, ..McpTools::default() });
    }
    let secrets = servers.iter().flat_map(ServerConfig::secrets).collect();
    let writer = models.writer.clone();
    notices.extend(servers.iter().filter(|_| writer.is_none()).filter_map(missing_sampling_notice));
    let asked = Arc::clone(&person);
    let environment =
        build_client_environment(config, &app.home, workspace, person, writer, store.clone())?;
    // The embedded model has no prompt that could fill up, and can only call what it is offered.
    let is_embedded = models.choice.is_embedded();
    let fold_above = if is_embedded { usize::MAX } else { config.mcp.fold_bytes };
    let servers = open(servers, environment, database.clone(), fold_above).await?;
    ask_about_entries(&servers, &homes_directory(&app.home), &*asked).await?;
    notices.extend(servers.start_unseen().await);
    let offer = servers.offer_tools();
    notices.extend(offer.problems);
    Ok(McpTools { servers: Some(servers), tools: offer.tools, notices, secrets })
}

/// Asks about the entries of a project's file that no person decided about. Without a person, they stay
/// as they are.
async fn ask_about_entries(
    servers: &Servers,
    homes: &Path,
    person: &dyn Person,
) -> Result<(), AppError> {
    for server in servers.list_unapproved() {
        let Some(question) = server.config.describe_project_entry(homes) else { continue };
        if let Some(is_approval) = person.approve_entry(question).await {
            servers.known_servers().decide_entry(&server.config, is_approval).await?;
        }
    }
    Ok(())
}

/// Returns a notice if a server that may use the model (sampling) gets none.
fn missing_sampling_notice(server: &ServerConfig) -> Option<String> {
    let may_ask = server.enabled && server.sampling.requests > 0;
    may_ask.then(|| {
        format!(
            "the MCP server {} gets no model (sampling_requests): the embedded model cannot write",
            server.name
        )
    })
}

/// Returns the tools of the servers that were connected before, for inspection. Nothing is started.
pub(crate) async fn list_known_tools(
    app: &App,
    workspace: &Path,
    (database, store): (&Database, &KeyStore),
) -> Result<Vec<RegisteredTool>, AppError> {
    // Nothing is started, so that no secret is needed.
    let servers = servers(app.config(), workspace, &SecretValues::unread()).servers;
    if servers.is_empty() {
        return Ok(Vec::new());
    }
    Ok(open_known(app, workspace, (database, store), servers).await?.offer_tools().tools)
}

/// Returns these servers with their stored state, for inspection.
pub async fn open_known(
    app: &App,
    workspace: &Path,
    (database, store): (&Database, &KeyStore),
    configured: Vec<ServerConfig>,
) -> Result<Servers, AppError> {
    let config = app.config();
    let (person, store) = (Arc::new(NoPerson), store.clone());
    let environment = build_client_environment(config, &app.home, workspace, person, None, store)?;
    open(configured, environment, database.clone(), config.mcp.fold_bytes).await
}

/// Describes a server in one line, and tells whether it is usable as it is.
pub fn describe_state(server: &Server) -> (String, bool) {
    let name = &server.config.name;
    if !server.config.enabled {
        return (format!("{name}: off"), true);
    }
    if let Some(objection) = server.reason_not_to_start() {
        return (format!("{name}: {objection}"), false);
    }
    let Some(known) = server.find_stored() else {
        return (format!("{name}: not seen yet: lango mcp test {name}"), false);
    };
    let count = |state| known.tools.values().filter(|tool| tool.state() == state).count();
    match (count(ToolState::Approved), count(ToolState::Frozen)) {
        (approved, 0) => (format!("{name}: {approved} tools pinned"), true),
        (approved, frozen) => (
            format!("{name}: {approved} tools pinned, {frozen} frozen: lango mcp approve {name}"),
            false,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_takes_no_name_that_begins_like_one_of_the_users() {
        for (one, other) in [("time", "time"), ("time", "time_x"), ("time_x", "time")] {
            assert!(names_overlap(one, other), "{one} {other}");
        }
        for (one, other) in [("time", "times"), ("time_x", "time_y"), ("a", "b")] {
            assert!(!names_overlap(one, other), "{one} {other}");
        }
    }
}
