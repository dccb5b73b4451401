//! How a server behaves on its connection, and when that is enough.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// Bytes of one message.
pub(crate) const LONGEST_MESSAGE: usize = 8 * 1024 * 1024;
/// What nobody asked for and is looked at within a second; the rest is dropped.
const UNASKED_EACH_SECOND: u32 = 200;
/// Messages dropped on one connection before it is closed.
const MOST_DROPPED: u32 = 20_000;
/// Lines on one connection that are no messages before it is closed.
const MOST_GARBAGE: u32 = 1000;
/// Requests of ours that are kept in mind.
const MOST_ASKED: usize = 10_000;
const SECOND: Duration = Duration::from_secs(1);

/// What a server did on one connection that it should not have done.
#[derive(Debug, Default)]
pub(crate) struct Conduct {
    /// Why the connection was closed by us.
    fault: OnceLock<String>,
    /// A lock, because the reader counts and others look; it is held for an addition.
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    window: Option<Instant>,
    in_window: u32,
    dropped: u32,
    garbage: u32,
}

/// What becomes of a message.
#[derive(Debug, PartialEq, Eq)]
enum Admission {
    Take,
    Drop,
    Close,
}

impl Conduct {
    /// Why the connection was closed by us.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// How many messages were dropped.
    pub(crate) fn dropped(&self) -> u32 {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).dropped
    }

    /// Closes the connection.
    pub(crate) fn close(&self, why: impl Into<String>) {
        // The first reason is the one that counts.
        let _ = self.fault.set(why.into());
    }

    /// A line that is no message. False when there were too many.
    pub(crate) fn garbage(&self) -> bool {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.garbage += 1;
        if counted.garbage <= MOST_GARBAGE {
            return true;
        }
        self.close(format!("it sent more than {MOST_GARBAGE} lines that are no messages"));
        false
    }

    fn admit(&self, is_answer: bool, now: Instant) -> Admission {
        // Somebody waits for it, and there are no more of these than requests of ours.
        if is_answer {
            return Admission::Take;
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.window.is_none_or(|start| now.duration_since(start) >= SECOND) {
            counted.window = Some(now);
            counted.in_window = 0;
        }
        counted.in_window = counted.in_window.saturating_add(1);
        if counted.in_window <= UNASKED_EACH_SECOND {
            return Admission::Take;
        }
        counted.dropped += 1;
        if counted.dropped > MOST_DROPPED {
            self.close(format!(
                "it flooded the connection: more than {MOST_DROPPED} messages too many"
            ));
            return Admission::Close;
        }
        Admission::Drop
    }
}

/// A transport whose other end is watched.
pub(crate) struct Watched<T> {
    inner: T,
    conduct: Arc<Conduct>,
    /// What was asked and not answered yet. Answers to anything else are nothing.
    asked: HashSet<RequestId>,
}

impl<T> Watched<T> {
    pub(crate) fn new(inner: T, conduct: &Arc<Conduct>) -> Self {
        Self { inner, conduct: Arc::clone(conduct), asked: HashSet::new() }
    }

    /// Whether a message is an answer that somebody waits for; none where it is no answer.
    fn expected(&mut self, message: &RxJsonRpcMessage<RoleClient>) -> Option<bool> {
        match message {
            JsonRpcMessage::Response(answer) => Some(self.asked.remove(&answer.id)),
            JsonRpcMessage::Error(error) => {
                Some(error.id.as_ref().is_some_and(|id| self.asked.remove(id)))
            }
            _ => None,
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item {
            if self.asked.len() == MOST_ASKED {
                // Nobody waits for so many; those that were never answered are forgotten.
                self.asked.clear();
            }
            self.asked.insert(request.id.clone());
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.receive().await?;
            let expected = self.expected(&message);
            match self.conduct.admit(expected == Some(true), Instant::now()) {
                Admission::Take if expected == Some(false) => {
                    if !self.conduct.garbage() {
                        return None;
                    }
                }
                Admission::Take => return Some(message),
                Admission::Drop => {}
                Admission::Close => return None,
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
        let conduct = Conduct::default();
        let start = Instant::now();
        for _ in 0..UNASKED_EACH_SECOND {
            assert_eq!(conduct.admit(true, start), Admission::Take);
            assert_eq!(conduct.admit(false, start), Admission::Take);
        }
        assert_eq!(conduct.admit(false, start), Admission::Drop);
        assert_eq!(conduct.admit(true, start), Admission::Take);
        assert_eq!(conduct.dropped(), 1);
        assert_eq!(conduct.admit(false, start + SECOND), Admission::Take);
        let closed = (0..MOST_DROPPED * 2).any(|_| conduct.admit(false, start) == Admission::Close);
        assert!(closed && conduct.fault().unwrap().contains("flooded"));
    }
}
