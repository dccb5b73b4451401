//! The loopback server.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use super::conversation::Conversation;
use super::render::{End, render};
use super::script::{Fault, Reply, Script};

type Body = BoxBody<Bytes, io::Error>;

/// A running scripted model. Stops when dropped.
pub struct ScriptedServer {
    address: SocketAddr,
    state: Arc<State>,
    _task: AbortOnDropHandle<()>,
}

/// A request as it arrived, for tests.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The body.
    pub body: String,
    /// The agent that asked, if its instruction says so.
    pub agent: Option<String>,
}

struct State {
    script: Script,
    /// Shared by the connections' tasks; held for a few instructions at a time.
    progress: Mutex<Progress>,
    keeps_requests: bool,
}

#[derive(Default)]
struct Progress {
    uses: Vec<u32>,
    requests: Vec<ReceivedRequest>,
    count: u64,
}

impl ScriptedServer {
    /// Starts on a free port of 127.0.0.1 and remembers every request.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::start_with(script, true).await
    }

    /// Starts without remembering requests, for long runs.
    pub async fn start_forgetful(script: Script) -> io::Result<Self> {
        Self::start_with(script, false).await
    }

    async fn start_with(script: Script, keeps_requests: bool) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let progress = Progress { uses: vec![0; script.replies.len()], ..Progress::default() };
        let state = Arc::new(State { script, progress: Mutex::new(progress), keeps_requests });
        let task = tokio::spawn(accept(listener, Arc::clone(&state)));
        Ok(Self { address, state, _task: AbortOnDropHandle::new(task) })
    }

    /// What to configure as the provider's base URL.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.state.progress().requests.clone()
    }

    /// How many requests came so far.
    pub fn count(&self) -> u64 {
        self.state.progress().count
    }
}

impl State {
    fn progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The first reply whose conditions hold and that is not used up.
    fn choose(&self, body: &[u8], conversation: &Conversation<'_>) -> Option<&Reply> {
        let mut progress = self.progress();
        progress.count += 1;
        if self.keeps_requests {
            let agent = conversation.agent().map(str::to_owned);
            let body = String::from_utf8_lossy(body).into_owned();
            progress.requests.push(ReceivedRequest { body, agent });
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

async fn accept(listener: TcpListener, state: Arc<State>) {
    // Connections are children of this task: they end with it.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        let _ = socket.set_nodelay(true);
        let state = Arc::clone(&state);
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let state = Arc::clone(&state);
                async move { Ok::<_, Infallible>(answer(&state, request).await) }
            });
            // A client that goes away, or a fault that was asked for, ends the connection.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(socket), service)
                .await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(state: &State, request: Request<Incoming>) -> Response<Body> {
    const LIMIT: usize = 64 * 1024 * 1024;
    if request.method() == Method::GET {
        return json(StatusCode::OK, r#"{"object":"list","data":[{"id":"scripted"}]}"#.into());
    }
    let body = match Limited::new(request.into_body(), LIMIT).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let conversation = match Conversation::parse(&body) {
        Ok(conversation) => conversation,
        Err(reason) => return refuse(StatusCode::BAD_REQUEST, &reason),
    };
    let Some(reply) = state.choose(&body, &conversation) else {
        let reason = format!(
            "no reply in the script fits: agent {:?}, user {:?}, {} results",
            conversation.agent(),
            conversation.newest_user(),
            conversation.results().len()
        );
        return refuse(StatusCode::UNPROCESSABLE_ENTITY, &reason);
    };
    if reply.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(reply.delay_ms)).await;
    }
    if reply.fault == Some(Fault::Status) {
        let status = reply.status.and_then(|code| StatusCode::from_u16(code).ok());
        return refuse(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), "the script says so");
    }
    let rendered = render(reply, &conversation, body.len());
    let pieces = stream::iter(rendered.pieces.into_iter().map(|piece| Ok(Frame::data(piece))));
    let body = match rendered.end {
        End::Whole => BodyExt::boxed(StreamBody::new(pieces)),
        End::Broken => BodyExt::boxed(StreamBody::new(pieces.chain(stream::once(async {
            // Lets what was sent so far arrive before the connection breaks.
            tokio::time::sleep(Duration::from_millis(20)).await;
            Err(io::Error::other("cut by the script"))
        })))),
        End::Stalled => BodyExt::boxed(StreamBody::new(pieces.chain(stream::pending()))),
    };
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("text/event-stream"));
    response
}

fn refuse(status: StatusCode, message: &str) -> Response<Body> {
    #[derive(serde::Serialize)]
    struct Wrapper<'a> {
        error: Inner<'a>,
    }
    #[derive(serde::Serialize)]
    struct Inner<'a> {
        message: &'a str,
    }
    let body = serde_json::to_string(&Wrapper { error: Inner { message } });
    json(status, body.unwrap_or_default())
}

fn json(status: StatusCode, body: String) -> Response<Body> {
    let body = Full::new(Bytes::from(body)).map_err(|never| match never {});
    let mut response = Response::new(BodyExt::boxed(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    response
}
