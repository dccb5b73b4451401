//! Reaches a server over HTTP, always through the egress guard.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use lango_egress::{
    BodyError, Destination, EgressError, Guard, HttpClientBuilder, Pattern, Rules, SseDecoder,
    SseEvent, describe_causes, read_body,
};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Method, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use tokio::sync::watch;
use url::Url;

use super::conduct::MAX_MESSAGE_BYTES;

const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// Limits the redirects within one origin that are followed.
const MAX_REDIRECT_COUNT: usize = 3;

/// Limits how long the first request of a session waits for the stream of events. A server may begin it
/// with its first event.
const STREAM_TIMEOUT: Duration = Duration::from_secs(2);

/// The reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    #[error(transparent)]
    Refused(#[from] EgressError),
    #[error("{0}")]
    Broken(String),
    #[error(
        "it redirects to {0}, which is another origin; if that is right, configure it as the url"
    )]
    ForeignRedirect(String),
    #[error("its answer is longer than {} MiB", MAX_MESSAGE_BYTES >> 20)]
    TooLong,
}

/// Returns the guard for one server. It allows public addresses and, if the user configured a
/// private address, that one at any port, because its authorization server may be on the same host.
/// A name that resolves to a private address is not enough, because it may later resolve to another
/// one.
pub(crate) fn guard_for(url: &Url, rules: &Rules) -> Result<Guard, EgressError> {
    let (_, destination) = Destination::of_url(url.as_str())?;
    let host = match (destination.name(), destination.address()) {
        (_, Some(address)) if address.is_ipv6() => Some(format!("[{address}]")),
        (_, Some(address)) => Some(address.to_string()),
        (Some(name), None) if name == "localhost" || name.ends_with(".localhost") => {
            Some(name.to_owned())
        }
        _ => None,
    };
    let mut rules = rules.clone();
    // A host that is no pattern is not allowed beyond the rules.
    rules.allow_private.extend(host.and_then(|host| host.parse::<Pattern>().ok()));
    Ok(Guard::new(rules))
}

/// Sends requests to one server. Connections go only to checked addresses.
#[derive(Clone)]
pub(crate) struct GuardedHttp {
    client: reqwest::Client,
    guard: Guard,
    /// True once the server has answered the request for its stream of events, or took too long.
    stream_answered: Arc<watch::Sender<bool>>,
}

impl GuardedHttp {
    pub(crate) fn new(guard: Guard) -> Result<Self, HttpError> {
        let client = HttpClientBuilder::guarded(guard.clone())
            .build()
            .map_err(|error| HttpError::Broken(error.to_string()))?;
        Ok(Self { client, guard, stream_answered: Arc::new(watch::Sender::new(false)) })
    }

    /// Waits until the stream of events is there, or refused: what a server asks during a call comes
    /// over it, and is lost before.
    async fn wait_for_stream(&self) {
        let mut answered = self.stream_answered.subscribe();
        // The sender lives as long as this.
        let _ = tokio::time::timeout(STREAM_TIMEOUT, answered.wait_for(|known| *known)).await;
        // A server that takes longer is not waited for again.
        self.stream_answered.send_replace(true);
    }

    /// Sends a request and follows redirects within its origin that keep method and body.
    pub(crate) async fn send(
        &self,
        method: Method,
        address: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: Option<Vec<u8>>,
    ) -> Result<Response, HttpError> {
        let mut url = Url::parse(address).map_err(|error| HttpError::Broken(error.to_string()))?;
        for _ in 0..=MAX_REDIRECT_COUNT {
            let response =
                self.send_once(method.clone(), url.as_str(), headers, body.clone()).await?;
            let keeps_all = matches!(
                response.status(),
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
            ) || (response.status().is_redirection() && method == Method::GET);
            let Some(location) = response.headers().get(LOCATION).filter(|_| keeps_all) else {
                return Ok(response);
            };
            let next = location.to_str().ok().and_then(|text| url.join(text).ok());
            match next {
                Some(next) if next.origin() == url.origin() => url = next,
                Some(next) => {
                    return Err(HttpError::ForeignRedirect(super::config::redact_url(&next)));
                }
                None => return Ok(response),
            }
        }
        Err(HttpError::Broken(format!("more than {MAX_REDIRECT_COUNT} redirects")))
    }

