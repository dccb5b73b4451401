//! Sends the bytes of a reply in portions and ends it as the script asks.

use std::convert::Infallible;
use std::io;
use std::num::NonZeroUsize;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use futures_util::{Stream, StreamExt};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;

/// The body of a response.
pub(super) type Body = BoxBody<Bytes, io::Error>;

/// Says what is sent, how fast, and how it ends.
pub(super) struct Delivery {
    pub(super) pieces: Vec<Bytes>,
    pub(super) pace: Pace,
    pub(super) end: End,
}

/// Says in what portions the bytes come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Each event as it is, and as fast as it goes.
    Events,
    /// So many bytes at a time, each portion on its own.
    Portions(NonZeroUsize),
    /// One byte, and then a pause.
    Drip(Duration),
}

/// Says how a body ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// As it should.
    Whole,
    /// The connection breaks.
    Broken,
    /// The connection stays open and nothing comes.
    Stalled,
}

impl Delivery {
    /// Keeps the first bytes and breaks off there.
    pub(super) fn cut_at(&mut self, bytes: usize) {
        let mut whole = Bytes::from(self.pieces.concat());
        whole.truncate(bytes);
        self.pieces = vec![whole];
        self.end = End::Broken;
    }

    pub(super) fn into_body(self) -> Body {
        let end = self.end;
        match self.pace {
            Pace::Events => finish(stream::iter(self.pieces), end),
            Pace::Portions(size) => finish(portions(&self.pieces, size), end),
            Pace::Drip(pause) => finish(drip(&self.pieces, pause), end),
        }
    }
}

/// Makes a body that is sent at once.
pub(super) fn at_once(bytes: Bytes) -> Body {
    let never = |never: Infallible| match never {};
    BodyExt::boxed(Full::new(bytes).map_err(never))
}

fn finish(pieces: impl Stream<Item = Bytes> + Send + Sync + 'static, end: End) -> Body {
    let frames = pieces.map(|piece| Ok(Frame::data(piece)));
    match end {
        End::Whole => BodyExt::boxed(StreamBody::new(frames)),
        End::Broken => BodyExt::boxed(StreamBody::new(frames.chain(stream::once(async {
            // Lets what was sent so far arrive before the connection breaks.
            tokio::time::sleep(Duration::from_millis(20)).await;
            Err(io::Error::other("cut by the script"))
        })))),
        End::Stalled => BodyExt::boxed(StreamBody::new(frames.chain(stream::pending()))),
    }
}

/// Splits a body into portions that are written separately. A real pause makes them arrive
/// separately; a long body has no time for that, and is only written one by one.
fn portions(pieces: &[Bytes], size: NonZeroUsize) -> impl Stream<Item = Bytes> + use<> {
    const PAUSED_PORTION_COUNT: usize = 250;
    let whole = Bytes::from(pieces.concat());
    stream::unfold((whole, 0), move |(mut rest, number)| async move {
        if rest.is_empty() {
            return None;
        }
        match number {
            0 => {}
            1..PAUSED_PORTION_COUNT => tokio::time::sleep(Duration::from_millis(1)).await,
            _ => tokio::task::yield_now().await,
        }
        let portion = rest.split_to(size.get().min(rest.len()));
        Some((portion, (rest, number + 1)))
    })
}

fn drip(pieces: &[Bytes], pause: Duration) -> impl Stream<Item = Bytes> + use<> {
    stream::unfold(Bytes::from(pieces.concat()), move |mut rest| async move {
        if rest.is_empty() {
            return None;
        }
        tokio::time::sleep(pause).await;
        Some((rest.split_to(1), rest))
    })
}
