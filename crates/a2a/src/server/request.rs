//! Reads the parts of a request other than its body: version, media types, trace.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Uri, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::wire::error::ProtocolError;
use crate::wire::{MEDIA_TYPE, VERSION_1, VERSION_03, VERSION_HEADER};

/// The supported versions of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtocolVersion {
    V1,
    V03,
}

/// Returns the version of a request from its header or query; 0.3 if it names none.
pub(crate) fn read_version(
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<ProtocolVersion, ProtocolError> {
    let named = headers.get(VERSION_HEADER).map(|value| value.to_str().unwrap_or("?").to_owned());
    let named = named.or_else(|| find_query_parameter(uri, VERSION_HEADER)).unwrap_or_default();
    let named = named.trim();
    // Patch versions count as the same version.
    let mut numbers = named.split('.');
    let minor = [numbers.next(), numbers.next()].map(Option::unwrap_or_default).join(".");
    match minor.as_str() {
        VERSION_1 => Ok(ProtocolVersion::V1),
        VERSION_03 | "." => Ok(ProtocolVersion::V03),
        _ => Err(ProtocolError::VersionNotSupported(named.chars().take(40).collect())),
    }
}

/// Returns a query parameter; the case of its name does not matter.
pub(crate) fn find_query_parameter(uri: &Uri, name: &str) -> Option<String> {
    let query = uri.query()?;
    url::form_urlencoded::parse(query.as_bytes())
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.into_owned())
}

/// Returns the media type of the body, without its parameters.
pub(crate) fn read_media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

/// Tells whether the client wants plain JSON: it accepts it and does not name the protocol's own
/// type.
pub(crate) fn wants_plain_json(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let accepts: Vec<&str> = accepts.flat_map(|value| value.split(',')).map(str::trim).collect();
    let names = |kind: &str| accepts.iter().any(|accept| accept.starts_with(kind));
    names("application/json") && !names(MEDIA_TYPE)
}

/// Returns the trace of a request if it is a valid W3C `read_traceparent`.
pub(crate) fn read_traceparent(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("traceparent")?.to_str().ok()?;
    let lengths: Vec<usize> = value.split('-').map(str::len).collect();
    let digits = |c: char| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c);
    (lengths == [2, 32, 16, 2] && value.chars().all(digits)).then(|| value.to_owned())
}

/// Reads the body, up to a limit.
pub(crate) async fn read_body(body: Body, limit: usize) -> Result<Bytes, ProtocolError> {
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(ProtocolError::TooLarge(limit)),
        Err(_) => Err(ProtocolError::InvalidRequest("the body did not arrive whole".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(header: Option<&str>, uri: &str) -> Result<ProtocolVersion, ProtocolError> {
        let mut headers = HeaderMap::new();
        if let Some(value) = header {
            headers.insert(VERSION_HEADER, value.parse().unwrap());
        }
        read_version(&headers, &uri.parse().unwrap())
    }

    #[test]
    fn versions_are_read_as_the_text_says() {
        assert_eq!(of(Some("1.0"), "/a2a"), Ok(ProtocolVersion::V1));
        assert_eq!(of(Some("1.0.1"), "/a2a"), Ok(ProtocolVersion::V1));
        assert_eq!(of(None, "/a2a?a2a-version=1.0"), Ok(ProtocolVersion::V1));
        assert_eq!(of(None, "/a2a"), Ok(ProtocolVersion::V03));
        assert_eq!(of(Some(""), "/a2a"), Ok(ProtocolVersion::V03));
        assert_eq!(of(Some("0.3.0"), "/a2a"), Ok(ProtocolVersion::V03));
        for other in ["99.0", "2", "1", "1.1", "x"] {
            assert!(of(Some(other), "/a2a").is_err(), "{other}");
        }
    }

    #[test]
    fn only_a_whole_trace_is_kept() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", good.parse().unwrap());
        assert_eq!(read_traceparent(&headers).as_deref(), Some(good));
        for bad in ["00-x", "", "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"] {
            headers.insert("traceparent", bad.parse().unwrap());
            assert_eq!(read_traceparent(&headers), None, "{bad}");
        }
    }
}