    /// Sends a request to an allowed address, without following redirects.
    pub(crate) async fn send_once(
        &self,
        method: Method,
        address: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: Option<Vec<u8>>,
    ) -> Result<Response, HttpError> {
        let (url, destination) = Destination::of_url(address).map_err(EgressError::from)?;
        self.guard.resolve(&destination).await?;
        let mut request = self.client.request(method, url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        request.send().await.map_err(|error| HttpError::Broken(describe_error(error)))
    }

    /// Reads the whole body, up to the limit.
    pub(crate) async fn body(response: Response) -> Result<Vec<u8>, HttpError> {
        read_body(response, MAX_MESSAGE_BYTES).await.map_err(|error| match error {
            BodyError::TooLong { .. } => HttpError::TooLong,
            BodyError::Broken(error) => HttpError::Broken(describe_error(error)),
        })
    }
}

type HttpFailure = StreamableHttpError<HttpError>;

impl From<HttpError> for HttpFailure {
    fn from(error: HttpError) -> Self {
        Self::Client(error)
    }
}

impl StreamableHttpClient for GuardedHttp {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpFailure> {
        let has_session = session.is_some();
        let wants_answer = matches!(message, JsonRpcMessage::Request(_));
        if has_session && wants_answer {
            self.wait_for_stream().await;
        }
        let mut headers = headers(session.as_deref(), token.as_deref(), custom)?;
        headers.push((CONTENT_TYPE, HeaderValue::from_static(JSON)));
        let body = serde_json::to_vec(&message)?;
        let response = self.send(Method::POST, &uri, &headers, Some(body)).await?;
        let status = response.status();
        challenge(&response)?;
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let kind = content_type(&response);
        // A session id that is no text cannot be sent back.
        let session = response.headers().get(SESSION).and_then(|v| v.to_str().ok());
        let session = session.map(str::to_owned);
        if status.is_success() && kind.starts_with(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response), session));
        }
        let body = Self::body(response).await?;
        let answer: Option<ServerJsonRpcMessage> =
            if kind.starts_with(JSON) { serde_json::from_slice(&body).ok() } else { None };
        match answer {
            // An error body explains more than the status code.
            Some(answer) if status.is_success() || matches!(answer, JsonRpcMessage::Error(_)) => {
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            _ if status.is_success() && !wants_answer => Ok(StreamableHttpPostResponse::Accepted),
            _ if status.is_success() => {
                let why = format!("an answer of the kind {kind:?} that is no message");
                Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(why)))
            }
            _ => Err(HttpStatusError::new(status.as_u16(), None).into()),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpFailure> {
        let headers = headers(Some(&session), token.as_deref(), custom)?;
        // Servers need not support this; they expire remaining sessions themselves.
        self.send(Method::DELETE, &uri, &headers, None).await?;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpFailure> {
        let mut headers = headers(session.as_deref(), token.as_deref(), custom)?;
        // Without it, the server sends what it sends to a new connection.
        if let Some(last) = last_event.and_then(|last| HeaderValue::from_str(&last).ok()) {
            headers.push((HeaderName::from_static(LAST_EVENT), last));
        }
        let answered = self.send(Method::GET, &uri, &headers, None).await;
        self.stream_answered.send_replace(true);
        let response = answered?;
        challenge(&response)?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            StatusCode::NOT_FOUND if session.is_some() => Err(StreamableHttpError::SessionExpired),
            status if !status.is_success() => {
                Err(HttpStatusError::new(status.as_u16(), None).into())
            }
            _ if content_type(&response).starts_with(EVENTS) => Ok(events(response)),
            _ => Err(StreamableHttpError::UnexpectedContentType(Some(content_type(&response)))),
        }
    }
}

fn headers(
    session: Option<&str>,
    token: Option<&str>,
    custom: HashMap<HeaderName, HeaderValue>,
) -> Result<Vec<(HeaderName, HeaderValue)>, HttpFailure> {
    let mut headers: Vec<(HeaderName, HeaderValue)> = custom.into_iter().collect();
    headers.push((ACCEPT, HeaderValue::from_static("application/json, text/event-stream")));
    let value = |text: &str| {
        HeaderValue::from_str(text).map_err(|error| HttpError::Broken(error.to_string()))
    };
    if let Some(session) = session {
        headers.push((HeaderName::from_static(SESSION), value(session)?));
    }
    if let Some(token) = token {
        let mut value = value(&format!("Bearer {token}"))?;
        value.set_sensitive(true);
        headers.push((reqwest::header::AUTHORIZATION, value));
    }
    Ok(headers)
}

