//! Limits the body of a response: it is cut off where it is too long or stalls.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep};
use tokio_util::task::AbortOnDropHandle;

use super::{BlockedRequest, Shared};

pub(super) struct BoundedBody {
    body: Incoming,
    seen: u64,
    idle: Pin<Box<Sleep>>,
    target: String,
    shared: Arc<Shared>,
    // The connection that the body comes over; it ends with the body.
    _connection: AbortOnDropHandle<()>,
}

impl BoundedBody {
    pub(super) fn new(
        body: Incoming,
        target: String,
        shared: Arc<Shared>,
        connection: AbortOnDropHandle<()>,
    ) -> Self {
        let idle = Box::pin(tokio::time::sleep(shared.limits.idle_timeout));
        Self { body, seen: 0, idle, target, shared, _connection: connection }
    }

    fn cut(&self, reason: String) -> io::Error {
        let explanation = format!("{} was cut off: {reason}", self.target);
        let error = io::Error::other(explanation.clone());
        self.shared.store_blocked(BlockedRequest {
            target: self.target.clone(),
            reason,
            explanation,
        });
        error
    }
}

impl Body for BoundedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) else {
            ready!(this.idle.as_mut().poll(context));
            let seconds = this.shared.limits.idle_timeout.as_secs();
            return Poll::Ready(Some(Err(this.cut(format!("nothing came for {seconds} s")))));
        };
        this.idle.as_mut().reset(Instant::now() + this.shared.limits.idle_timeout);
        let Some(frame) = frame else { return Poll::Ready(None) };
        let frame = frame.map_err(io::Error::other)?;
        this.seen += frame.data_ref().map_or(0, |data| data.len() as u64);
        let max_bytes = this.shared.limits.response_bytes;
        if this.seen > max_bytes {
            return Poll::Ready(Some(Err(this.cut(format!("longer than {max_bytes} bytes")))));
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
