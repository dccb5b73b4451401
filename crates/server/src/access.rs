//! Authenticates every request, whichever endpoint it is for.

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
use tokio_util::sync::CancellationToken;

use crate::EndpointKind;
use crate::callers::Callers;
use crate::connections::ConnectionHandle;
use crate::gate::{ConnectionEnds, HostGate};
use crate::refusal::RequestRefusal;
use crate::revocable_stream::make_revocable;
use crate::token::{CallerToken, TokenDigest};
use crate::token_throttle::TokenThrottle;

/// Limits how long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Limits a body on the OpenAI endpoint, where a request holds the whole conversation with its
/// images.
const MAX_OPENAI_BODY_BYTES: usize = 24 * 1024 * 1024;
/// Limits a body on the other endpoints.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
/// Limits a body of a client that is not authenticated.
const MAX_ANONYMOUS_BODY_BYTES: usize = 16 * 1024;

/// Limits how long the database is waited for when a token is looked up.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(15);

/// Limits the same for a health report, which has to come at once.
const HEALTH_LOOKUP_TIMEOUT: Duration = Duration::from_secs(1);

/// The path of the health report.
pub(crate) const HEALTH_PATH: &str = "/health";

/// Limits the size of all headers together.
const MAX_HEADER_BYTES: usize = 32 * 1024;

/// Holds the parts of [`AccessControl`].
pub struct AccessParts {
    /// The check of hosts and origins.
    pub gate: HostGate,
    /// The callers that have tokens.
    pub callers: Callers,
    /// The owner's token, if one was configured.
    pub owner_token: Option<CallerToken>,
    /// True if every client that reaches this server counts as its owner.
    pub open: bool,
    /// Receives notices for the owner.
    pub notice: Arc<dyn Fn(String) + Send + Sync>,
}

/// Decides which requests are accepted.
pub struct AccessControl {
    gate: HostGate,
    callers: Callers,
    owner: Caller,
    owner_digest: Option<TokenDigest>,
    open: bool,
    notice: Arc<dyn Fn(String) + Send + Sync>,
    throttle: TokenThrottle,
}

/// The caller of a request, with what ends its streams.
struct IdentifiedCaller {
    caller: Caller,
    revoked: Option<CancellationToken>,
}

impl AccessControl {
    /// Creates the access check from its parts.
    pub fn new(parts: AccessParts) -> Result<Self, lango_protocol::InvalidName> {
        Ok(Self {
            gate: parts.gate,
            callers: parts.callers,
            owner: OWNER.parse()?,
            owner_digest: parts.owner_token.as_ref().map(CallerToken::digest),
            open: parts.open,
            notice: parts.notice,
            throttle: TokenThrottle::default(),
        })
    }

    /// Returns the caller of a request, or none if the request has no token and needs none.
    async fn identify_caller(
        &self,
        parts: &Parts,
        ends: ConnectionEnds,
    ) -> Result<Option<IdentifiedCaller>, RequestRefusal> {
        if self.open {
            return Ok(Some(IdentifiedCaller { caller: self.owner.clone(), revoked: None }));
        }
        let path = parts.uri.path();
        let endpoint = EndpointKind::of_path(path);
        let public = endpoint.is_none() || path.starts_with("/.well-known/");
        let Some(token) = read_bearer_token(&parts.headers)? else {
            if public {
                return Ok(None);
            }
            return Err(RequestRefusal::unauthenticated("this server requires a token"));
        };
        let (client, endpoints) =
            self.authenticate(&token, ends.remote, path == HEALTH_PATH).await?;
        let caller = &client.caller;
        match endpoint {
            Some(endpoint) if !public && !endpoints.contains(&endpoint) => {
                Err(RequestRefusal::new(
                    StatusCode::FORBIDDEN,
                    "endpoint_not_allowed",
                    format!("{caller} may not use the endpoint {endpoint}"),
                ))
            }
            _ => Ok(Some(client)),
        }
    }

    /// Returns the caller that a token belongs to, with its endpoints.
    async fn authenticate(
        &self,
        token: &str,
        from: IpAddr,
        is_health: bool,
    ) -> Result<(IdentifiedCaller, BTreeSet<EndpointKind>), RequestRefusal> {
        let digest = TokenDigest::of(token);
        self.throttle.check(from, &digest).map_err(|wait| RequestRefusal {
            retry_after: Some(wait),
            ..RequestRefusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_guesses",
                "too many wrong tokens came from this address. Wait a minute",
            )
        })?;
        let configured = self.owner_digest.is_some_and(|known| known.matches(&digest));
        let limit = if is_health { HEALTH_LOOKUP_TIMEOUT } else { LOOKUP_TIMEOUT };
        let looked_up = tokio::time::timeout(limit, self.callers.find(&digest)).await;
        let found = match looked_up {
            Ok(Ok(found)) => found,
            // A token of the configuration needs no database.
            _ if configured => None,
            // A health report is for the time when the database says nothing.
            _ if is_health && let Some(caller) = self.callers.find_used(&digest) => {
                let client = IdentifiedCaller { caller, revoked: None };
                return Ok((client, BTreeSet::new()));
            }
            failed => {
                let reason = match failed {
                    Ok(Err(error)) => error.to_string(),
                    _ => format!("the database did not answer within {} s", limit.as_secs()),
                };
                (self.notice)(format!("a token could not be looked up: {reason}"));
                return Err(RequestRefusal::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "database_unavailable",
                    "the server cannot read its database at the moment",
                ));
            }
        };
        let holder = if configured {
            // A token of the configuration is valid as long as this process runs.
            let client = IdentifiedCaller { caller: self.owner.clone(), revoked: None };
            Some((client, BTreeSet::from(EndpointKind::ALL)))
        } else {
            // A configured token replaces one that was printed.
            let outdated = |name: &Caller| self.owner_digest.is_some() && *name == self.owner;
            found.filter(|record| !outdated(&record.name)).map(|record| {
                let revoked = Some(self.callers.register_use(digest, &record.name));
                (IdentifiedCaller { caller: record.name, revoked }, record.endpoints)
            })
        };
        let Some(holder) = holder else {
            if self.throttle.record_failure(from) {
                (self.notice)(format!(
                    "many wrong tokens come from {from}; new tokens from there are refused for a minute"
                ));
            }
            return Err(RequestRefusal::unauthenticated("the token is not valid"));
        };
        self.throttle.record_success(from, digest);
        Ok(holder)
    }
}

