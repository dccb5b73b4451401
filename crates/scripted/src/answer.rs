//! Turns a request into a response.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use lango_model::Wire;

use super::conversation::Conversation;
use super::delivery::{Body, Delivery, End, Pace, at_once};
use super::fixture::{WireFixture, WireRequest};
use super::refusal::Refusal;
use super::script::{Fault, Reply};
use super::server::State;
use super::speech::{Rendering, Speech};
use super::wires::fixture;

const JSON: &str = "application/json";

/// Answers a request. An error closes the connection without a response.
pub(super) async fn answer(
    state: &State,
    request: Request<Incoming>,
) -> io::Result<Response<Body>> {
    const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    let Some((wire, model)) = addressed(&parts.method, path) else {
        return Ok(about_models(&parts.method, path, &parts.headers));
    };
    let body = match Limited::new(body, MAX_REQUEST_BYTES).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return Ok(refuse(wire.refusal(400, &error.to_string()), None)),
    };
    let request = WireRequest {
        model,
        headers: &parts.headers,
        body: &body,
        script: &state.script,
        signatures: &state.signatures,
    };
    let conversation = match wire.parse(&request) {
        Ok(conversation) => conversation,
        Err(reason) => {
            state.complain(&reason);
            return Ok(refuse(wire.refusal(400, &reason), None));
        }
    };
    let Some(reply) = state.choose(&parts, &body, &conversation) else {
        let reason = nothing_fits(&conversation);
        state.complain(&reason);
        return Ok(refuse(wire.refusal(422, &reason), None));
    };
    if reply.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(reply.delay_ms)).await;
    }
    if reply.fault == Some(Fault::Reset) {
        return Err(io::Error::other("reset by the script"));
    }
    if let Some(refusal) = refused(wire, reply, &conversation) {
        return Ok(refuse(refusal, reply.retry_after.as_deref()));
    }
    let whole = wire.wants_whole(parts.uri.query().unwrap_or_default());
    Ok(speak(wire, state, reply, &conversation, whole))
}

/// Returns every API, OpenAI's last: others share paths with it, and are more specific.
fn wires() -> impl Iterator<Item = &'static dyn WireFixture> {
    Wire::ALL.into_iter().rev().map(fixture)
}

/// Returns the wire that a path belongs to, and the model where the path names it.
fn addressed<'p>(method: &Method, path: &'p str) -> Option<(&'static dyn WireFixture, &'p str)> {
    if method != Method::POST {
        return None;
    }
    wires().find_map(|wire| Some((wire, wire.model_in(path)?)))
}

/// Answers a question about models, or refuses what is none.
fn about_models(method: &Method, path: &str, headers: &HeaderMap) -> Response<Body> {
    if let Some(answer) = wires().find_map(|wire| wire.models(method, path, headers)) {
        return respond(JSON, at_once(Bytes::from_static(answer.as_bytes())));
    }
    let message = format!("Invalid URL ({method} {path})");
    let refusal = fixture(Wire::OpenAi).refusal(StatusCode::NOT_FOUND.as_u16(), &message);
    refuse(refusal, None)
}

fn nothing_fits(conversation: &Conversation<'_>) -> String {
    format!(
        "no reply in the script fits: agent {:?}, user {:?}, {} results of {:?}",
        conversation.agent(),
        conversation.newest_user(),
        conversation.results().count(),
        conversation.calls(),
    )
}

fn refused(
    wire: &dyn WireFixture,
    reply: &Reply,
    conversation: &Conversation<'_>,
) -> Option<Refusal> {
    if let Some(case) = reply.error {
        return wire.refusal_in(case, &conversation.model);
    }
    if reply.fault != Some(Fault::Status) {
        return None;
    }
    let status = reply.status.filter(|code| StatusCode::from_u16(*code).is_ok()).unwrap_or(500);
    Some(wire.refusal(status, "the script says so"))
}

/// Builds the response of a reply.
fn speak(
    wire: &dyn WireFixture,
    state: &State,
    reply: &Reply,
    conversation: &Conversation<'_>,
    whole: bool,
) -> Response<Body> {
    let variant = &state.script.variant;
    let speech = Speech::new(reply, conversation, variant, &state.signatures);
    let stream = wire.profile().framing.content_type();
    // A case that is not refused gets a reply without content.
    let blocked = reply.error.and_then(|_| wire.blocked(&conversation.model));
    let document = || (whole || variant.whole).then(|| wire.render_whole(&speech)).flatten();
    let (kind, rendering) = if let Some(blocked) = blocked {
        (stream, only(blocked))
    } else if let Some(document) = document() {
        (JSON, only(document))
    } else {
        (stream, wire.render(&speech))
    };
    let mut delivery = with_fault(wire, reply, rendering);
    if kind != JSON {
        delivery.pieces = variant.apply(wire, delivery.pieces);
    }
    if let Some(bytes) = reply.cut_at {
        delivery.cut_at(bytes);
    }
    if let (Pace::Events, Some(size)) = (delivery.pace, variant.chunk_bytes) {
        delivery.pace = Pace::Portions(size);
    }
    respond(kind, delivery.into_body())
}

fn only(piece: Bytes) -> Rendering {
    Rendering { content: vec![piece], half: 0, ending: Vec::new() }
}

fn with_fault(wire: &dyn WireFixture, reply: &Reply, rendering: Rendering) -> Delivery {
    let Rendering { mut content, half, ending } = rendering;
    let mut delivery = Delivery { pieces: Vec::new(), pace: Pace::Events, end: End::Whole };
    match reply.fault {
        Some(Fault::Cut) if reply.cut_at.is_none() => {
            content.truncate(half);
            delivery.end = End::Broken;
        }
        Some(Fault::Stall) => {
            content.truncate(half);
            delivery.end = End::Stalled;
        }
        Some(Fault::Silence) => {
            content.clear();
            delivery.end = End::Stalled;
        }
        Some(Fault::NoEnd) => {}
        Some(Fault::Garbage) => {
            content.push(Bytes::from_static(wire.garbage().as_bytes()));
            content.extend(ending);
        }
        // Nothing comes after an error.
        Some(Fault::ErrorEvent) => {
            content.push(Bytes::from_static(wire.error_event().as_bytes()));
        }
        Some(Fault::Drip) => {
            content.extend(ending);
            delivery.pace = Pace::Drip(Duration::from_millis(reply.drip_ms.unwrap_or(50)));
        }
        None | Some(Fault::Cut | Fault::Status | Fault::Reset) => content.extend(ending),
    }
    delivery.pieces = content;
    delivery
}

fn respond(kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn refuse(refusal: Refusal, retry_after: Option<&str>) -> Response<Body> {
    let mut response = respond(JSON, at_once(refusal.body));
    *response.status_mut() = refusal.status;
    if let Some(value) = retry_after.and_then(|text| HeaderValue::from_str(text).ok()) {
        response.headers_mut().insert(RETRY_AFTER, value);
    }
    response
}
