//! Stores the tools of servers as a person approved them, so that they are known without starting a
//! server.
//!
//! The first tool list of a server is approved, because the user configured the server. Later
//! changes are frozen until a person approves them.

use std::collections::BTreeMap;
use std::sync::Arc;

use lango_protocol::Timestamp;
use lango_store::{Batch, Database, Migration, Row, SchemaComponent, Statement, StoreError};
use parking_lot::RwLock;

use super::entry_approvals::EntryApprovals;
use super::pin::ToolVersion;
use super::{EntryState, ServerConfig};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "mcp_catalogue",
    migrations: &[Migration { version: 1, sqlite: TABLES, postgres: TABLES }],
};

const TABLES: &str = "
CREATE TABLE mcp_servers (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    seen_at BIGINT NOT NULL,
    approved_at BIGINT NOT NULL,
    PRIMARY KEY (scope, name)
);
CREATE TABLE mcp_tools (
    scope TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    first_seen BIGINT NOT NULL,
    approved_at BIGINT,
    approved_description TEXT,
    approved_schema TEXT,
    approved_annotations TEXT,
    latest_description TEXT,
    latest_schema TEXT,
    latest_annotations TEXT,
    PRIMARY KEY (scope, server, tool)
);
";

const COLUMNS: &str = "tool, first_seen, approved_at, approved_description, approved_schema, \
     approved_annotations, latest_description, latest_schema, latest_annotations";

/// Limits the stored tools of one server. The tools that it has now are fewer.
const MAX_STORED_TOOL_COUNT: usize = 1000;

/// Holds a tool as it was approved and as the server describes it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTool {
    /// Its name on the server.
    pub name: String,
    /// The time at which it was first seen.
    pub first_seen: Timestamp,
    /// The time at which a person approved it, or its server with it.
    pub approved_at: Option<Timestamp>,
    /// The approved version; none for a tool that was added later.
    pub approved: Option<ToolVersion>,
    /// The latest version; none for a tool that the server no longer has.
    pub current: Option<ToolVersion>,
}

/// The approval state of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolState {
    /// It is unchanged since it was approved.
    Approved,
    /// It differs from the approved version, or was never approved.
    Frozen,
    /// The server no longer has it.
    Gone,
}

impl KnownTool {
    /// Returns its approval state.
    pub fn state(&self) -> ToolState {
        match (&self.approved, &self.current) {
            (_, None) => ToolState::Gone,
            (Some(approved), Some(current)) if approved.digest == current.digest => {
                ToolState::Approved
            }
            _ => ToolState::Frozen,
        }
    }
}

/// Describes a server that was seen before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownServer {
    /// Its tools, by name.
    pub tools: BTreeMap<String, KnownTool>,
}

type ServersByKey = BTreeMap<(String, String), KnownServer>;

/// Holds all servers and tools that were seen and approved. Clones share it.
#[derive(Clone)]
pub struct KnownServers {
    database: Database,
    entries: EntryApprovals,
    /// The lock is held for a lookup; calls are proposed in parallel.
    known: Arc<RwLock<ServersByKey>>,
}

/// Describes what a new tool list changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolListChanges {
    /// True if the server was seen for the first time.
    pub is_new: bool,
    /// The names of the tools that this list froze.
    pub frozen: Vec<String>,
    /// True if anything changed.
    pub any: bool,
}

