//! Who asks: every request passes here first, whichever door it is for.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use lango_protocol::Caller;
use lango_runtime::OWNER;

use crate::Door;
use crate::callers::Callers;
use crate::gate::{Ends, Gate};
use crate::guesses::Guesses;
use crate::refusal::Refusal;
use crate::token::{Token, TokenDigest};

/// How long a body may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(30);
/// The most of a body: a conversation on the OpenAI wire comes whole, with its pictures.
const OPENAI_BODY: usize = 24 * 1024 * 1024;
const OTHER_BODY: usize = 4 * 1024 * 1024;
/// The same for whoever did not say who it is.
const STRANGERS_BODY: usize = 16 * 1024;

/// The most of all headers together.
const HEAD_BYTES: usize = 32 * 1024;

/// What access is decided by.
pub struct AccessParts {
    /// Which hosts and pages.
    pub gate: Gate,
    /// Those who have tokens.
    pub callers: Callers,
    /// The owner's token where one was configured.
    pub owner_token: Option<Token>,
    /// Everybody who reaches this server is its owner.
    pub open: bool,
    /// Where to tell the owner what they should know.
    pub notice: Arc<dyn Fn(String) + Send + Sync>,
}

/// Decides who is let in.
pub struct Access {
    gate: Gate,
    callers: Callers,
    owner: Caller,
    owner_digest: Option<TokenDigest>,
    open: bool,
    notice: Arc<dyn Fn(String) + Send + Sync>,
    guesses: Guesses,
}

impl Access {
    /// Puts the parts together.
    pub fn new(parts: AccessParts) -> Result<Self, lango_protocol::InvalidName> {
        Ok(Self {
            gate: parts.gate,
            callers: parts.callers,
            owner: OWNER.parse()?,
            owner_digest: parts.owner_token.as_ref().map(Token::digest),
            open: parts.open,
            notice: parts.notice,
            guesses: Guesses::default(),
        })
    }

    /// The caller of a request. None where it did not say who it is and does not have to.
    async fn caller(&self, parts: &Parts, ends: Ends) -> Result<Option<Caller>, Refusal> {
        if self.open {
            return Ok(Some(self.owner.clone()));
        }
        let path = parts.uri.path();
        let door = Door::of_path(path);
        let public = door.is_none() || path.starts_with("/.well-known/");
        let Some(token) = bearer(&parts.headers)? else {
            if public {
                return Ok(None);
            }
            return Err(Refusal::unauthenticated("this server wants to know who asks"));
        };
        let (caller, doors) = self.holder(&token, ends.remote).await?;
        match door {
            Some(door) if !public && !doors.contains(&door) => Err(Refusal::new(
                StatusCode::FORBIDDEN,
                "door_not_allowed",
                format!("{caller} may not come through the door {door}"),
            )),
            _ => Ok(Some(caller)),
        }
    }

    /// Whose token this is.
    async fn holder(&self, token: &str, from: IpAddr) -> Result<(Caller, BTreeSet<Door>), Refusal> {
        let digest = TokenDigest::of(token);
        self.guesses.may_try(from, &digest).map_err(|wait| Refusal {
            retry_after: Some(wait),
            ..Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_guesses",
                "too many wrong tokens came from this address. Wait a minute",
            )
        })?;
        let configured = self.owner_digest.is_some_and(|known| known.matches(&digest));
        let found = self.callers.find(&digest).await.map_err(|error| {
            (self.notice)(format!("a token could not be looked up: {error}"));
            Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "database_unavailable",
                "the server cannot read its database at the moment",
            )
        })?;
        let holder = if configured {
            Some((self.owner.clone(), BTreeSet::from(Door::ALL)))
        } else {
            // A configured token takes the place of one that was printed.
            let outdated = |name: &Caller| self.owner_digest.is_some() && *name == self.owner;
            found.filter(|record| !outdated(&record.name)).map(|record| (record.name, record.doors))
        };
        let Some(holder) = holder else {
            if self.guesses.was_wrong(from) {
                (self.notice)(format!(
                    "many wrong tokens come from {from}; it has to wait a minute"
                ));
            }
            return Err(Refusal::unauthenticated("nobody has that token"));
        };
        self.guesses.was_right(from, digest);
        Ok(holder)
    }
}