/// Returns the token of a request. Only the header counts, because URLs end up in logs and
/// histories.
fn read_bearer_token(headers: &HeaderMap) -> Result<Option<String>, RequestRefusal> {
    let wrong =
        || RequestRefusal::unauthenticated("the Authorization header is not one `Bearer TOKEN`");
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

fn count_header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

/// The middleware that every request passes.
pub(crate) async fn admit_request(
    State(access): State<Arc<AccessControl>>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let Some(ends) = parts.extensions.get::<ConnectionEnds>().copied() else {
        let refusal =
            RequestRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, "no_connection", "a bug");
        return refusal.respond(&path);
    };
    if count_header_bytes(&parts.headers) > MAX_HEADER_BYTES {
        let words = "the headers are larger than 32 KiB, which is the most";
        let refusal = RequestRefusal::new(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "headers_too_large",
            words,
        );
        return refusal.respond(&path);
    }
    let foreign = match access.gate.check_request(&parts, ends) {
        Ok(foreign) => foreign,
        Err(refusal) => return refusal.respond(&path),
    };
    let mut response = if let (Some(_), &Method::OPTIONS) = (&foreign, &parts.method) {
        StatusCode::NO_CONTENT.into_response()
    } else {
        match access.authorize(parts, body, ends).await {
            Ok((request, Some(revoked))) => make_revocable(next.run(request).await, revoked),
            Ok((request, None)) => next.run(request).await,
            Err(refusal) => refusal.respond(&path),
        }
    };
    if let Some(origin) = foreign {
        allow_origin(response.headers_mut(), origin);
    }
    response
}

impl AccessControl {
    /// Authenticates a request and reads its whole body. Returns it with what ends its stream.
    async fn authorize(
        &self,
        mut parts: Parts,
        body: Body,
        ends: ConnectionEnds,
    ) -> Result<(Request, Option<CancellationToken>), RequestRefusal> {
        let caller = self.identify_caller(&parts, ends).await?;
        if let (Some(_), Some(connection)) = (&caller, parts.extensions.get::<ConnectionHandle>()) {
            connection.mark_authenticated();
        }
        let limit = match EndpointKind::of_path(parts.uri.path()) {
            // A client without a token has nothing to send.
            _ if caller.is_none() => MAX_ANONYMOUS_BODY_BYTES,
            Some(EndpointKind::OpenAi) => MAX_OPENAI_BODY_BYTES,
            _ => MAX_BODY_BYTES,
        };
        let too_large = || {
            let words = format!("the body is larger than {limit} bytes, which is the most");
            RequestRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", words)
        };
        // A length that is no number is refused by the HTTP server; the body is counted anyway.
        let length = parts.headers.get(CONTENT_LENGTH).and_then(|text| text.to_str().ok());
        if length.and_then(|text| text.parse::<usize>().ok()).is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        // Read here for all endpoints, so that a slow client occupies nothing but its connection.
        let bytes =
            tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, limit)).await.map_err(|_| {
                let words = "the body did not arrive in time";
                RequestRefusal::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", words)
            })?;
        let bytes = bytes.map_err(|_| too_large())?;
        let mut revoked = None;
        if let Some(client) = caller {
            parts.extensions.insert(client.caller);
            revoked = client.revoked;
        }
        Ok((Request::from_parts(parts, Body::from(bytes)), revoked))
    }
}

/// Adds the headers that a browser requires before it shows a response to a page of another origin.
fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert("access-control-allow-origin", origin);
    headers.insert("vary", HeaderValue::from_static("Origin"));
    let cors_headers = [
        ("access-control-allow-methods", "GET, POST, DELETE, OPTIONS"),
        (
            "access-control-allow-headers",
            "authorization, content-type, accept, idempotency-key, last-event-id, mcp-session-id, \
             mcp-protocol-version, a2a-version, a2a-extensions, x-lango-session, x-lango-detach",
        ),
        ("access-control-expose-headers", "mcp-session-id, x-lango-session"),
    ];
    for (name, value) in cors_headers {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
