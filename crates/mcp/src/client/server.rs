//! One server: started when it is needed, once for everybody, and left alone when it misbehaves.

use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use rmcp::model::{CallToolResult, JsonObject};
use tokio::sync::{Mutex, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::catalogue::{Catalogue, Changes, KnownServer, ToolState};
use super::config::ServerConfig;
use super::conversation::Conversation;
use super::link::Link;
use super::pin;
use super::sampling::Sampling;
use super::{ClientError, Outside};

/// Failures in a row after which a server is left alone.
const MOST_FAILURES: u32 = 5;
/// Calls in a row without an answer after which a server counts as failed.
const MOST_SILENT: u32 = 3;
/// The wait before the first new start; it doubles from there.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// How long a call waits for a new start. For more than that, whoever calls is told.
const PATIENCE: Duration = Duration::from_secs(5);
/// Calls of one server at the same time; others wait.
const AT_ONCE: usize = 16;
/// Lists that a server may announce: the next one is asked for after this long.
const LIST_PAUSE: Duration = Duration::from_secs(1);

/// A server that may or may not run.
pub struct Server {
    /// What the user said about it.
    pub config: ServerConfig,
    catalogue: Catalogue,
    outside: Arc<Outside>,
    /// A lock, so that two first calls start one program, and nobody calls a tool while its
    /// server's list is compared.
    state: Mutex<State>,
    /// One for each call that may run. Of the server and not of a connection: a call has its slot
    /// before it looks for one.
    slots: Semaphore,
    /// Counts the times that what is offered became something else; shared by all servers.
    offer_changed: watch::Sender<u64>,
    /// What there is to complain about in its list. Set with the first list.
    problems: std::sync::Mutex<Vec<String>>,
    own: OnceLock<Weak<Self>>,
}

#[derive(Default)]
struct State {
    link: Option<Arc<Link>>,
    /// The announcement of a new list that was followed last.
    followed: u64,
    failures: u32,
    silent: u32,
    last_failure: String,
    not_before: Option<Instant>,
}

impl State {
    fn fail(&mut self, reason: &str, is_misconduct: bool) {
        self.link = None;
        self.silent = 0;
        self.failures = if is_misconduct { MOST_FAILURES } else { self.failures + 1 };
        reason.clone_into(&mut self.last_failure);
        let doubled = FIRST_WAIT * 2u32.saturating_pow(self.failures.saturating_sub(1).min(6));
        self.not_before = Some(Instant::now() + doubled.min(LONGEST_WAIT));
    }
}

impl Server {
    pub(crate) fn new(
        config: ServerConfig,
        catalogue: Catalogue,
        outside: Arc<Outside>,
        offer_changed: watch::Sender<u64>,
    ) -> Arc<Self> {
        let server = Arc::new(Self {
            config,
            catalogue,
            outside,
            state: Mutex::default(),
            slots: Semaphore::new(AT_ONCE),
            offer_changed,
            problems: std::sync::Mutex::default(),
            own: OnceLock::new(),
        });
        // Set once, right here.
        let _ = server.own.set(Arc::downgrade(&server));
        server
    }

    /// What is known of it without starting it.
    pub fn known(&self) -> Option<KnownServer> {
        self.catalogue.server(&self.config)
    }

    /// Why it is not started as it is configured now, if it is not.
    pub fn objection(&self) -> Option<ClientError> {
        let server = self.config.name.to_string();
        if !self.config.enabled {
            return Some(ClientError::Disabled(server));
        }
        self.catalogue.is_redefined(&self.config).then(|| ClientError::Frozen {
            server,
            tool: String::new(),
            what: "the entry in the project's file".to_owned(),
        })
    }

    /// What there is to complain about in its list of tools.
    pub fn problems(&self) -> Vec<String> {
        self.problems.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// The connection: the one there is, or a new one, with a list that was compared.
    pub(crate) async fn link(&self) -> Result<Arc<Link>, ClientError> {
        if let Some(objection) = self.objection() {
            return Err(objection);
        }
        let mut state = self.state.lock().await;
        if let Some(link) = state.link.clone() {
            if link.is_alive() {
                self.follow_list(&mut state, &link).await?;
                return Ok(link);
            }
            self.bury(&mut state, &link).await;
        }
        self.wait_for_turn(&state).await?;
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
                    state.fail(&reason, is_misconduct);
                    let server = self.config.name.to_string();
                    return Err(ClientError::Start { server, reason });
                }
                state.link = Some(Arc::clone(&link));
                state.not_before = None;
                self.watch_list(&link);
                Ok(link)
            }
            // Nothing is wrong with it: it wants to know who we are.
            Err(error @ ClientError::LoginNeeded { .. }) => Err(error),
            Err(error) => {
                state.fail(&reason_of(&error), false);
                Err(error)
            }
        }
    }

    async fn open(&self) -> Result<Link, ClientError> {
        let config = &self.config;
        let root = config.roots.then(|| self.outside.surroundings.workspace.clone());
        let sampling = self.outside.model.as_ref().filter(|_| config.sampling.requests > 0);
        let sampling = sampling.map(|model| Sampling::new(Arc::clone(model), config.sampling));
        let person = Arc::clone(&self.outside.person);
        let conversation = Conversation::new(config.name.clone(), root, person, sampling);
        Link::open(config, conversation, &self.outside).await
    }

    /// After failures: whether it is time for a new start, or how long until then.
    async fn wait_for_turn(&self, state: &State) -> Result<(), ClientError> {
        let (server, times) = (self.config.name.to_string(), state.failures);
        let reason = state.last_failure.clone();
        if times >= MOST_FAILURES {
            return Err(ClientError::Isolated { server, times, reason });
        }
        let Some(not_before) = state.not_before else { return Ok(()) };
        let left = not_before.saturating_duration_since(Instant::now());
        if left > PATIENCE {
            let seconds = left.as_secs() + 1;
            return Err(ClientError::Waiting { server, times, seconds, reason });
        }
        tokio::time::sleep(left).await;
        Ok(())
    }

    /// A connection that is over. Says how it ended.
    async fn bury(&self, state: &mut State, link: &Arc<Link>) -> String {
        let is_misconduct = link.conduct.fault().is_some();
        let reason = link.end().await;
        // Another call may have found out first.
        if state.link.as_ref().is_some_and(|known| Arc::ptr_eq(known, link)) {
            state.fail(&reason, is_misconduct);
        }
        reason
    }

    /// Asks for the list again if the server said that it is another one.
    async fn follow_list(&self, state: &mut State, link: &Arc<Link>) -> Result<(), ClientError> {
        let announced = *link.conversation.tools_changed.borrow();
        if announced == state.followed {
            return Ok(());
        }
        self.compare(link).await?;
        state.followed = announced;
        Ok(())
    }

    /// Asks for the list and compares it with what was agreed to.
    async fn compare(&self, link: &Link) -> Result<Changes, ClientError> {
        let tools = link.tools(self.config.startup_timeout).await?;
        let (versions, problems) = pin::read_all(&tools);
        *self.problems.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = problems;
        let changes = self.catalogue.observe(&self.config, &versions).await?;
        if changes.any {
            self.offer_changed.send_modify(|times| *times += 1);
        }
        Ok(changes)
    }

    /// From now on, new lists are asked for when they are announced, and not only before a call.
    fn watch_list(&self, link: &Arc<Link>) {
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
                // Whatever is wrong with it is found again by the next call, which says so.
                let _ = server.follow_list(&mut state, &link).await;
                drop(state);
                drop((server, link));
                tokio::time::sleep(LIST_PAUSE).await;
            }
        });
    }

    /// Calls a tool as it was agreed to. What there is to remark about the server comes along.
    pub(crate) async fn call(
        &self,
        tool: &str,
        digest: &str,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> (Result<CallToolResult, ClientError>, Vec<String>) {
        // The slot first: whoever waited long for it must see the list as it is then.
        let ready = async {
            let slot = self.slots.acquire().await.map_err(|_| ClientError::Cancelled)?;
            Ok((slot, self.link().await?))
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
        (self.judge(&link, answer).await, remarks)
    }

    /// Calls a tool for a person, who typed it. The text of the answer.
    pub async fn ask(&self, tool: &str, arguments: JsonObject) -> Result<String, ClientError> {
        let digest = self.current_digest(tool);
        let never = CancellationToken::new();
        let (answer, _) = self.call(tool, &digest, arguments, &never).await;
        answer.map(|answer| super::result::text_of(&answer))
    }

    /// What an answer says about the server.
    async fn judge(
        &self,
        link: &Arc<Link>,
        answer: Result<CallToolResult, ClientError>,
    ) -> Result<CallToolResult, ClientError> {
        let server = self.config.name.to_string();
        match answer {
            Err(ClientError::Cancelled) => Err(ClientError::Cancelled),
            Err(_) if !link.is_alive() => {
                let mut state = self.state.lock().await;
                let reason = self.bury(&mut state, link).await;
                Err(ClientError::Gone { server, reason })
            }
            Err(error @ ClientError::TooSlow { .. }) => {
                let mut state = self.state.lock().await;
                // A new connection is not to blame for an old one.
                if !state.link.as_ref().is_some_and(|known| Arc::ptr_eq(known, link)) {
                    return Err(error);
                }
                state.silent += 1;
                if state.silent >= MOST_SILENT {
                    link.close().await;
                    state.fail(&format!("{MOST_SILENT} calls in a row got no answer"), false);
                }
                Err(error)
            }
            answer => {
                let mut state = self.state.lock().await;
                (state.failures, state.silent) = (0, 0);
                answer
            }
        }
    }

    /// Whether a tool may be called: it is still what was agreed to.
    fn check(&self, tool: &str, digest: &str) -> Result<(), ClientError> {
        let server = self.config.name.to_string();
        let known = self.catalogue.tool(&self.config, tool);
        let known = known.filter(|known| known.state() != ToolState::Gone);
        let Some(known) = known.filter(|_| self.config.wants(tool)) else {
            return Err(ClientError::UnknownTool { server, tool: tool.to_owned() });
        };
        let is_same = known.approved.as_ref().is_some_and(|approved| approved.digest == digest);
        if known.state() == ToolState::Approved && is_same {
            return Ok(());
        }
        let what = format!("the tool {}", lango_tool::visible(tool));
        Err(ClientError::Frozen { server, tool: tool.to_owned(), what })
    }

    /// What is on record about a tool now, for what a decision rests on.
    pub(crate) fn current_digest(&self, tool: &str) -> String {
        let known = self.catalogue.tool(&self.config, tool);
        known.and_then(|known| known.current).map_or_else(|| "missing".to_owned(), |c| c.digest)
    }

    /// Ends the connection, and the program behind it.
    pub async fn stop(&self) {
        let link = self.state.lock().await.link.take();
        if let Some(link) = link {
            link.close().await;
        }
    }
}

/// The reason of an error, without the words around it.
fn reason_of(error: &ClientError) -> String {
    match error {
        ClientError::Start { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}
