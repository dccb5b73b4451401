//! Sends calls and receives their answers, and events, over one connection.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::reader::{self, ReadMessage};

/// Limits the size of a message from the browser. A longer one is dropped, and its call fails.
const MAX_MESSAGE_BYTES: usize = 24 * 1024 * 1024;

/// Limits how many events are queued. The receiver never waits for an answer, so the queue only has
/// to hold what comes while something else runs.
const MAX_QUEUED_EVENTS: usize = 1024;

/// Describes a command and its answer.
pub(crate) trait Command: Serialize {
    const METHOD: &'static str;
    type Reply: DeserializeOwned;
}

/// Says why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    /// The browser refused the call.
    #[error("{0}")]
    Refused(String),
    /// The browser or the page did not answer in time.
    #[error("no answer to {method} within {seconds} s")]
    TimedOut { method: &'static str, seconds: u64 },
    /// The answer exceeds the limit.
    #[error("the answer is too long")]
    TooLong,
    /// The browser is gone.
    #[error("the browser is gone")]
    Gone,
    /// The answer does not follow the protocol.
    #[error("unexpected answer to {method}: {reason}")]
    Unexpected { method: &'static str, reason: String },
}

/// Describes an event of the browser.
#[derive(Debug)]
pub(crate) struct BrowserEvent {
    /// The session of the target that it happened in; none for the browser itself.
    pub(crate) session: Option<String>,
    pub(crate) method: String,
    pub(crate) parameters: Box<RawValue>,
}

impl BrowserEvent {
    /// Parses the parameters; `None` if they have another type.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.parameters.get()).ok()
    }
}

type CallAnswer = Result<Box<RawValue>, CallError>;

#[derive(Default)]
struct PendingCalls {
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<CallAnswer>>,
}

/// Connects to a browser. It is cheap to clone.
#[derive(Clone)]
pub(crate) struct Connection {
    outgoing: mpsc::Sender<Vec<u8>>,
    // Shared by the callers and the reader, for one lookup at a time.
    pending: Arc<Mutex<PendingCalls>>,
    gone: CancellationToken,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutgoingMessage<'a, C> {
    id: u64,
    method: &'static str,
    params: &'a C,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IncomingMessage {
    id: Option<u64>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<CallFailure>,
    session_id: Option<String>,
}

#[derive(Deserialize)]
struct CallFailure {
    message: String,
}

impl Connection {
    /// Opens a connection over a pair of pipes. Events go to the receiver.
    pub(crate) fn open(
        from: impl AsyncRead + Unpin + Send + 'static,
        to: impl AsyncWrite + Unpin + Send + 'static,
    ) -> (Self, mpsc::Receiver<BrowserEvent>) {
        let (outgoing, queue) = mpsc::channel(64);
        let (events, happened) = mpsc::channel(MAX_QUEUED_EVENTS);
        let connection = Self { outgoing, pending: Arc::default(), gone: CancellationToken::new() };
        tokio::spawn(write_messages(queue, to, connection.gone.clone()));
        let (pending, gone) = (Arc::clone(&connection.pending), connection.gone.clone());
        tokio::spawn(async move {
            read_messages(BufReader::with_capacity(64 * 1024, from), &pending, events, &gone).await;
            gone.cancel();
            // Pending calls will not be answered; dropping the senders tells them.
            pending.lock().waiting.clear();
        });
        (connection, happened)
    }

    /// Returns the token that fires when the browser is gone.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    /// Closes the pipes, which ends the browser.
    pub(crate) fn close(&self) {
        self.gone.cancel();
    }

    /// Calls the browser, or a target through its session.
    pub(crate) async fn call<C: Command>(
        &self,
        session: Option<&str>,
        command: &C,
        limit: Duration,
    ) -> Result<C::Reply, CallError> {
        let (sender, answer) = oneshot::channel();
        let id = {
            let mut pending = self.pending.lock();
            pending.next += 1;
            let id = pending.next;
            pending.waiting.insert(id, sender);
            id
        };
        let unexpected = |reason: String| CallError::Unexpected { method: C::METHOD, reason };
        let message =
            OutgoingMessage { id, method: C::METHOD, params: command, session_id: session };
        let mut bytes =
            serde_json::to_vec(&message).map_err(|error| unexpected(error.to_string()))?;
        bytes.push(0);
        let exchange = async {
            self.outgoing.send(bytes).await.map_err(|_| CallError::Gone)?;
            answer.await.map_err(|_| CallError::Gone)?
        };
        let answered = tokio::select! {
            answered = tokio::time::timeout(limit, exchange) => answered,
            () = self.gone.cancelled() => Ok(Err(CallError::Gone)),
        };
        let result = answered
            .unwrap_or(Err(CallError::TimedOut { method: C::METHOD, seconds: limit.as_secs() }));
        if result.is_err() {
            self.pending.lock().waiting.remove(&id);
        }
        serde_json::from_str(result?.get()).map_err(|error| unexpected(error.to_string()))
    }
}

async fn write_messages(
    mut queue: mpsc::Receiver<Vec<u8>>,
    mut to: impl AsyncWrite + Unpin,
    gone: CancellationToken,
) {
    loop {
        let bytes = tokio::select! {
            () = gone.cancelled() => return,
            bytes = queue.recv() => bytes,
        };
        let Some(bytes) = bytes else { return };
        let written = tokio::select! {
            () = gone.cancelled() => return,
            written = async { to.write_all(&bytes).await?; to.flush().await } => written,
        };
        if written.is_err() {
            gone.cancel();
            return;
        }
    }
}

async fn read_messages(
    mut from: BufReader<impl AsyncRead + Unpin>,
    pending: &Mutex<PendingCalls>,
    events: mpsc::Sender<BrowserEvent>,
    gone: &CancellationToken,
) {
    let finish = |id: u64, answer: CallAnswer| {
        let waiting = pending.lock().waiting.remove(&id);
        if let Some(sender) = waiting {
            // The caller may have given up.
            let _ = sender.send(answer);
        }
    };
    loop {
        let incoming = tokio::select! {
            () = gone.cancelled() => return,
            incoming = reader::read_next(&mut from, MAX_MESSAGE_BYTES) => incoming,
        };
        let message = match incoming {
            Err(_) | Ok(None) => return,
            Ok(Some(ReadMessage::TooLong(beginning))) => {
                if let Some(id) = reader::answered_id(&beginning) {
                    finish(id, Err(CallError::TooLong));
                }
                continue;
            }
            Ok(Some(ReadMessage::Message(bytes))) => bytes,
        };
        // No call waits for what is not a message of the protocol.
        let Ok(message) = serde_json::from_slice::<IncomingMessage>(&message) else { continue };
        match (message.id, message.method) {
            (Some(id), _) => finish(
                id,
                match (message.result, message.error) {
                    (_, Some(error)) => Err(CallError::Refused(error.message)),
                    (Some(result), None) => Ok(result),
                    (None, None) => Ok(RawValue::NULL.to_owned()),
                },
            ),
            (None, Some(method)) => {
                let parameters = message.params.unwrap_or_else(|| RawValue::NULL.to_owned());
                let event = BrowserEvent { session: message.session_id, method, parameters };
                if events.send(event).await.is_err() {
                    return;
                }
            }
            (None, None) => {}
        }
    }
}
