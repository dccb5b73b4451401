//! Sends requests to one remote agent and reads its responses.

use std::time::Duration;

use lango_egress::{Channel, HeaderMap, HeaderName, HeaderValue, SseDecoder, StreamedResponse};

use super::card::Interface;
use super::error::ExchangeError;
use super::limits::RemoteLimits;
use super::wire::{
    Binding, Operation, OutgoingMessage, Request, Task, Update, read_rpc, read_task, read_update,
    refusal_in,
};
use crate::wire::MEDIA_TYPE;

/// Limits how much of an error body is read.
const MAX_ERROR_BODY_BYTES: usize = 16 * 1024;

/// A remote agent at its address.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) channel: Channel,
    pub(crate) interface: Interface,
    /// The token that authenticates us. It is sent to this address only.
    pub(crate) token: Option<HeaderValue>,
    pub(crate) limits: RemoteLimits,
    /// The advice if the agent rejects our credentials.
    pub(crate) advice: String,
}

impl Peer {
    /// Sends a message and waits for the result.
    pub(crate) async fn send(
        &self,
        message: &OutgoingMessage,
        trace: &str,
    ) -> Result<Update, ExchangeError> {
        let (body, id) = self.fetch_whole(Operation::Send(message), trace).await?;
        read_update(self.interface.version, result(&body, id.as_deref())?)
    }

    /// Sends a message and opens a stream of its updates.
    pub(crate) async fn stream(
        &self,
        message: &OutgoingMessage,
        trace: &str,
    ) -> Result<UpdateStream, ExchangeError> {
        self.listen(Operation::Stream(message), trace).await
    }

    /// Opens a stream of a running task's updates.
    pub(crate) async fn subscribe(
        &self,
        task: &str,
        trace: &str,
    ) -> Result<UpdateStream, ExchangeError> {
        self.listen(Operation::Subscribe(task), trace).await
    }

    /// Requests the state of a task.
    pub(crate) async fn get(&self, task: &str, trace: &str) -> Result<Task, ExchangeError> {
        let (body, id) =
            self.with_silence_timeout(self.fetch_whole(Operation::Get(task), trace)).await?;
        read_task(result(&body, id.as_deref())?)
    }

    /// Requests the cancellation of a task.
    pub(crate) async fn cancel(&self, task: &str, trace: &str) -> Result<(), ExchangeError> {
        let (body, id) = self.fetch_whole(Operation::Cancel(task), trace).await?;
        result(&body, id.as_deref()).map(|_| ())
    }

    async fn with_silence_timeout<T>(
        &self,
        waiting: impl Future<Output = Result<T, ExchangeError>>,
    ) -> Result<T, ExchangeError> {
        let silence = self.limits.silence;
        tokio::time::timeout(silence, waiting).await.map_err(|_| ExchangeError::Silent(silence))?
    }

    async fn fetch_whole(
        &self,
        operation: Operation<'_>,
        trace: &str,
    ) -> Result<(Vec<u8>, Option<String>), ExchangeError> {
        let (answer, id) = self.open(operation, trace).await?;
        // A connection that breaks here had already delivered the request.
        let body = answer.collect(self.limits.body_bytes).await.map_err(as_disconnect)?;
        Ok((body, id))
    }

