//! Answers the requests of a server during a call.

// Sampling and roots are deprecated in the protocol, but servers still use them.
#![expect(deprecated, reason = "the protocol's own deprecation; peers of today speak it")]

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode,
    FormElicitationCapability, Implementation, ListRootsResult, ProtocolVersion, Root,
    RootsCapabilities, SamplingCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio::sync::{Semaphore, watch};

use super::ServerName;
use super::person::{Form, Person};
use super::sampling::Sampling;

/// Limits the simultaneous questions of one server.
const MAX_OPEN_QUESTION_COUNT: usize = 4;
/// Limits the remarks about one call.
const MAX_REMARK_COUNT: usize = 20;

/// The client side of a connection.
pub(crate) struct Conversation {
    pub(crate) server: ServerName,
    /// The directory that the server may know.
    pub(crate) root: Option<PathBuf>,
    pub(crate) person: Arc<dyn Person>,
    pub(crate) sampling: Option<Sampling>,
    pub(crate) calls: Arc<Calls>,
    /// Counts the announcements of a changed tool list.
    pub(crate) tools_changed: watch::Sender<u64>,
    pub(crate) questions: Semaphore,
}

/// Holds the running calls, each with remarks about the server.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// The lock is held to add a line; questions arrive in parallel with calls.
    open: Mutex<Vec<(u64, Vec<String>)>>,
}

impl Calls {
    /// Registers a call.
    pub(crate) fn open(&self) -> OpenCall<'_> {
        let mut open = self.open.lock();
        let number = open.last().map_or(0, |(last, _)| last + 1);
        open.push((number, Vec::new()));
        OpenCall { calls: self, number }
    }

    /// Adds a remark to all running calls, because the call that it belongs to is not always known.
    /// Returns false if no call is running.
    pub(crate) fn remark(&self, text: &str) -> bool {
        let mut open = self.open.lock();
        for (_, remarks) in open.iter_mut().filter(|(_, remarks)| remarks.len() < MAX_REMARK_COUNT)
        {
            remarks.push(text.to_owned());
        }
        !open.is_empty()
    }

    fn end(&self, number: u64) -> Vec<String> {
        let mut open = self.open.lock();
        let position = open.iter().position(|(known, _)| *known == number);
        position.map(|position| open.remove(position).1).unwrap_or_default()
    }
}

/// Represents a running call, until this is dropped.
pub(crate) struct OpenCall<'a> {
    calls: &'a Calls,
    number: u64,
}

impl OpenCall<'_> {
    /// Tells whether no other call is running.
    pub(crate) fn is_only(&self) -> bool {
        self.calls.open.lock().len() == 1
    }

    /// Ends the call and returns its remarks.
    pub(crate) fn close(self) -> Vec<String> {
        self.calls.end(self.number)
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.calls.end(self.number);
    }
}

impl Conversation {
    pub(crate) fn new(
        server: ServerName,
        root: Option<PathBuf>,
        person: Arc<dyn Person>,
        sampling: Option<Sampling>,
    ) -> Self {
        Self {
            server,
            root,
            person,
            sampling,
            calls: Arc::default(),
            tools_changed: watch::Sender::new(0),
            questions: Semaphore::new(MAX_OPEN_QUESTION_COUNT),
        }
    }

    async fn elicit(&self, request: ElicitRequestParams) -> Result<ElicitResult, String> {
        let (message, schema) = match request {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                (message, serde_json::to_value(&requested_schema).map_err(|e| e.to_string())?)
            }
            ElicitRequestParams::UrlElicitationParams { .. } => {
                return Err("it wanted an address to be opened".to_owned());
            }
            _ => return Err("it asked in a way that is not known here".to_owned()),
        };
        let form = Form::read(&self.server, &message, &schema)?;
        let Some(filled) = self.person.fill(form.clone()).await else {
            return Err("no answer was given".to_owned());
        };
        let values = form.values(&filled)?;
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(values))
    }
}

fn busy_error() -> ErrorData {
    ErrorData::new(ErrorCode::INVALID_REQUEST, "too many questions at once", None)
}

fn refused_error(why: &str) -> ErrorData {
    ErrorData::new(ErrorCode::INVALID_REQUEST, why.to_owned(), None)
}

impl ClientHandler for Conversation {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let form = FormElicitationCapability::new();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        capabilities.roots = self.root.as_ref().map(|_| RootsCapabilities::default());
        capabilities.sampling = self.sampling.as_ref().map(|_| SamplingCapability::default());
        let own = Implementation::new("lango", env!("CARGO_PKG_VERSION"));
        // The newest version that starts with an initialize request, which current servers support.
        ClientConfig::new(capabilities, own).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        // A path that is not absolute has no URL, and is no root.
        let address = |root: &PathBuf| url::Url::from_directory_path(root).ok();
        let root = self.root.as_ref().and_then(address);
        Ok(ListRootsResult::new(root.map(|url| Root::new(url.to_string())).into_iter().collect()))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let _turn = self.questions.try_acquire().map_err(|_| busy_error())?;
        if !self.calls.remark("the server asked the user a question") {
            return Err(refused_error("there is no call that this could be for"));
        }
        Ok(self.elicit(request).await.unwrap_or_else(|why| {
            self.calls.remark(&format!("the question was declined: {why}"));
            ElicitResult::new(ElicitationAction::Decline)
        }))
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let _turn = self.questions.try_acquire().map_err(|_| busy_error())?;
        if !self.calls.remark("the server asked for the model") {
            return Err(refused_error("there is no call that this could be for"));
        }
        let answer = match &self.sampling {
            Some(sampling) => sampling.answer(&self.server, &*self.person, request).await,
            None => {
                Err("no model is lent to it: sampling_requests is 0, or the model here cannot \
                         write"
                    .to_owned())
            }
        };
        answer.map_err(|why| {
            self.calls.remark(&format!("the model was not asked: {why}"));
            refused_error(&why)
        })
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.send_modify(|times| *times += 1);
    }
}
