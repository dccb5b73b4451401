//! Runs the loopback server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use lango_model::Wire;
use parking_lot::{Mutex, MutexGuard};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use super::answer::answer;
use super::conversation::Conversation;
use super::delivery::Body;
use super::fixture::profile;
use super::script::{Reply, Script};
use super::signature::Signatures;

/// Represents a running scripted model. It stops when dropped.
pub struct ScriptedServer {
    address: SocketAddr,
    state: Arc<State>,
    _task: AbortOnDropHandle<()>,
}

/// Represents a request as it arrived, for tests.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The protocol it was made in.
    pub wire: Wire,
    /// The path, with what comes after a `?`.
    pub path: String,
    /// Names and values, keys included.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
    /// The agent that asked, if its instruction says so.
    pub agent: Option<String>,
}

impl ReceivedRequest {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }
}

/// Holds what the connections share.
pub(super) struct State {
    pub(super) script: Script,
    pub(super) signatures: Signatures,
    /// Shared by the connections' tasks; held for a few instructions at a time.
    progress: Mutex<Progress>,
    keeps_requests: bool,
}

#[derive(Default)]
struct Progress {
    uses: Vec<u32>,
    requests: Vec<ReceivedRequest>,
    complaints: Vec<String>,
    count: u64,
}

impl ScriptedServer {
    /// Starts on a free port of 127.0.0.1 and remembers every request.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::start_with(script, 0, true).await
    }

    /// Starts on this port of 127.0.0.1 and remembers every request.
    pub async fn start_at(script: Script, port: u16) -> io::Result<Self> {
        Self::start_with(script, port, true).await
    }

    /// Starts without remembering requests, for long runs.
    pub async fn start_without_history(script: Script) -> io::Result<Self> {
        Self::start_with(script, 0, false).await
    }

    async fn start_with(script: Script, port: u16, keeps_requests: bool) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let progress = Progress { uses: vec![0; script.replies.len()], ..Progress::default() };
        let state = Arc::new(State {
            script,
            signatures: Signatures::default(),
            progress: Mutex::new(progress),
            keeps_requests,
        });
        let listening = Arc::clone(&state);
        let task = tokio::spawn(accept(listener, move |request| {
            let state = Arc::clone(&listening);
            async move { answer(&state, request).await }
        }));
        Ok(Self { address, state, _task: AbortOnDropHandle::new(task) })
    }

    /// Returns the base URL to configure for a provider of OpenAI's API.
    pub fn base_url(&self) -> String {
        self.base_url_for(Wire::OpenAi)
    }

    /// Returns the base URL to configure for a provider of this API.
    pub fn base_url_for(&self, wire: Wire) -> String {
        format!("http://{}{}", self.address, profile(wire).base_path)
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.state.progress().requests.clone()
    }

    /// Returns the reasons of refusals that the script did not ask for: histories that no provider
    /// would accept, and requests that no reply fits.
    pub fn complaints(&self) -> Vec<String> {
        self.state.progress().complaints.clone()
    }

    /// Returns the number of requests so far.
    pub fn count(&self) -> u64 {
        self.state.progress().count
    }
}

impl State {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock()
    }

    /// Notes a request that should not have been made.
    pub(super) fn complain(&self, reason: &str) {
        if self.keeps_requests {
            self.progress().complaints.push(reason.to_owned());
        }
    }

    /// Returns the first reply whose conditions hold and that is not used up.
    pub(super) fn choose(
        &self,
        parts: &Parts,
        body: &Bytes,
        conversation: &Conversation<'_>,
    ) -> Option<&Reply> {
        let mut progress = self.progress();
        progress.count += 1;
        if self.keeps_requests {
            progress.requests.push(received(parts, body, conversation));
        }
        let fits = |(index, reply): &(usize, &Reply)| {
            reply.times.is_none_or(|times| progress.uses[*index] < times)
                && reply.matches(conversation)
        };
        let (index, reply) = self.script.replies.iter().enumerate().find(fits)?;
        progress.uses[index] += 1;
        Some(reply)
    }
}

fn received(parts: &Parts, body: &[u8], conversation: &Conversation<'_>) -> ReceivedRequest {
    let path = parts.uri.path_and_query().map_or("", |path| path.as_str());
    let headers = parts.headers.iter().map(|(name, value)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    ReceivedRequest {
        wire: conversation.wire,
        path: path.to_owned(),
        headers: headers.collect(),
        body: String::from_utf8_lossy(body).into_owned(),
        agent: conversation.agent().map(str::to_owned),
    }
}

/// Answers every request of every connection.
pub(super) async fn accept<F, R>(listener: TcpListener, answer: F)
where
    F: Fn(Request<Incoming>) -> R + Clone + Send + 'static,
    R: Future<Output = io::Result<Response<Body>>> + Send + 'static,
{
    // Connections are children of this task: they end with it.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        let _ = socket.set_nodelay(true);
        let service = service_fn(answer.clone());
        connections.spawn(async move {
            // A client that goes away, or a fault that was asked for, ends the connection.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(socket), service)
                .await;
        });
        while connections.try_join_next().is_some() {}
    }
}
