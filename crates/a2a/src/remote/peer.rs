//! The line to one agent elsewhere: requests out, what it said in.

use std::time::Duration;

use lango_egress::{Answer, Channel, HeaderMap, HeaderName, HeaderValue};

use super::card::Interface;
use super::error::Trouble;
use super::limits::RemoteLimits;
use super::wire::{
    Binding, Events, Operation, Outgoing, Request, Task, Update, read_rpc, read_task, read_update,
    refusal_in,
};
use crate::wire::MEDIA_TYPE;

/// An error's body is read up to here.
const MOST_OF_AN_ERROR: usize = 16 * 1024;

/// An agent at its place.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) channel: Channel,
    pub(crate) interface: Interface,
    /// What proves who we are. Goes to this place and nowhere else.
    pub(crate) token: Option<HeaderValue>,
    pub(crate) limits: RemoteLimits,
    /// What to do where it does not know us.
    pub(crate) advice: String,
}

impl Peer {
    /// Sends a message and waits for what comes of it.
    pub(crate) async fn send(&self, message: &Outgoing, trace: &str) -> Result<Update, Trouble> {
        let (body, id) = self.whole(Operation::Send(message), trace).await?;
        read_update(self.interface.version, result(&body, id.as_deref())?)
    }

    /// Sends a message and listens.
    pub(crate) async fn stream(&self, message: &Outgoing, trace: &str) -> Result<Heard, Trouble> {
        self.listen(Operation::Stream(message), trace).await
    }

    /// Listens to a task that is under way.
    pub(crate) async fn subscribe(&self, task: &str, trace: &str) -> Result<Heard, Trouble> {
        self.listen(Operation::Subscribe(task), trace).await
    }

    /// Asks where a task stands.
    pub(crate) async fn get(&self, task: &str, trace: &str) -> Result<Task, Trouble> {
        let (body, id) = self.within_silence(self.whole(Operation::Get(task), trace)).await?;
        read_task(result(&body, id.as_deref())?)
    }

    /// Tells it to stop.
    pub(crate) async fn cancel(&self, task: &str, trace: &str) -> Result<(), Trouble> {
        let (body, id) = self.whole(Operation::Cancel(task), trace).await?;
        result(&body, id.as_deref()).map(|_| ())
    }

    async fn within_silence<T>(
        &self,
        waiting: impl Future<Output = Result<T, Trouble>>,
    ) -> Result<T, Trouble> {
        let silence = self.limits.silence;
        tokio::time::timeout(silence, waiting).await.map_err(|_| Trouble::Silent(silence))?
    }

    async fn whole(
        &self,
        operation: Operation<'_>,
        trace: &str,
    ) -> Result<(Vec<u8>, Option<String>), Trouble> {
        let (answer, id) = self.open(operation, trace).await?;
        // Whoever breaks off here has got the request.
        let body = answer.collect(self.limits.body_bytes).await.map_err(after_the_beginning)?;
        Ok((body, id))
    }

    async fn listen(&self, operation: Operation<'_>, trace: &str) -> Result<Heard, Trouble> {
        let (answer, id) = self.within_silence(self.open(operation, trace)).await?;
        let kind = answer.headers.get("content-type").and_then(|value| value.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut heard = Heard {
            events: Events::new(self.limits.event_bytes),
            waiting: Vec::new().into_iter(),
            answer: None,
            id,
            bytes: 0,
        };
        if is_stream {
            heard.answer = Some(answer);
            return Ok(heard);
        }
        // One that does not stream after all says everything at once.
        let collected = answer.collect(self.limits.body_bytes);
        let body =
            self.within_silence(async { collected.await.map_err(after_the_beginning) }).await?;
        heard.waiting = vec![body].into_iter();
        Ok(heard)
    }

    /// The next thing that is said; none where the stream ends.
    pub(crate) async fn next(&self, heard: &mut Heard) -> Result<Option<Update>, Trouble> {
        loop {
            if let Some(data) = heard.waiting.next() {
                let said = result(&data, heard.id.as_deref())?;
                return read_update(self.interface.version, said).map(Some);
            }
            let Some(answer) = &mut heard.answer else { return Ok(None) };
            let piece = self
                .within_silence(async { answer.piece().await.map_err(after_the_beginning) })
                .await?;
            let Some(piece) = piece else { return Ok(None) };
            heard.bytes += piece.len();
            let most = self.limits.stream_bytes;
            if heard.bytes > most {
                return Err(Trouble::TooMuch(format!("a stream of more than {most} bytes")));
            }
            let mut whole = Vec::new();
            heard.events.push(&piece, &mut whole).map_err(|_| {
                let most = self.limits.event_bytes;
                Trouble::TooMuch(format!("an event of more than {most} bytes"))
            })?;
            heard.waiting = whole.into_iter();
        }
    }

    /// The answer, and what it is marked with.
    async fn open(
        &self,
        operation: Operation<'_>,
        trace: &str,
    ) -> Result<(Answer, Option<String>), Trouble> {
        let Request { method, url, body, id } = operation.request(&self.interface)?;
        let answer = self.channel.open(method, &url, self.headers(operation, trace), body).await?;
        let status = answer.status;
        if status.is_success() {
            return Ok((answer, id));
        }
        let wait = Duration::from_secs(5).min(self.limits.silence);
        let body = tokio::time::timeout(wait, answer.collect(MOST_OF_AN_ERROR)).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        Err(match status.as_u16() {
            status @ (401 | 403 | 407) => {
                Trouble::Unauthorized { status, advice: self.advice.clone() }
            }
            status => refusal_in(status, &body),
        })
    }

    fn headers(&self, operation: Operation<'_>, trace: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut set = |name: &'static str, value: &str| {
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

/// A stream of things that are said.
#[derive(Debug)]
pub(crate) struct Heard {
    answer: Option<Answer>,
    events: Events,
    waiting: std::vec::IntoIter<Vec<u8>>,
    id: Option<String>,
    bytes: usize,
}

/// What an answer holds: over JSON-RPC, in the envelope of the request of this id.
fn result<'a>(body: &'a [u8], id: Option<&str>) -> Result<&'a [u8], Trouble> {
    id.map_or(Ok(body), |id| read_rpc(body, id))
}

/// The request arrived, so the agent is there.
fn after_the_beginning(error: lango_egress::FetchError) -> Trouble {
    match Trouble::from(error) {
        Trouble::Unreachable(reason) => Trouble::Broken(reason),
        other => other,
    }
}
