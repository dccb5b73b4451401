//! Checks the host names that the server answers to, and the origins of web pages that may use it.
//!
//! A hostile page can make a browser send requests to this machine, and can resolve its own host
//! name to this machine's address. Both are refused here, whatever else the request contains.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode};

use crate::refusal::RequestRefusal;

/// Holds the two ends of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionEnds {
    /// The address of the client.
    pub(crate) remote: IpAddr,
    /// The local address.
    pub(crate) local: SocketAddr,
}

/// Checks the `Host` and `Origin` headers.
#[derive(Debug, Clone, Default)]
pub struct HostGate {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl HostGate {
    /// Creates a gate that accepts these hosts in addition to local names, and pages of these
    /// origins (`https://example.org`).
    pub fn new(hosts: &[String], origins: &[String]) -> Self {
        let hosts = hosts.iter().map(|host| host.trim().to_ascii_lowercase()).collect();
        let origin = |origin: &String| origin.trim().trim_end_matches('/').to_ascii_lowercase();
        Self { hosts, origins: origins.iter().map(origin).collect() }
    }

    /// Checks a request. Returns the foreign origin that it was allowed for, if any.
    pub(crate) fn check_request(
        &self,
        parts: &Parts,
        ends: ConnectionEnds,
    ) -> Result<Option<HeaderValue>, RequestRefusal> {
        let host = read_host(parts).ok_or_else(|| {
            RequestRefusal::new(
                StatusCode::FORBIDDEN,
                "host_missing",
                "the request names no one host",
            )
        })?;
        if !self.is_own_host(&host, ends.local.ip()) {
            return Err(RequestRefusal::new(
                StatusCode::FORBIDDEN,
                "host_not_allowed",
                "this server does not answer to that host name. Use 127.0.0.1 or localhost, or let \
                 the name in: lango config set server.allowedHosts NAME",
            ));
        }
        let mut origins = parts.headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(None),
            (Some(origin), None) if is_same(origin, &host) => Ok(None),
            (Some(origin), None) if self.is_allowed_origin(origin) => Ok(Some(origin.clone())),
            _ => Err(RequestRefusal::new(
                StatusCode::FORBIDDEN,
                "origin_not_allowed",
                "pages of that origin may not use this server. To let one in: lango config set \
                 server.allowedOrigins https://NAME",
            )),
        }
    }

    fn is_own_host(&self, authority: &Authority, local: IpAddr) -> bool {
        let host = authority.host().to_ascii_lowercase();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            return address.is_loopback()
                || address == local.to_canonical()
                || self.hosts.iter().any(|known| known == bare);
        }
        host == "localhost"
            || self.hosts.iter().any(|known| known == &host || known == authority.as_str())
    }

    fn is_allowed_origin(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        self.origins.contains(&origin)
    }
}

/// Returns the host that a request names in its line and its header, or none if they differ.
fn read_host(parts: &Parts) -> Option<Authority> {
    let mut headers = parts.headers.get_all(HOST).iter();
    let header = headers.next()?.to_str().ok()?.parse::<Authority>().ok()?;
    if headers.next().is_some() || header.as_str().contains('@') {
        return None;
    }
    match parts.uri.authority() {
        Some(authority) if *authority != header => None,
        _ => Some(header),
    }
}

/// Tells whether the origin is this server itself.
fn is_same(origin: &HeaderValue, host: &Authority) -> bool {
    let origin = origin.to_str().unwrap_or_default();
    let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host.as_str()))
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn pass(
        gate: &HostGate,
        headers: &[(&str, &str)],
    ) -> Result<Option<HeaderValue>, RequestRefusal> {
        let request =
            headers.iter().fold(Request::builder().uri("/v1/models"), |request, header| {
                request.header(header.0, header.1)
            });
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let ends = ConnectionEnds {
            remote: "127.0.0.1".parse().unwrap(),
            local: "192.0.2.7:8787".parse().unwrap(),
        };
        gate.check_request(&parts, ends)
    }

    #[test]
    fn only_local_names_and_those_that_were_let_in_are_answered_to() {
        let gate = HostGate::new(&["lango.example".to_owned()], &[]);
        for good in [
            "localhost",
            "LOCALHOST:8787",
            "127.0.0.1:8787",
            "[::1]:1",
            "192.0.2.7:8787",
            "lango.example",
        ] {
            assert_eq!(pass(&gate, &[("host", good)]), Ok(None), "{good}");
        }
        for bad in [
            "evil.example",
            "localhost.evil.example",
            "lango.example.evil",
            "192.0.2.8",
            "a@localhost",
            "",
        ] {
            assert!(pass(&gate, &[("host", bad)]).is_err(), "{bad}");
        }
        assert!(pass(&gate, &[]).is_err());
        assert!(pass(&gate, &[("host", "localhost"), ("host", "evil.example")]).is_err());
    }

    #[test]
    fn pages_of_others_are_turned_away_unless_they_were_let_in() {
        let gate = HostGate::new(&[], &["https://app.example/".to_owned()]);
        let from = |origin: &str| pass(&gate, &[("host", "localhost:8787"), ("origin", origin)]);
        assert_eq!(from("http://localhost:8787"), Ok(None));
        assert_eq!(from("https://app.example").unwrap().unwrap(), "https://app.example");
        for bad in [
            "https://evil.example",
            "http://localhost:9999",
            "null",
            "",
            "https://app.example.evil",
        ] {
            assert!(from(bad).is_err(), "{bad}");
        }
    }
}