impl KnownServers {
    /// Opens the known servers of a database.
    pub async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        let entries = EntryApprovals::open(database.clone()).await?;
        let known_servers = Self { database, entries, known: Arc::default() };
        known_servers.load().await?;
        Ok(known_servers)
    }

    /// Reads the database again, because another process may have approved something.
    pub async fn load(&self) -> Result<(), StoreError> {
        self.entries.load().await?;
        let servers = Statement::new("SELECT scope, name FROM mcp_servers");
        let mut known = ServersByKey::new();
        for row in self.database.query(servers).await? {
            let key = (row.text(0)?.to_owned(), row.text(1)?.to_owned());
            known.insert(key, KnownServer { tools: BTreeMap::new() });
        }
        let sql = format!("SELECT scope, server, {COLUMNS} FROM mcp_tools");
        for row in self.database.query(Statement::new(sql)).await? {
            let key = (row.text(0)?.to_owned(), row.text(1)?.to_owned());
            let tool = read_tool(&row, 2)?;
            if let Some(server) = known.get_mut(&key) {
                server.tools.insert(tool.name.clone(), tool);
            }
        }
        *self.known.write() = known;
        Ok(())
    }

    /// Returns what is stored about a server, or none if it was never seen.
    pub fn find_server(&self, config: &ServerConfig) -> Option<KnownServer> {
        self.known.read().get(&server_key(config)).cloned()
    }

    /// Returns one tool of a server.
    pub fn find_tool(&self, config: &ServerConfig, name: &str) -> Option<KnownTool> {
        let known = self.known.read();
        known.get(&server_key(config))?.tools.get(name).cloned()
    }

    /// Returns whether a person approved the server's entry, where it is in a project's file.
    pub fn entry_state(&self, config: &ServerConfig) -> EntryState {
        self.entries.state(config)
    }

    /// Stores whether a person approves the server's entry as it is now.
    pub async fn decide_entry(
        &self,
        config: &ServerConfig,
        is_approval: bool,
    ) -> Result<(), StoreError> {
        self.entries.decide(config, is_approval).await
    }

    /// Compares a server's tool list with the approved one and stores it.
    pub async fn record_tool_list(
        &self,
        config: &ServerConfig,
        tools: &[ToolVersion],
    ) -> Result<ToolListChanges, StoreError> {
        let before = self.find_server(config);
        let now = Timestamp::now();
        let mut after = before.clone().unwrap_or_else(|| KnownServer { tools: BTreeMap::new() });
        let is_new = before.is_none();
        for known in after.tools.values_mut() {
            known.current = None;
        }
        for version in tools {
            let known = after.tools.entry(version.name.clone()).or_insert_with(|| KnownTool {
                name: version.name.clone(),
                first_seen: now,
                approved_at: is_new.then_some(now),
                approved: is_new.then(|| version.clone()),
                current: None,
            });
            known.current = Some(version.clone());
        }
        drop_old(&mut after.tools);
        let dropped: Vec<&String> = before
            .iter()
            .flat_map(|before| before.tools.keys())
            .filter(|name| !after.tools.contains_key(*name))
            .collect();
        let different: Vec<&KnownTool> = after
            .tools
            .values()
            .filter(|tool| before.as_ref().and_then(|b| b.tools.get(&tool.name)) != Some(tool))
            .collect();
        let frozen: Vec<String> = different
            .iter()
            .filter(|tool| tool.state() == ToolState::Frozen)
            .map(|tool| tool.name.clone())
            .collect();
        let changes = ToolListChanges {
            is_new,
            frozen,
            any: is_new || !different.is_empty() || !dropped.is_empty(),
        };
        if changes.any {
            let mut batch = Batch::with_capacity(different.len() + dropped.len() + 1);
            if is_new {
                batch.push(insert_server(config, now));
            }
            for name in dropped {
                batch.push(delete_tool(config, name));
            }
            for tool in different {
                batch.push(write_tool(config, tool));
            }
            self.database.write(batch).await?;
            self.update_cache(config, after);
        }
        Ok(changes)
    }

    /// Approves the current version of a tool, or all tools of a server.
    pub async fn approve(
        &self,
        config: &ServerConfig,
        tool: Option<&str>,
    ) -> Result<Vec<String>, StoreError> {
        let now = Timestamp::now();
        let Some(mut server) = self.find_server(config) else { return Ok(Vec::new()) };
        let mut batch = Batch::new();
        let mut approved = Vec::new();
        for known in server.tools.values_mut() {
            let wanted = tool.is_none_or(|name| name == known.name);
            if wanted && known.state() == ToolState::Frozen {
                known.approved.clone_from(&known.current);
                known.approved_at = Some(now);
                approved.push(known.name.clone());
                batch.push(write_tool(config, known));
            }
        }
        self.database.write(batch).await?;
        self.update_cache(config, server);
        Ok(approved)
    }

    /// Deletes a server. When it is seen again, it counts as new.
    pub async fn forget(&self, config: &ServerConfig) -> Result<(), StoreError> {
        let (scope, name) = server_key(config);
        let tools = Statement::new("DELETE FROM mcp_tools WHERE scope = $1 AND server = $2");
        let server = Statement::new("DELETE FROM mcp_servers WHERE scope = $1 AND name = $2");
        let bound = |statement: Statement| statement.bind(scope.as_str()).bind(name.as_str());
        self.database.write(Batch::new().with(bound(tools)).with(bound(server))).await?;
        self.known.write().remove(&(scope, name));
        Ok(())
    }

    fn update_cache(&self, config: &ServerConfig, server: KnownServer) {
        self.known.write().insert(server_key(config), server);
    }
}

