//! Everything that one run needs: a model, a database, servers, and the requests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use lango_protocol::{CallStatus, EventBody};
use lango_scripted::{Script, ScriptedServer};
use lango_store::testing::Proxy;
use lango_store::{Database, DatabaseLocation, Journal};
use tempfile::TempDir;
use tokio::sync::watch;

use crate::Arguments;
use crate::check::{AcceptedRequest, RecordedTurn, RunRecord};
use crate::fleet::{Fleet, ProcessRole, ServerSettings};

/// The number of conversations.
pub(crate) const LANES: usize = 8;
/// The most requests of one conversation.
pub(crate) const REQUESTS_IN_LANE: usize = 150;

/// One run. Copies share it.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) model: Arc<ScriptedServer>,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) proxy: Option<Proxy>,
    /// Becomes true when no more faults happen.
    pub(crate) calm: Arc<watch::Sender<bool>>,
    pub(crate) location: DatabaseLocation,
    directory: Arc<TempDir>,
}

impl Stage {
    /// Starts the model and the servers.
    pub(crate) async fn open(
        arguments: &Arguments,
        script: &str,
        role: ProcessRole,
    ) -> Result<Self> {
        let directory = TempDir::new()?;
        for name in ["workspace", "home", "user"] {
            std::fs::create_dir(directory.path().join(name))?;
        }
        let allowed = "[[approvals.rules]]\neffect = \"allow\"\ntool = \"exec_shell\"\n";
        std::fs::write(directory.path().join("home/config.toml"), allowed)?;
        let script = Script::parse("chaos", script)?;
        let model = ScriptedServer::start(script).await?;
        let (proxy, database, location) = if let Some(server) = &arguments.postgres {
            let url = create_database(server).await?;
            let (proxy, through) = before_postgres(&url).await?;
            (Some(proxy), Some(through), DatabaseLocation::Postgres(url))
        } else {
            let file = directory.path().join("home/lango.db");
            (None, None, DatabaseLocation::Sqlite(file))
        };
        let lango = match &arguments.lango {
            Some(lango) => lango.clone(),
            None => std::env::current_exe()?.with_file_name("lango"),
        };
        let settings = ServerSettings {
            lango: lango.canonicalize().with_context(|| format!("no {}", lango.display()))?,
            directory: directory.path().to_owned(),
            model: model.base_url(),
            database,
            role,
        };
        let fleet = Fleet::new(settings, usize::from(arguments.servers));
        fleet.start_all().await?;
        Ok(Self {
            model: Arc::new(model),
            fleet: Arc::new(fleet),
            proxy,
            calm: Arc::new(watch::Sender::new(false)),
            location,
            directory: Arc::new(directory),
        })
    }

    /// Returns the directory that the processes work in, as they know it.
    pub(crate) fn workspace(&self) -> Result<PathBuf> {
        Ok(self.directory.path().join("workspace").canonicalize()?)
    }

    /// Collects what is left.
    pub(crate) async fn observe(&self, accepted: Vec<AcceptedRequest>) -> Result<RunRecord> {
        let effects = read_effects(&self.directory.path().join("workspace/effects"))?;
        let database = Database::open(&self.location).await?;
        let journal = Journal::open(database).await?;
        let turns = read_turns(&journal).await?;
        Ok(RunRecord { accepted, effects, turns, complaints: self.model.complaints() })
    }
}

/// Returns the name of a request.
pub(crate) fn request_name(lane: usize, number: usize) -> String {
    format!("request-{lane}-{number:03}-")
}

/// Writes what the model says: each request is carried out by one command that leaves one line.
pub(crate) fn write_script() -> String {
    let lanes = (0..LANES).flat_map(|lane| (0..REQUESTS_IN_LANE).map(move |number| (lane, number)));
    write_script_for(lanes.map(|(lane, number)| request_name(lane, number)), "")
}

/// Writes what the model says to tasks of these names: each leaves one line, after what `first` does.
pub(crate) fn write_script_for(names: impl Iterator<Item = String>, first: &str) -> String {
    let mut script = String::new();
    for name in names {
        script += &format!(
            "[[reply]]\nagent = \"lango-orchestrator\"\nuser = \"{name}\"\nresults = 0\ncall = \
                 [{{ name = \"transfer_to_agent\", arguments = {{ agent_name = \"operator\", task = \
                 \"Do it.\" }} }}]\n\
                 [[reply]]\nagent = \"operator\"\nuser = \"{name}\"\nresults = 0\ncall = [{{ name = \
                 \"exec_shell\", arguments = {{ command = \"{first}echo {name} >> effects\" }} }}]\n"
        );
    }
    script + "[[reply]]\nsay = \"Done.\"\n"
}

/// Makes a database of its own on a server, and returns its address.
async fn create_database(server: &str) -> Result<String> {
    let (client, connection) = tokio_postgres::connect(server, tokio_postgres::NoTls).await?;
    // It ends with the client.
    tokio::spawn(connection);
    let name = format!("chaos_{}", std::process::id());
    client.batch_execute(&format!("CREATE DATABASE {name}")).await?;
    let (before, _) = server.rsplit_once('/').context("the URL names no database")?;
    Ok(format!("{before}/{name}"))
}

/// Starts a proxy before PostgreSQL, and returns the address through it.
async fn before_postgres(url: &str) -> Result<(Proxy, String)> {
    let (before, rest) = url.rsplit_once('@').context("the URL names no user")?;
    let (target, name) = rest.split_once('/').context("the URL names no database")?;
    let proxy = Proxy::start(target.to_owned()).await?;
    let through = format!("{before}@{}/{name}", proxy.address());
    Ok((proxy, through))
}

pub(crate) fn read_effects(path: &Path) -> Result<Vec<String>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    Ok(std::fs::read_to_string(path)?.lines().map(str::to_owned).collect())
}

/// Reads the turns of all sessions, in order.
async fn read_turns(journal: &Journal) -> Result<Vec<RecordedTurn>> {
    let mut turns = Vec::new();
    for session in journal.list_sessions(u32::MAX >> 1).await? {
        let mut order = Vec::new();
        let mut found: BTreeMap<String, RecordedTurn> = BTreeMap::new();
        let mut after = 0;
        loop {
            let events = journal.read_events(&session.id, after, 500).await?;
            let Some(last) = events.last() else { break };
            after = last.seq;
            for event in &events {
                let id = event.turn.to_string();
                if !found.contains_key(&id) {
                    order.push(id.clone());
                }
                let turn = found.entry(id).or_default();
                match &event.body {
                    EventBody::UserMessage { text, .. } => {
                        turn.messages += 1;
                        let name = text.split_whitespace().last().unwrap_or_default();
                        name.clone_into(&mut turn.name);
                    }
                    EventBody::ToolResult { status: CallStatus::Ok, .. } => {
                        turn.reports_effect = true;
                    }
                    EventBody::TurnFinished(outcome) => {
                        turn.ends += 1;
                        turn.given_up |= !outcome.is_done();
                    }
                    _ => {}
                }
            }
        }
        turns.extend(order.iter().filter_map(|id| found.remove(id)));
    }
    Ok(turns)
}