/// The token of a request. Only the header counts: addresses end up in logs and histories.
fn bearer(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let wrong = || Refusal::unauthenticated("the Authorization header is not one `Bearer TOKEN`");
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(wrong());
    }
    let text = value.to_str().map_err(|_| wrong())?;
    let (scheme, token) = text.split_once(' ').ok_or_else(wrong)?;
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() || token.contains(' ') {
        return Err(wrong());
    }
    Ok(Some(token.to_owned()))
}

fn head_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

/// The layer that every request passes.
pub(crate) async fn admit(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let Some(ends) = parts.extensions.get::<Ends>().copied() else {
        let refusal = Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "no_connection", "a bug");
        return refusal.respond(&path);
    };
    if head_bytes(&parts.headers) > HEAD_BYTES {
        let words = "the headers are larger than 32 KiB, which is the most";
        let refusal =
            Refusal::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "headers_too_large", words);
        return refusal.respond(&path);
    }
    let foreign = match access.gate.pass(&parts, ends) {
        Ok(foreign) => foreign,
        Err(refusal) => return refusal.respond(&path),
    };
    let mut response = if let (Some(_), &Method::OPTIONS) = (&foreign, &parts.method) {
        StatusCode::NO_CONTENT.into_response()
    } else {
        match access.admitted(parts, body, ends).await {
            Ok(request) => next.run(request).await,
            Err(refusal) => refusal.respond(&path),
        }
    };
    if let Some(origin) = foreign {
        allow_page(response.headers_mut(), origin);
    }
    response
}

impl Access {
    /// The request of somebody who is let in, with its whole body.
    async fn admitted(&self, mut parts: Parts, body: Body, ends: Ends) -> Result<Request, Refusal> {
        let caller = self.caller(&parts, ends).await?;
        let limit = match Door::of_path(parts.uri.path()) {
            // A stranger has nothing to send.
            _ if caller.is_none() => STRANGERS_BODY,
            Some(Door::OpenAi) => OPENAI_BODY,
            _ => OTHER_BODY,
        };
        let too_large = || {
            let words = format!("the body is larger than {limit} bytes, which is the most");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", words)
        };
        let length = parts.headers.get(CONTENT_LENGTH).and_then(|text| text.to_str().ok());
        if length.and_then(|text| text.parse::<usize>().ok()).is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        // Read here for all doors, so that a client that sends slowly keeps nothing but its
        // connection.
        let bytes = tokio::time::timeout(BODY_TIME, to_bytes(body, limit)).await.map_err(|_| {
            let words = "the body did not arrive in time";
            Refusal::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", words)
        })?;
        let bytes = bytes.map_err(|_| too_large())?;
        if let Some(caller) = caller {
            parts.extensions.insert(caller);
        }
        Ok(Request::from_parts(parts, Body::from(bytes)))
    }
}

/// What a browser wants to see before it shows an answer to a page of another origin.
fn allow_page(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert("access-control-allow-origin", origin);
    headers.insert("vary", HeaderValue::from_static("Origin"));
    let said = [
        ("access-control-allow-methods", "GET, POST, DELETE, OPTIONS"),
        (
            "access-control-allow-headers",
            "authorization, content-type, accept, idempotency-key, last-event-id, mcp-session-id, \
             mcp-protocol-version, a2a-version, a2a-extensions, x-lango-session, x-lango-detach",
        ),
        ("access-control-expose-headers", "mcp-session-id, x-lango-session"),
    ];
    for (name, value) in said {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
