//! Answers one request to the proxy.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio_util::task::AbortOnDropHandle;

use super::bounded::BoundedBody;
use super::{BlockedRequest, Shared, tunnel};
use crate::destination::Destination;
use crate::error::{EgressError, Refusal};

pub(super) type Body = BoxBody<Bytes, std::io::Error>;

/// The host that the proxy itself answers for, so that a client can try its credentials. The
/// domain is reserved and does not resolve.
const OWN_HOST: &str = "proxy.lango.invalid";
const OWN_DOMAIN: &str = ".lango.invalid";

/// Lists the hop-by-hop headers, which must not be passed on.
const HOP_HEADERS: [HeaderName; 7] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

pub(super) async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Infallible> {
    if !shared.credentials.are_in(request.headers()) {
        let mut response =
            page(StatusCode::PROXY_AUTHENTICATION_REQUIRED, "This proxy is in use by Lango.");
        let basic = HeaderValue::from_static("Basic realm=\"lango\"");
        response.headers_mut().insert(header::PROXY_AUTHENTICATE, basic);
        return Ok(response);
    }
    let host = request.uri().host().unwrap_or_default();
    if host == OWN_HOST {
        return Ok(page(StatusCode::OK, "ready"));
    }
    if host.ends_with(OWN_DOMAIN) {
        // Clients are configured to send unwanted requests here. No name server sees them.
        return Ok(page(StatusCode::NOT_FOUND, "Nothing is here."));
    }
    let target = request.uri().to_string();
    let result = if request.method() == Method::CONNECT {
        tunnel(request, &shared).await
    } else {
        forward(request, &shared).await
    };
    Ok(result.unwrap_or_else(|error| match error {
        EgressError::Refused(refusal) => refused(&shared, target, &refusal),
        other => page(StatusCode::BAD_GATEWAY, &other.to_string()),
    }))
}

fn refused(shared: &Shared, target: String, refusal: &Refusal) -> Response<Body> {
    let explanation = refusal.to_string();
    let response = page(StatusCode::FORBIDDEN, &format!("Blocked by Lango: {explanation}"));
    shared.store_blocked(BlockedRequest { target, reason: refusal.short_reason(), explanation });
    response
}

async fn tunnel(
    request: Request<Incoming>,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, EgressError> {
    let authority = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    let destination = Destination::of_authority(&authority)?;
    let upstream = shared.guard.connect(&destination).await?;
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        // A client that went away before its tunnel was open needs no tunnel.
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            tunnel::run(TokioIo::new(upgraded), upstream, &destination, &shared).await;
        }
    });
    Ok(page(StatusCode::OK, ""))
}

async fn forward(
    mut request: Request<Incoming>,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, EgressError> {
    let target = request.uri().to_string();
    let (url, destination) = Destination::of_url(&target)?;
    if url.scheme() != "http" {
        // Encrypted traffic comes through a tunnel; no honest client asks for it in plain text.
        return Err(Refusal::Scheme { scheme: url.scheme().to_owned() }.into());
    }
    let unreachable =
        |reason: String| EgressError::Unreachable { destination: destination.to_string(), reason };
    let upstream = shared.guard.connect(&destination).await?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(upstream)).await;
    let (mut sender, connection) = handshake.map_err(|error| unreachable(error.to_string()))?;
    let connection = AbortOnDropHandle::new(tokio::spawn(async move {
        // The result of the request reports the error.
        let _ = connection.await;
    }));

    strip(request.headers_mut());
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let host = HeaderValue::from_str(host).map_err(|error| unreachable(error.to_string()))?;
    request.headers_mut().insert(header::HOST, host);
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    *request.uri_mut() =
        path.parse().map_err(|_| unreachable("its path cannot be requested".to_owned()))?;
    let limits = &shared.limits;
    let response = tokio::time::timeout(limits.idle_timeout, sender.send_request(request))
        .await
        .map_err(|_| unreachable(format!("no answer within {} s", limits.idle_timeout.as_secs())))?
        .map_err(|error| unreachable(error.to_string()))?;
    let (mut parts, body) = response.into_parts();
    strip(&mut parts.headers);
    if parts.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
        // Only the proxy itself may ask for its password.
        parts.status = StatusCode::BAD_GATEWAY;
    }
    let body = BoundedBody::new(body, target, Arc::clone(shared), connection);
    Ok(Response::from_parts(parts, body.boxed()))
}

/// Removes the headers that are meant for this hop only, including those that `Connection` names.
fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_HEADERS) {
        headers.remove(name);
    }
    headers.remove("keep-alive");
    headers.remove("proxy-connection");
}

fn page(status: StatusCode, text: &str) -> Response<Body> {
    let line = if text.is_empty() { Bytes::new() } else { Bytes::from(format!("{text}\n")) };
    let mut response = Response::new(Full::new(line).map_err(|never| match never {}).boxed());
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}
