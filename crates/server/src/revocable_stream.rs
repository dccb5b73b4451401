//! Ends an event stream when the token that opened it is revoked.

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use futures_util::stream::{self, StreamExt as _};
use tokio_util::sync::CancellationToken;

/// The last event of a stream whose token was revoked, in a form that the clients of all endpoints
/// read as an error.
const REVOKED_EVENT: &str = "event: error\ndata: {\"error\":{\"message\":\"the token was \
     revoked\",\"type\":\"authentication_error\",\"code\":\"token_revoked\"}}\n\n";

/// Lets the token end a response that is an event stream. Other responses end by themselves.
pub(crate) fn make_revocable(response: Response, revoked: CancellationToken) -> Response {
    let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if !kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let cut = revoked.clone();
    let events = body.into_data_stream().take_until(revoked.cancelled_owned());
    let last = stream::once(async move {
        cut.is_cancelled().then(|| Ok(Bytes::from_static(REVOKED_EVENT.as_bytes())))
    });
    let body = events.chain(last.filter_map(std::future::ready));
    Response::from_parts(parts, Body::from_stream(body))
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    fn open_stream(kind: &'static str) -> Response {
        let first = stream::once(async { Ok::<_, std::io::Error>("data: 1\n\n") });
        let body = Body::from_stream(first.chain(stream::pending()));
        Response::builder().header(CONTENT_TYPE, kind).body(body).unwrap()
    }

    #[tokio::test]
    async fn a_stream_ends_with_an_error_when_its_token_is_revoked() {
        let revoked = CancellationToken::new();
        let response = make_revocable(open_stream("text/event-stream"), revoked.clone());
        let reading = tokio::spawn(to_bytes(response.into_body(), 10_000));
        tokio::task::yield_now().await;
        assert!(!reading.is_finished());
        revoked.cancel();
        let text = reading.await.unwrap().unwrap();
        let text = String::from_utf8_lossy(&text);
        assert!(text.ends_with(REVOKED_EVENT), "{text}");
    }

    #[tokio::test]
    async fn a_stream_that_ends_by_itself_has_no_error() {
        let body = Body::from("data: [DONE]\n\n");
        let response = Response::builder().header(CONTENT_TYPE, "text/event-stream");
        let response = make_revocable(response.body(body).unwrap(), CancellationToken::new());
        let text = to_bytes(response.into_body(), 10_000).await.unwrap();
        assert_eq!(&*text, b"data: [DONE]\n\n");
    }
}