    async fn listen(
        &self,
        operation: Operation<'_>,
        trace: &str,
    ) -> Result<UpdateStream, ExchangeError> {
        let (answer, id) = self.with_silence_timeout(self.open(operation, trace)).await?;
        let kind = answer.headers.get("content-type").and_then(|value| value.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut updates = UpdateStream {
            events: SseDecoder::new(self.limits.event_bytes),
            whole: None,
            answer: None,
            id,
            bytes: 0,
        };
        if is_stream {
            updates.answer = Some(answer);
            return Ok(updates);
        }
        // An agent that does not stream after all sends everything at once.
        let collected = answer.collect(self.limits.body_bytes);
        let body =
            self.with_silence_timeout(async { collected.await.map_err(as_disconnect) }).await?;
        updates.whole = Some(body);
        Ok(updates)
    }

    /// Returns the next update; none when the stream ends.
    pub(crate) async fn next(
        &self,
        updates: &mut UpdateStream,
    ) -> Result<Option<Update>, ExchangeError> {
        if let Some(body) = updates.whole.take() {
            let payload = result(&body, updates.id.as_deref())?;
            return read_update(self.interface.version, payload).map(Some);
        }
        loop {
            while let Some(event) = updates.events.next_event().map_err(|_| {
                let limit = self.limits.event_bytes;
                ExchangeError::TooMuch(format!("an event of more than {limit} bytes"))
            })? {
                let Some(data) = event.data else { continue };
                let payload = result(data, updates.id.as_deref())?;
                return read_update(self.interface.version, payload).map(Some);
            }
            let Some(answer) = &mut updates.answer else { return Ok(None) };
            let piece = self
                .with_silence_timeout(async { answer.piece().await.map_err(as_disconnect) })
                .await?;
            let Some(piece) = piece else { return Ok(None) };
            updates.bytes += piece.len();
            let limit = self.limits.stream_bytes;
            if updates.bytes > limit {
                return Err(ExchangeError::TooMuch(format!("a stream of more than {limit} bytes")));
            }
            updates.events.push(&piece);
        }
    }

    /// Returns the response, and the id of its JSON-RPC request.
    async fn open(
        &self,
        operation: Operation<'_>,
        trace: &str,
    ) -> Result<(StreamedResponse, Option<String>), ExchangeError> {
        let Request { method, url, body, id } = operation.request(&self.interface)?;
        let answer = self.channel.open(method, &url, self.headers(operation, trace), body).await?;
        let status = answer.status;
        if status.is_success() {
            return Ok((answer, id));
        }
        let wait = Duration::from_secs(5).min(self.limits.silence);
        let body = tokio::time::timeout(wait, answer.collect(MAX_ERROR_BODY_BYTES)).await;
        // Without its body, the status says enough.
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        Err(match status.as_u16() {
            status @ (401 | 403 | 407) => {
                ExchangeError::Unauthorized { status, advice: self.advice.clone() }
            }
            status => refusal_in(status, &body),
        })
    }

    fn headers(&self, operation: Operation<'_>, trace: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut set = |name: &'static str, value: &str| {
            // All of these are valid: names, digits and media types of this program.
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        set("a2a-version", self.interface.version.as_str());
        set("traceparent", trace);
        set(
            "content-type",
            match self.interface.binding {
                Binding::JsonRpc => "application/json",
                Binding::HttpJson => MEDIA_TYPE,
            },
        );
        set(
            "accept",
            if operation.is_streaming() {
                "text/event-stream, application/json"
            } else {
                "application/a2a+json, application/json"
            },
        );
        if let Some(token) = &self.token {
            headers.insert(HeaderName::from_static("authorization"), token.clone());
        }
        headers
    }
}

/// A stream of updates.
#[derive(Debug)]
pub(crate) struct UpdateStream {
    answer: Option<StreamedResponse>,
    events: SseDecoder,
    /// The body of an answer that is no stream.
    whole: Option<Vec<u8>>,
    id: Option<String>,
    bytes: usize,
}

/// Returns the content of a response: over JSON-RPC, from the envelope with this id.
fn result<'a>(body: &'a [u8], id: Option<&str>) -> Result<&'a [u8], ExchangeError> {
    id.map_or(Ok(body), |id| read_rpc(body, id))
}

/// Converts an error after the request was delivered: the agent was reachable.
fn as_disconnect(error: lango_egress::FetchError) -> ExchangeError {
    match ExchangeError::from(error) {
        ExchangeError::Unreachable(reason) => ExchangeError::Broken(reason),
        other => other,
    }
}
