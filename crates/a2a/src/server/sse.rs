//! Writes a stream of updates as server-sent events.

use std::time::Duration;

use a2a::StreamResponse;
use axum::body::{Body, Bytes};
use axum::http::{Response, header};
use futures_util::stream;

use super::stream::Subscription;

/// Renders one update as the data of an event, without line breaks.
pub(crate) type RenderUpdate = Box<dyn Fn(&StreamResponse) -> String + Send>;

/// Returns the response that carries a stream. A silent stream sends keep-alive messages.
pub(crate) fn respond_with_events(
    subscription: Subscription,
    render: RenderUpdate,
    keep_alive: Duration,
) -> Response<Body> {
    let events =
        stream::unfold((subscription, render), move |(mut subscription, render)| async move {
            let piece = match tokio::time::timeout(keep_alive, subscription.next()).await {
                Ok(Some(update)) => format!("data: {}\n\n", render(&update)),
                Ok(None) => return None,
                Err(_) => ":\n\n".to_owned(),
            };
            Some((Ok::<_, std::convert::Infallible>(Bytes::from(piece)), (subscription, render)))
        });
    // These headers are always valid.
    Response::builder()
        .header(header::CONTENT_TYPE, "text/event-stream")
        .header(header::CACHE_CONTROL, "no-store")
        .header("x-accel-buffering", "no")
        .body(Body::from_stream(events))
        .unwrap_or_default()
}
