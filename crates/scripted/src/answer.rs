//! From a request to a response.

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
use super::refusal::Refusal;
use super::script::{Fault, Reply};
use super::server::State;
use super::speech::{Rendering, Speech};
use super::wires::{anthropic, gemini, ollama, openai};
use super::{lists, refusal};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const LINES: &str = "application/x-ndjson";

/// Answers a request. An error closes the connection without a response.
pub(super) async fn answer(
    state: &State,
    request: Request<Incoming>,
) -> io::Result<Response<Body>> {
    const LIMIT: usize = 64 * 1024 * 1024;
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    let Some((wire, model)) = addressed(&parts.method, path) else {
        return Ok(match lists::answer(&parts.method, path, &parts.headers) {
            Some(list) => respond(JSON, at_once(Bytes::from_static(list.as_bytes()))),
            None => refuse(lists::nothing_here(&parts.method, path), None),
        });
    };
    let body = match Limited::new(body, LIMIT).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return Ok(refuse(Refusal::new(wire, 400, &error.to_string()), None)),
    };
    let conversation = match parse(state, wire, model, &body, &parts.headers) {
        Ok(conversation) => conversation,
        Err(reason) => {
            state.complain(&reason);
            return Ok(refuse(Refusal::new(wire, 400, &reason), None));
        }
    };
    let Some(reply) = state.choose(&parts, &body, &conversation) else {
        let reason = nothing_fits(&conversation);
        state.complain(&reason);
        return Ok(refuse(Refusal::new(wire, 422, &reason), None));
    };
    if reply.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(reply.delay_ms)).await;
    }
    if reply.fault == Some(Fault::Reset) {
        return Err(io::Error::other("reset by the script"));
    }
    if let Some(refusal) = refused(reply, &conversation) {
        return Ok(refuse(refusal, reply.retry_after.as_deref()));
    }
    // Without `alt=sse` Google sends a list.
    let listed = wire == Wire::Gemini && !parts.uri.query().unwrap_or("").contains("alt=sse");
    Ok(speak(state, reply, &conversation, listed))
}

/// Whose protocol a path belongs to, and the model where the path names it.
fn addressed<'p>(method: &Method, path: &'p str) -> Option<(Wire, &'p str)> {
    if method != Method::POST {
        return None;
    }
    match path {
        "/v1/messages" => Some((Wire::Anthropic, "")),
        "/api/chat" => Some((Wire::Ollama, "")),
        _ if path.ends_with("/chat/completions") => Some((Wire::OpenAi, "")),
        _ => {
            let model = path.strip_prefix("/v1beta/models/")?;
            Some((Wire::Gemini, model.strip_suffix(":streamGenerateContent")?))
        }
    }
}

fn parse<'a>(
    state: &State,
    wire: Wire,
    model: &'a str,
    body: &'a [u8],
    headers: &HeaderMap,
) -> Result<Conversation<'a>, String> {
    match wire {
        Wire::OpenAi => openai::parse(body, &state.script),
        Wire::Anthropic if !headers.contains_key("anthropic-version") => {
            Err("anthropic-version: header is required".into())
        }
        Wire::Anthropic => anthropic::parse(body, &state.signatures),
        Wire::Gemini => gemini::parse(body, model, &state.signatures),
        Wire::Ollama => ollama::parse(body, &state.script),
    }
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

fn refused(reply: &Reply, conversation: &Conversation<'_>) -> Option<Refusal> {
    if let Some(case) = reply.error {
        return Refusal::of_case(conversation.wire, case, &conversation.model);
    }
    if reply.fault != Some(Fault::Status) {
        return None;
    }
    let status = reply.status.filter(|code| StatusCode::from_u16(*code).is_ok()).unwrap_or(500);
    Some(Refusal::new(conversation.wire, status, "the script says so"))
}

/// The response with what a reply says.
fn speak(
    state: &State,
    reply: &Reply,
    conversation: &Conversation<'_>,
    listed: bool,
) -> Response<Body> {
    let wire = conversation.wire;
    let variant = &state.script.variant;
    let speech = Speech::new(reply, conversation, variant, &state.signatures);
    let whole = variant.whole || listed;
    let (kind, rendering) = match wire {
        // The only case without a refusal is one where nothing is said.
        Wire::Gemini if reply.error.is_some() => {
            (EVENTS, only(gemini::blocked(&conversation.model)))
        }
        Wire::OpenAi if whole => (JSON, only(openai::whole(&speech))),
        Wire::Gemini if whole => (JSON, only(gemini::whole(&speech))),
        Wire::OpenAi => (EVENTS, openai::render(&speech)),
        Wire::Anthropic => (EVENTS, anthropic::render(&speech)),
        Wire::Gemini => (EVENTS, gemini::render(&speech)),
        Wire::Ollama => (LINES, ollama::render(&speech)),
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

fn with_fault(wire: Wire, reply: &Reply, rendering: Rendering) -> Delivery {
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
            content.push(refusal::garbage(wire));
            content.extend(ending);
        }
        // Nothing comes after an error.
        Some(Fault::ErrorEvent) => content.push(refusal::event(wire)),
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