fn server_key(config: &ServerConfig) -> (String, String) {
    (config.source.scope(), config.name.to_string())
}

fn insert_server(config: &ServerConfig, now: Timestamp) -> Statement {
    // The column `definition` was for the content of entries, which is stored with their approvals.
    Statement::new(
        "INSERT INTO mcp_servers (scope, name, definition, seen_at, approved_at) \
         VALUES ($1, $2, '', $3, $4) ON CONFLICT (scope, name) DO UPDATE SET \
         approved_at = excluded.approved_at",
    )
    .bind(config.source.scope())
    .bind(config.name.as_str())
    .bind(now.as_microseconds())
    .bind(now.as_microseconds())
}

/// Drops removed tools, so that a server cannot fill the database: those that were never approved,
/// and the oldest others if there are too many. A tool that comes back is new, and so frozen.
fn drop_old(tools: &mut BTreeMap<String, KnownTool>) {
    tools.retain(|_, tool| tool.approved.is_some() || tool.current.is_some());
    let excess = tools.len().saturating_sub(MAX_STORED_TOOL_COUNT);
    if excess == 0 {
        return;
    }
    let gone = tools.values().filter(|tool| tool.current.is_none());
    let mut gone: Vec<(Timestamp, String)> =
        gone.map(|tool| (tool.first_seen, tool.name.clone())).collect();
    gone.sort();
    for (_, name) in gone.into_iter().take(excess) {
        tools.remove(&name);
    }
}

fn delete_tool(config: &ServerConfig, tool: &str) -> Statement {
    Statement::new("DELETE FROM mcp_tools WHERE scope = $1 AND server = $2 AND tool = $3")
        .bind(config.source.scope())
        .bind(config.name.as_str())
        .bind(tool)
}

fn write_tool(config: &ServerConfig, tool: &KnownTool) -> Statement {
    let field = |version: &Option<ToolVersion>, field: fn(&ToolVersion) -> &String| {
        version.as_ref().map(|version| field(version).clone())
    };
    Statement::new(
        "INSERT INTO mcp_tools (scope, server, tool, first_seen, approved_at, \
         approved_description, approved_schema, approved_annotations, latest_description, \
         latest_schema, latest_annotations) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
         ON CONFLICT (scope, server, tool) DO UPDATE SET approved_at = excluded.approved_at, \
         approved_description = excluded.approved_description, \
         approved_schema = excluded.approved_schema, \
         approved_annotations = excluded.approved_annotations, \
         latest_description = excluded.latest_description, \
         latest_schema = excluded.latest_schema, \
         latest_annotations = excluded.latest_annotations",
    )
    .bind(config.source.scope())
    .bind(config.name.as_str())
    .bind(tool.name.as_str())
    .bind(tool.first_seen.as_microseconds())
    .bind(tool.approved_at.map(Timestamp::as_microseconds))
    .bind(field(&tool.approved, |version| &version.description))
    .bind(field(&tool.approved, |version| &version.schema))
    .bind(field(&tool.approved, |version| &version.annotations))
    .bind(field(&tool.current, |version| &version.description))
    .bind(field(&tool.current, |version| &version.schema))
    .bind(field(&tool.current, |version| &version.annotations))
}

fn read_tool(row: &Row, first: usize) -> Result<KnownTool, StoreError> {
    let name = row.text(first)?;
    let version = |column: usize| -> Result<Option<ToolVersion>, StoreError> {
        let Some(description) = row.optional_text(column)? else { return Ok(None) };
        let schema = row.optional_text(column + 1)?.unwrap_or_default();
        let annotations = row.optional_text(column + 2)?.unwrap_or_default();
        Ok(Some(ToolVersion::new(name, description, schema, annotations)))
    };
    let time = |microseconds: i64| Timestamp::from_microseconds(microseconds);
    Ok(KnownTool {
        name: name.to_owned(),
        first_seen: time(row.integer(first + 1)?),
        approved_at: row.optional_integer(first + 2)?.map(time),
        approved: version(first + 3)?,
        current: version(first + 6)?,
    })
}