/// Returns an error if the server requires a login or more scopes.
fn challenge(response: &Response) -> Result<(), HttpFailure> {
    // A challenge that is no text says no more than the status.
    let header = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    let header = header.unwrap_or_default().to_owned();
    match response.status() {
        StatusCode::UNAUTHORIZED => {
            Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(header)))
        }
        StatusCode::FORBIDDEN if !header.is_empty() => {
            let scope = scope_in(&header);
            let error = InsufficientScopeError::new(header, scope);
            Err(StreamableHttpError::InsufficientScope(error))
        }
        _ => Ok(()),
    }
}

/// Returns the value of `scope` in a challenge.
pub(crate) fn scope_in(header: &str) -> Option<String> {
    let at = header.to_ascii_lowercase().find("scope=")?;
    let value = &header[at + "scope=".len()..];
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => value.split([',', ' ']).next(),
    };
    value.filter(|value| !value.is_empty()).map(str::to_owned)
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    String::from_utf8_lossy(value.unwrap_or_default()).to_ascii_lowercase()
}

/// Returns the events of an answer. An event that is too long ends the stream.
fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let decoder = SseDecoder::new(MAX_MESSAGE_BYTES);
    stream::try_unfold((response, decoder), |(mut response, mut decoder)| async move {
        loop {
            if let Some(event) = decoder.next_event().map_err(|_| broken(HttpError::TooLong))? {
                let event = owned(event)?;
                return Ok(Some((event, (response, decoder))));
            }
            let piece = response.chunk().await;
            match piece.map_err(|error| broken(HttpError::Broken(describe_error(error))))? {
                Some(piece) => decoder.push(&piece),
                None => return Ok(None),
            }
        }
    })
    .boxed()
}

fn broken(error: HttpError) -> SseError {
    SseError::Body(Box::new(error))
}

/// Converts an event to the type of the protocol client.
fn owned(event: SseEvent<'_>) -> Result<Sse, SseError> {
    let text = |bytes: Option<&[u8]>| {
        let text = bytes.map(std::str::from_utf8).transpose();
        text.map(|text| text.map(str::to_owned)).map_err(SseError::Utf8Parse)
    };
    Ok(Sse {
        event: text(event.name)?,
        data: text(event.data)?,
        id: text(event.id)?,
        retry: event.retry,
    })
}

/// Returns an error with its causes, which contain the reason. The URL is left out, because its
/// query may contain a key.
fn describe_error(error: reqwest::Error) -> String {
    describe_causes(&error.without_url())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &'static str) -> Response {
        Response::from(http::Response::new(body))
    }

    #[tokio::test]
    async fn events_have_their_ids_and_those_without_data_are_kept() {
        let body = "id: 1\ndata:\n\n: ping\n\nretry: 50\n\nevent: message\ndata: {\ndata: }\n\n";
        let read: Vec<Sse> = events(answer(body)).map(Result::unwrap).collect().await;
        let expected = [
            Sse::default().id("1").data(""),
            Sse::default().retry(50),
            Sse::default().event("message").data("{\n}"),
        ];
        assert_eq!(read, expected);
    }

    #[tokio::test]
    async fn an_event_that_is_too_long_ends_the_stream() {
        let line = [b"data: ", vec![b'x'; MAX_MESSAGE_BYTES].as_slice(), b"\n\n"].concat();
        let response = Response::from(http::Response::new(line));
        let read: Vec<_> = events(response).collect().await;
        let [Err(error)] = read.as_slice() else { panic!("{} events", read.len()) };
        assert!(error.to_string().contains("MiB"), "{error}");
    }

    #[tokio::test]
    async fn an_event_that_is_no_text_is_an_error() {
        let response = Response::from(http::Response::new(&b"data: \xff\n\n"[..]));
        let read: Vec<_> = events(response).collect().await;
        assert!(matches!(read.as_slice(), [Err(SseError::Utf8Parse(_))]), "{read:?}");
    }

    #[test]
    fn an_error_does_not_tell_the_query_of_an_address() {
        use reqwest::ResponseBuilderExt as _;
        let address = Url::parse("https://example.org/mcp?key=hunter2").unwrap();
        let answer = http::Response::builder().status(500).url(address).body("").unwrap();
        let error = Response::from(answer).error_for_status().unwrap_err();
        assert!(error.to_string().contains("hunter2"));
        let described = describe_error(error);
        assert!(!described.contains("hunter2") && described.contains("500"), "{described}");
    }
}
