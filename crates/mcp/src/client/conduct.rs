//! Counts the protocol violations of a server and closes its connection when there are too many.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// Limits the size of one message.
pub(crate) const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;
/// Limits the unsolicited messages that are processed per second; the rest is dropped.
const MAX_UNSOLICITED_PER_SECOND: u32 = 200;
/// Limits the messages dropped on one connection before it is closed.
const MAX_DROPPED_COUNT: u32 = 20_000;
/// Limits the invalid lines on one connection before it is closed.
const MAX_INVALID_LINE_COUNT: u32 = 1000;
/// Limits the open requests that are tracked.
const MAX_OPEN_REQUEST_COUNT: usize = 10_000;
const SECOND: Duration = Duration::from_secs(1);

/// Records the violations of a server on one connection.
#[derive(Debug, Default)]
pub(crate) struct ServerConduct {
    /// The reason why the connection was closed on this side.
    fault: OnceLock<String>,
    /// The lock is held for an addition.
    counts: Mutex<ConductCounts>,
}

#[derive(Debug, Default)]
struct ConductCounts {
    window: Option<Instant>,
    in_window: u32,
    dropped: u32,
    invalid_lines: u32,
}

/// The decision about a message.
#[derive(Debug, PartialEq, Eq)]
enum MessageAdmission {
    Take,
    Drop,
    Close,
}

impl ServerConduct {
    /// Returns the reason why the connection was closed on this side.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// Returns the number of dropped messages.
    pub(crate) fn dropped(&self) -> u32 {
        self.counts.lock().dropped
    }

    /// Closes the connection.
    pub(crate) fn close(&self, why: impl Into<String>) {
        // Only the first reason is stored.
        let _ = self.fault.set(why.into());
    }

    /// Counts an invalid line. Returns false if there were too many.
    pub(crate) fn record_invalid_line(&self) -> bool {
        let mut counts = self.counts.lock();
        counts.invalid_lines += 1;
        if counts.invalid_lines <= MAX_INVALID_LINE_COUNT {
            return true;
        }
        self.close(format!(
            "it sent more than {MAX_INVALID_LINE_COUNT} lines that are no messages"
        ));
        false
    }

    fn admit(&self, is_answer: bool, now: Instant) -> MessageAdmission {
        // Expected answers are always accepted; there are no more of them than requests.
        if is_answer {
            return MessageAdmission::Take;
        }
        let mut counts = self.counts.lock();
        if counts.window.is_none_or(|start| now.duration_since(start) >= SECOND) {
            counts.window = Some(now);
            counts.in_window = 0;
        }
        counts.in_window = counts.in_window.saturating_add(1);
        if counts.in_window <= MAX_UNSOLICITED_PER_SECOND {
            return MessageAdmission::Take;
        }
        counts.dropped += 1;
        if counts.dropped > MAX_DROPPED_COUNT {
            self.close(format!(
                "it flooded the connection: more than {MAX_DROPPED_COUNT} messages too many"
            ));
            return MessageAdmission::Close;
        }
        MessageAdmission::Drop
    }
}

/// Represents a transport that monitors the server.
pub(crate) struct MonitoredTransport<T> {
    inner: T,
    conduct: Arc<ServerConduct>,
    /// The requests without an answer. Answers to other requests are invalid.
    open_requests: HashSet<RequestId>,
}

impl<T> MonitoredTransport<T> {
    pub(crate) fn new(inner: T, conduct: &Arc<ServerConduct>) -> Self {
        Self { inner, conduct: Arc::clone(conduct), open_requests: HashSet::new() }
    }

    /// Tells whether a message answers an open request; none if it is no answer.
    fn expected(&mut self, message: &RxJsonRpcMessage<RoleClient>) -> Option<bool> {
        match message {
            JsonRpcMessage::Response(answer) => Some(self.open_requests.remove(&answer.id)),
            JsonRpcMessage::Error(error) => {
                Some(error.id.as_ref().is_some_and(|id| self.open_requests.remove(id)))
            }
            _ => None,
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for MonitoredTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item {
            if self.open_requests.len() == MAX_OPEN_REQUEST_COUNT {
                // There are never so many open requests; those that were not answered are dropped.
                self.open_requests.clear();
            }
            self.open_requests.insert(request.id.clone());
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.receive().await?;
            let expected = self.expected(&message);
            match self.conduct.admit(expected == Some(true), Instant::now()) {
                MessageAdmission::Take if expected == Some(false) => {
                    if !self.conduct.record_invalid_line() {
                        return None;
                    }
                }
                MessageAdmission::Take => return Some(message),
                MessageAdmission::Drop => {}
                MessageAdmission::Close => return None,
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_dropped_first_and_closed_then_and_answers_come_through() {
        let conduct = ServerConduct::default();
        let start = Instant::now();
        for _ in 0..MAX_UNSOLICITED_PER_SECOND {
            assert_eq!(conduct.admit(true, start), MessageAdmission::Take);
            assert_eq!(conduct.admit(false, start), MessageAdmission::Take);
        }
        assert_eq!(conduct.admit(false, start), MessageAdmission::Drop);
        assert_eq!(conduct.admit(true, start), MessageAdmission::Take);
        assert_eq!(conduct.dropped(), 1);
        assert_eq!(conduct.admit(false, start + SECOND), MessageAdmission::Take);
        let closed = (0..MAX_DROPPED_COUNT * 2)
            .any(|_| conduct.admit(false, start) == MessageAdmission::Close);
        assert!(closed && conduct.fault().unwrap().contains("flooded"));
    }
}
