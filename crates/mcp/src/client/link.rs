//! Manages one connection to a server, from its start to its end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, JsonObject,
    ServerResult, Tool,
};
use rmcp::service::{Peer, PeerRequestOptions, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _};
use tokio_util::sync::CancellationToken;

use super::child::{ProcessEnvironment, ServerProcess};
use super::conduct::{MAX_MESSAGE_BYTES, MonitoredTransport, ServerConduct};
use super::config::{HttpConfig, ServerConfig, StdioConfig, TransportConfig};
use super::conversation::{Calls, Conversation};
use super::lines::LineTransport;
use super::oauth;
use super::pin::MAX_TOOL_COUNT;
use super::{ClientEnvironment, ClientError};

/// Limits a call that keeps reporting progress, as a multiple of its timeout.
const MAX_TIMEOUT_FACTOR: u32 = 10;
/// Is added to a timeout before it is enforced here, because the protocol client enforces it first.
const TIMEOUT_MARGIN: Duration = Duration::from_secs(2);
/// Limits the pages of a list that are requested.
const MAX_PAGE_COUNT: usize = 50;
/// Limits how long closing a connection may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Represents a connection. Dropping it ends the program behind it, with everything it started.
pub(crate) struct ServerConnection {
    server: String,
    peer: Peer<RoleClient>,
    pub(crate) conversation: Arc<Conversation>,
    pub(crate) conduct: Arc<ServerConduct>,
    /// Taken by the first call that finds out how it ended; several calls may do so.
    child: Mutex<Option<ServerProcess>>,
    /// The tasks of the connection, taken to close it.
    service: Mutex<Option<RunningService<RoleClient, Arc<Conversation>>>>,
}

impl ServerConnection {
    /// Starts or reaches a server and initializes the connection.
    pub(crate) async fn open(
        config: &ServerConfig,
        conversation: Conversation,
        environment: &ClientEnvironment,
    ) -> Result<Self, ClientError> {
        let opening = async {
            let conversation = Arc::new(conversation);
            match &config.transport {
                TransportConfig::Stdio(program) => {
                    Self::start(config, program, conversation, &environment.process_environment)
                        .await
                }
                TransportConfig::Http(address) => {
                    Self::reach(config, address, conversation, environment).await
                }
            }
        };
        let limit = config.startup_timeout;
        tokio::time::timeout(limit, opening).await.unwrap_or_else(|_| {
            let reason = format!(
                "it was not ready within {} s. A longer limit: lango config set \
                 mcp_servers.{}.startup_timeout_sec {}",
                limit.as_secs(),
                config.name,
                limit.as_secs() * 4
            );
            Err(ClientError::Start { server: config.name.to_string(), reason })
        })
    }

    async fn start(
        config: &ServerConfig,
        program: &StdioConfig,
        conversation: Arc<Conversation>,
        process_environment: &ProcessEnvironment,
    ) -> Result<Self, ClientError> {
        let failed =
            |reason: String| ClientError::Start { server: config.name.to_string(), reason };
        let (child, output, input) = ServerProcess::start(config, program, process_environment)
            .await
            .map_err(|error| failed(error.to_string()))?;
        let conduct = Arc::new(ServerConduct::default());
        let inner = LineTransport::new(output, input, Arc::clone(&conduct));
        let transport = MonitoredTransport::new(inner, &conduct);
        match Arc::clone(&conversation).serve(transport).await {
            Ok(service) => Ok(Self::new(config, service, conversation, conduct, Some(child))),
            Err(error) => {
                let ended = child.describe_end().await;
                let why = conduct.fault().map_or_else(|| error.to_string(), str::to_owned);
                Err(failed(format!("{}; {ended}", lango_text::make_visible_short(&why))))
            }
        }
    }

    async fn reach(
        config: &ServerConfig,
        address: &HttpConfig,
        conversation: Arc<Conversation>,
        environment: &ClientEnvironment,
    ) -> Result<Self, ClientError> {
        let failed =
            |reason: String| ClientError::Start { server: config.name.to_string(), reason };
        let mut headers = HashMap::new();
        for (name, value) in &address.headers {
            let name: HeaderName =
                name.parse().map_err(|_| failed(format!("{name:?} is not a header")))?;
            let mut value: HeaderValue =
                value.parse().map_err(|_| failed(format!("the value of {name} cannot be sent")))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let client = oauth::client(config, address, environment).await?;
        let mut settings = StreamableHttpClientTransportConfig::with_uri(address.url.as_str());
        settings.custom_headers = headers;
        settings.auth_header.clone_from(&address.bearer_token);
        settings.max_sse_event_size = MAX_MESSAGE_BYTES;
        let conduct = Arc::new(ServerConduct::default());
        let inner = StreamableHttpClientTransport::with_client(client, settings);
        let transport = MonitoredTransport::new(inner, &conduct);
        match Arc::clone(&conversation).serve(transport).await {
            Ok(service) => Ok(Self::new(config, service, conversation, conduct, None)),
            Err(error) if error.is_authorization_required() || error.auth_challenge().is_some() => {
                let challenge = error.auth_challenge().unwrap_or_default().to_owned();
                Err(ClientError::LoginNeeded { server: config.name.to_string(), challenge })
            }
            Err(error) => Err(failed(lango_text::make_visible(&causes(&error)))),
        }
    }

    fn new(
        config: &ServerConfig,
        service: RunningService<RoleClient, Arc<Conversation>>,
        conversation: Arc<Conversation>,
        conduct: Arc<ServerConduct>,
        child: Option<ServerProcess>,
    ) -> Self {
        Self {
            server: config.name.to_string(),
            peer: service.peer().clone(),
            conversation,
            conduct,
            child: Mutex::new(child),
            service: Mutex::new(Some(service)),
        }
    }

    /// Tells whether messages can still be sent.
    pub(crate) fn is_alive(&self) -> bool {
        self.conduct.fault().is_none() && !self.peer.is_transport_closed()
    }

    /// Returns the peer, for rare requests such as resources and prompts.
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// Returns the running calls.
    pub(crate) fn calls(&self) -> &Calls {
        &self.conversation.calls
    }

    /// Closes the connection and ends the program behind it.
    pub(crate) async fn close(&self) {
        let service = self.service.lock().take();
        if let Some(mut service) = service {
            // The connection is over even if closing failed.
            let _ = service.close_with_timeout(CLOSE_TIMEOUT).await;
        }
        let child = self.child.lock().take();
        if let Some(child) = child {
            child.end().await;
        }
    }

    /// Describes how the connection ended. Only the first call gets the output of the program.
    pub(crate) async fn end(&self) -> String {
        let child = self.child.lock().take();
        let ended = match child {
            Some(child) => child.describe_end().await,
            None => "the connection ended".to_owned(),
        };
        match self.conduct.fault() {
            Some(fault) => format!("{fault}, and was stopped"),
            None => ended,
        }
    }

    /// Returns all tools, within one time limit for all pages together.
    pub(crate) async fn tools(&self, limit: Duration) -> Result<Vec<Tool>, ClientError> {
        let pages = tokio::time::timeout(limit, self.pages()).await;
        pages.unwrap_or_else(|_| Err(self.slow(limit)))
    }

    async fn pages(&self) -> Result<Vec<Tool>, ClientError> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGE_COUNT {
            let page = rmcp::model::PaginatedRequestParams::default().with_cursor(cursor.take());
            let page = self.peer.list_tools(Some(page)).await;
            let page = page.map_err(|error| self.failed(&error))?;
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() || tools.len() > MAX_TOOL_COUNT {
                break;
            }
        }
        Ok(tools)
    }

