//! Manages one server: started when it is first needed, shared by all callers, and not restarted
//! after too many failures.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use lango_egress::{BackoffPolicy, BreakerPolicy, BreakerState, CircuitBreaker};
use rmcp::model::{CallToolResult, JsonObject};
use tokio::sync::{Mutex, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::config::{ServerConfig, ServerName};
use super::conversation::Conversation;
use super::known_servers::{KnownServer, KnownServers, ToolListChanges, ToolState};
use super::link::ServerConnection;
use super::pin;
use super::sampling::Sampling;
use super::{ClientEnvironment, ClientError, EntryState};

/// Makes a server wait after each failure, and does not restart it after five in a row.
const BREAKER: BreakerPolicy = BreakerPolicy {
    pause_threshold: 1,
    pauses: BackoffPolicy::doubling(Duration::from_secs(1), Duration::from_mins(1)),
    isolation_threshold: Some(5),
};
/// Limits the consecutive calls without an answer after which a server counts as failed.
const MAX_UNANSWERED_COUNT: u32 = 3;
/// Limits how long a call waits for a restart. A longer wait is reported as an error.
const MAX_CALL_WAIT: Duration = Duration::from_secs(5);
/// Limits the simultaneous calls of one server; others wait.
const MAX_PARALLEL_CALLS: usize = 16;
/// Sets the pause between two requests for an announced tool list.
const LIST_INTERVAL: Duration = Duration::from_secs(1);

/// Represents a server, running or not.
pub struct Server {
    /// Its configuration.
    pub config: ServerConfig,
    known_servers: KnownServers,
    environment: Arc<ClientEnvironment>,
    /// The lock makes two first calls start one program, and delays calls while the server's tool
    /// list is compared.
    state: Mutex<ServerState>,
    /// One permit for each call that may run. They belong to the server and not to a connection: a
    /// call acquires one before it gets a connection.
    slots: Semaphore,
    /// Counts the changes of the offered tools; shared by all servers.
    offer_changed: watch::Sender<u64>,
    /// The problems in its tool list, set with the first list.
    problems: parking_lot::Mutex<Vec<String>>,
    own: OnceLock<Weak<Self>>,
}

struct ServerState {
    link: Option<Arc<ServerConnection>>,
    /// The last announcement of a new list that was processed.
    followed: u64,
    breaker: CircuitBreaker,
    unanswered: u32,
    last_failure: String,
}

impl Default for ServerState {
    fn default() -> Self {
        Self {
            link: None,
            followed: 0,
            breaker: CircuitBreaker::new(BREAKER),
            unanswered: 0,
            last_failure: String::new(),
        }
    }
}

impl ServerState {
    fn fail(&mut self, server: &ServerName, reason: &str, is_misconduct: bool) {
        self.link = None;
        self.unanswered = 0;
        reason.clone_into(&mut self.last_failure);
        if is_misconduct {
            self.breaker.isolate();
        } else {
            self.breaker.record_failure();
        }
        let failures = self.breaker.failures();
        if self.breaker.state() == BreakerState::Isolated {
            tracing::error!(%server, failures, is_misconduct, "MCP server is not started again");
        } else {
            tracing::warn!(%server, failures, "MCP server failed");
        }
        // It has the last output of the program in it.
        tracing::debug!(%server, reason, "reason of the failure");
    }
}

impl Server {
    pub(crate) fn new(
        config: ServerConfig,
        known_servers: KnownServers,
        environment: Arc<ClientEnvironment>,
        offer_changed: watch::Sender<u64>,
    ) -> Arc<Self> {
        let server = Arc::new(Self {
            config,
            known_servers,
            environment,
            state: Mutex::default(),
            slots: Semaphore::new(MAX_PARALLEL_CALLS),
            offer_changed,
            problems: parking_lot::Mutex::default(),
            own: OnceLock::new(),
        });
        // It is set only here.
        let _ = server.own.set(Arc::downgrade(&server));
        server
    }

    /// Returns what is stored about it, without starting it.
    pub fn find_stored(&self) -> Option<KnownServer> {
        self.known_servers.find_server(&self.config)
    }

    /// Returns the reason why it must not be started, if there is one.
    pub fn reason_not_to_start(&self) -> Option<ClientError> {
        let server = self.config.name.to_string();
        if !self.config.enabled {
            return Some(ClientError::Disabled(server));
        }
        match self.entry_state() {
            EntryState::Approved => None,
            state => Some(ClientError::Unapproved { server, state }),
        }
    }

    /// Returns whether a person approved its entry, where it is in a project's file.
    pub fn entry_state(&self) -> EntryState {
        self.known_servers.entry_state(&self.config)
    }

    /// Returns the problems in its tool list.
    pub fn problems(&self) -> Vec<String> {
        self.problems.lock().clone()
    }

    /// Returns the current connection or opens a new one, and compares the tool list.
    pub(crate) async fn connect(&self) -> Result<Arc<ServerConnection>, ClientError> {
        if let Some(objection) = self.reason_not_to_start() {
            return Err(objection);
        }
        let mut state = self.state.lock().await;
        if let Some(link) = state.link.clone() {
            if link.is_alive() {
                self.follow_list(&mut state, &link).await?;
                return Ok(link);
            }
            self.record_end(&mut state, &link).await;
        }
        self.wait_for_restart(&state).await?;
        match self.open().await {
            Ok(link) => {
                let link = Arc::new(link);
                state.followed = *link.conversation.tools_changed.borrow();
                if let Err(error) = self.compare(&link).await {
                    if matches!(error, ClientError::LoginNeeded { .. }) {
                        link.close().await;
                        return Err(error);
                    }
                    let is_misconduct = link.conduct.fault().is_some();
                    let reason = if link.is_alive() { error.to_string() } else { link.end().await };
                    state.fail(&self.config.name, &reason, is_misconduct);
                    let server = self.config.name.to_string();
                    return Err(ClientError::Start { server, reason });
                }
                state.link = Some(Arc::clone(&link));
                let (server, failures) = (&self.config.name, state.breaker.failures());
                tracing::info!(%server, is_restart = failures > 0, "MCP server started");
                self.watch_list(&link);
                Ok(link)
            }
            // This is no failure: the server requires a login.
            Err(error @ ClientError::LoginNeeded { .. }) => Err(error),
            Err(error) => {
                state.fail(&self.config.name, &reason_of(&error), false);
                Err(error)
            }
        }
    }

    async fn open(&self) -> Result<ServerConnection, ClientError> {
        let config = &self.config;
        let root = config.roots.then(|| self.environment.process_environment.workspace.clone());
        let sampling = self.environment.model.as_ref().filter(|_| config.sampling.requests > 0);
        let sampling = sampling.map(|model| Sampling::new(Arc::clone(model), config.sampling));
        let person = Arc::clone(&self.environment.person);
        let conversation = Conversation::new(config.name.clone(), root, person, sampling);
        ServerConnection::open(config, conversation, &self.environment).await
    }

    /// Waits until a restart is allowed after failures, or returns an error if that takes too long.
    async fn wait_for_restart(&self, state: &ServerState) -> Result<(), ClientError> {
        let (server, times) = (self.config.name.to_string(), state.breaker.failures());
        let reason = state.last_failure.clone();
        match state.breaker.state() {
            BreakerState::Closed => Ok(()),
            BreakerState::Isolated => Err(ClientError::Isolated { server, times, reason }),
            BreakerState::Paused(left) if left > MAX_CALL_WAIT => {
                let seconds = left.as_secs() + 1;
                Err(ClientError::Waiting { server, times, seconds, reason })
            }
            BreakerState::Paused(left) => {
                tokio::time::sleep(left).await;
                Ok(())
            }
        }
    }

    /// Records the end of a connection and describes it.
    async fn record_end(&self, state: &mut ServerState, link: &Arc<ServerConnection>) -> String {
        let is_misconduct = link.conduct.fault().is_some();
        let reason = link.end().await;
        // Another call may have recorded it first.
        if state.link.as_ref().is_some_and(|known| Arc::ptr_eq(known, link)) {
            state.fail(&self.config.name, &reason, is_misconduct);
        }
        reason
    }

    /// Requests the list again if the server announced a change.
    async fn follow_list(
        &self,
        state: &mut ServerState,
        link: &Arc<ServerConnection>,
    ) -> Result<(), ClientError> {
        let announced = *link.conversation.tools_changed.borrow();
        if announced == state.followed {
            return Ok(());
        }
        self.compare(link).await?;
        state.followed = announced;
        Ok(())
    }

    /// Requests the list and compares it with the approved one.
    async fn compare(&self, link: &ServerConnection) -> Result<ToolListChanges, ClientError> {
        let tools = link.tools(self.config.startup_timeout).await?;
        let (versions, problems) = pin::read_all(&tools);
        *self.problems.lock() = problems;
        let changes = self.known_servers.record_tool_list(&self.config, &versions).await?;
        if changes.any {
            tracing::info!(server = %self.config.name, tools = versions.len(), "MCP tools changed");
            self.offer_changed.send_modify(|times| *times += 1);
        }
        Ok(changes)
    }

    /// Requests new lists in the background when they are announced, and not only before a call.
    fn watch_list(&self, link: &Arc<ServerConnection>) {
        let (Some(own), link) = (self.own.get().cloned(), Arc::downgrade(link)) else { return };
        let Some(strong) = link.upgrade() else { return };
        let mut announced = strong.conversation.tools_changed.subscribe();
        drop(strong);
        tokio::spawn(async move {
            while announced.changed().await.is_ok() {
                let (Some(server), Some(link)) = (own.upgrade(), link.upgrade()) else { return };
                let mut state = server.state.lock().await;
                let is_current = state.link.as_ref().is_some_and(|known| Arc::ptr_eq(known, &link));
                if !is_current || !link.is_alive() {
                    return;
                }
                // The next call encounters the same error and reports it.
                if let Err(error) = server.follow_list(&mut state, &link).await {
                    tracing::warn!(server = %server.config.name, "an MCP tool list was not read");
                    tracing::debug!(%error, "reason of the failure");
                }
                drop(state);
                drop((server, link));
                tokio::time::sleep(LIST_INTERVAL).await;
            }
        });
    }

    /// Calls a tool as it was approved. Also returns remarks about the server.
    pub(crate) async fn call(
        &self,
        tool: &str,
        digest: &str,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> (Result<CallToolResult, ClientError>, Vec<String>) {
        // The slot comes first: after a long wait for it, the current list must be used.
        let ready = async {
            let slot = self.slots.acquire().await.map_err(|_| ClientError::Cancelled)?;
            Ok((slot, self.connect().await?))
        };
        let ready = tokio::select! {
            ready = ready => ready,
            () = cancel.cancelled() => Err(ClientError::Cancelled),
        };
        let checked = ready.and_then(|ready| self.check(tool, digest).map(|()| ready));
        let (_slot, link) = match checked {
            Ok(ready) => ready,
            Err(error) => return (Err(error), Vec::new()),
        };
        let open = link.calls().open();
        if let Some(sampling) = link.conversation.sampling.as_ref().filter(|_| open.is_only()) {
            sampling.renew();
        }
        let limit = self.config.tool_timeout;
        let dropped = link.conduct.dropped();
        let answer = link.call(tool, arguments, limit, cancel).await;
        let mut remarks = open.close();
        if link.conduct.dropped() > dropped {
            let many = link.conduct.dropped() - dropped;
            remarks.push(format!("the server sent too much at once; {many} messages were dropped"));
        }
        (self.update_from_answer(&link, answer).await, remarks)
    }

    /// Calls a tool that a person typed. Returns the text of the answer.
    pub async fn ask(&self, tool: &str, arguments: JsonObject) -> Result<String, ClientError> {
        let digest = self.current_digest(tool);
        let never = CancellationToken::new();
        let (answer, _) = self.call(tool, &digest, arguments, &never).await;
        answer.map(|answer| super::result::render_result(&answer))
    }

    /// Updates the state of the server from an answer.
    async fn update_from_answer(
        &self,
        link: &Arc<ServerConnection>,
        answer: Result<CallToolResult, ClientError>,
    ) -> Result<CallToolResult, ClientError> {
        let server = self.config.name.to_string();
        match answer {
            Err(ClientError::Cancelled) => Err(ClientError::Cancelled),
            Err(_) if !link.is_alive() => {
                let mut state = self.state.lock().await;
                let reason = self.record_end(&mut state, link).await;
                Err(ClientError::Gone { server, reason })
            }
            Err(error @ ClientError::TooSlow { .. }) => {
                let mut state = self.state.lock().await;
                // A timeout on an old connection does not count for a new one.
                if !state.link.as_ref().is_some_and(|known| Arc::ptr_eq(known, link)) {
                    return Err(error);
                }
                state.unanswered += 1;
                if state.unanswered >= MAX_UNANSWERED_COUNT {
                    link.close().await;
                    let reason = format!("{MAX_UNANSWERED_COUNT} calls in a row got no answer");
                    state.fail(&self.config.name, &reason, false);
                }
                Err(error)
            }
            answer => {
                let mut state = self.state.lock().await;
                state.breaker.record_success();
                state.unanswered = 0;
                answer
            }
        }
    }

    /// Checks that a tool is enabled and unchanged since it was approved.
    fn check(&self, tool: &str, digest: &str) -> Result<(), ClientError> {
        let server = self.config.name.to_string();
        let known = self.known_servers.find_tool(&self.config, tool);
        let known = known.filter(|known| known.state() != ToolState::Gone);
        let Some(known) = known.filter(|_| self.config.enables_tool(tool)) else {
            return Err(ClientError::UnknownTool { server, tool: tool.to_owned() });
        };
        let is_same = known.approved.as_ref().is_some_and(|approved| approved.digest == digest);
        if known.state() == ToolState::Approved && is_same {
            return Ok(());
        }
        let what = format!("the tool {}", lango_text::make_visible(tool));
        Err(ClientError::Frozen { server, tool: tool.to_owned(), what })
    }

    /// Returns the current digest of a tool, which an approval is bound to.
    pub(crate) fn current_digest(&self, tool: &str) -> String {
        let known = self.known_servers.find_tool(&self.config, tool);
        known.and_then(|known| known.current).map_or_else(|| "missing".to_owned(), |c| c.digest)
    }

    /// Ends the connection and the program behind it.
    pub async fn stop(&self) {
        let link = self.state.lock().await.link.take();
        if let Some(link) = link {
            link.close().await;
        }
    }
}

/// Returns the reason of an error, without the surrounding text.
fn reason_of(error: &ClientError) -> String {
    match error {
        ClientError::Start { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}