    /// Calls a tool. When the turn is stopped, the server is notified.
    ///
    /// The protocol client enforces its limits while it waits for an answer. A stalled connection
    /// would block it before that, or when it notifies the server.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, ClientError> {
        let total_limit = limit * MAX_TIMEOUT_FACTOR + TIMEOUT_MARGIN;
        let stopped = async {
            cancel.cancelled().await;
            tokio::time::sleep(TIMEOUT_MARGIN).await;
        };
        tokio::select! {
            answer = tokio::time::timeout(total_limit, self.ask(tool, arguments, limit, cancel)) => {
                answer.unwrap_or_else(|_| Err(self.slow(total_limit)))
            }
            () = stopped => Err(ClientError::Cancelled),
        }
    }

    async fn ask(
        &self,
        tool: &str,
        arguments: JsonObject,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, ClientError> {
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let options = PeerRequestOptions::with_timeout(limit)
            .reset_timeout_on_progress()
            .with_max_total_timeout(limit * MAX_TIMEOUT_FACTOR);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(request));
        let handle = self.peer.send_cancellable_request(request, options).await;
        let handle = handle.map_err(|error| self.failed(&error))?;
        let (peer, id) = (handle.peer.clone(), handle.id.clone());
        let answer = tokio::select! {
            answer = handle.await_response() => answer,
            () = cancel.cancelled() => {
                let notice = rmcp::model::CancelledNotificationParam::new(
                    Some(id),
                    Some("the user stopped the turn".to_owned()),
                );
                // The result of the notification does not matter here.
                let notification = peer.notify_cancelled(notice);
                let _ = tokio::time::timeout(Duration::from_secs(1), notification).await;
                return Err(ClientError::Cancelled);
            }
        };
        match answer {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(_) => Err(self.answered("something that is no result of a call")),
            Err(ServiceError::Timeout { timeout }) => Err(self.slow(timeout)),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn slow(&self, limit: Duration) -> ClientError {
        ClientError::TooSlow { server: self.server.clone(), seconds: limit.as_secs() }
    }

    fn answered(&self, reason: &str) -> ClientError {
        ClientError::Answered {
            server: self.server.clone(),
            reason: lango_text::make_visible_short(reason),
        }
    }

    /// Converts an error of the protocol. The state of the connection is checked separately.
    pub(crate) fn failed(&self, error: &ServiceError) -> ClientError {
        match error {
            ServiceError::McpError(error) => self.answered(&error.message),
            ServiceError::TransportSend(_) if !self.is_alive() => ClientError::Gone {
                server: self.server.clone(),
                reason: "the connection ended".to_owned(),
            },
            ServiceError::TransportSend(error) if challenge_in(error).is_some() => {
                let challenge = challenge_in(error).unwrap_or_default();
                ClientError::LoginNeeded { server: self.server.clone(), challenge }
            }
            ServiceError::TransportClosed => ClientError::Gone {
                server: self.server.clone(),
                reason: "the connection ended".to_owned(),
            },
            other => self.answered(&causes(other)),
        }
    }
}

/// Returns the challenge of a server that requires a login, if that is the error.
fn challenge_in(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    use rmcp::transport::auth::AuthError;
    use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};
    let mut current = Some(error);
    while let Some(error) = current {
        if let Some(wanted) = error.downcast_ref::<AuthRequiredError>() {
            return Some(wanted.www_authenticate_header.clone());
        }
        if let Some(wanted) = error.downcast_ref::<InsufficientScopeError>() {
            return Some(wanted.www_authenticate_header.clone());
        }
        if let Some(AuthError::AuthorizationRequired) = error.downcast_ref::<AuthError>() {
            return Some(String::new());
        }
        current = error.source();
    }
    None
}

/// Returns an error with its causes, truncated.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(&format!(": {more}"));
        }
        cause = error.source();
    }
    text.chars().take(600).collect()
}
