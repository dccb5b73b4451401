//! Fetching a card.

use std::time::Duration;

use lango_egress::{
    ClientLimits, Fetched, GuardedClient, HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
};
use lango_protocol::Timestamp;

use super::card::{Card, MOST_BYTES};
use super::cards::{Marks, TrustedCard};
use super::config::RemoteConfig;
use super::error::RemoteError;

/// A card is looked at again after this time, whatever its server says.
const LONGEST_FRESH: Duration = Duration::from_hours(1);
const REDIRECTS: usize = 3;
/// A mark that is longer than this is not kept.
const LONGEST_MARK: usize = 500;

/// What came of asking for a card.
pub(crate) enum Came {
    /// A card, perhaps another one than before.
    Body { body: String, marks: Marks },
    /// The server says that nothing changed.
    Unchanged { marks: Marks },
}

/// A card as it is now, not yet trusted.
#[derive(Debug)]
pub struct Sighting {
    /// The card.
    pub card: Card,
    /// The name of the key that it is signed with, where the user has keys for it.
    pub signed_by: Option<String>,
    pub(crate) body: String,
    pub(crate) marks: Marks,
    pub(crate) endpoint: String,
}

/// Looks at a card, whatever is known about it. It is a sound one: signed where it has to be, with an
/// endpoint that may be used.
pub async fn sight(config: &RemoteConfig, patience: Duration) -> Result<Sighting, RemoteError> {
    match fetch(config, None, patience).await? {
        Came::Body { body, marks } => sighting(config, body, marks),
        // Nothing was known, so the server cannot say that nothing changed.
        Came::Unchanged { .. } => Err(RemoteError::NotACard {
            url: config.card_url.to_string(),
            reason: "the server says that nothing changed, and nothing is known".to_owned(),
        }),
    }
}

/// Reads and checks a card that came.
pub(crate) fn sighting(
    config: &RemoteConfig,
    body: String,
    marks: Marks,
) -> Result<Sighting, RemoteError> {
    let card = Card::read(config.card_url.as_str(), body.as_bytes())?;
    let signed_by = card.verify(&config.card_keys)?;
    let interface = card.interface()?;
    config.check_endpoint(interface)?;
    let endpoint = interface.url.origin().ascii_serialization();
    Ok(Sighting { card, signed_by, body, marks, endpoint })
}

/// Asks for the card, within `patience`.
pub(crate) async fn fetch(
    config: &RemoteConfig,
    known: Option<&TrustedCard>,
    patience: Duration,
) -> Result<Came, RemoteError> {
    let url = config.card_url.to_string();
    let unreachable = |reason: String| RemoteError::Unreachable { url: url.clone(), reason };
    let limits = ClientLimits { bytes: MOST_BYTES, time: patience, redirects: REDIRECTS };
    let client = GuardedClient::new(config.guard()?, limits);
    let mut headers = conditions(known);
    let get = |headers: HeaderMap| client.send(Method::GET, &url, headers, Vec::new());
    let mut fetched = get(headers.clone()).await.map_err(|error| unreachable(error.to_string()))?;
    let is_closed = matches!(fetched.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if let (true, Some(token)) = (is_closed, &config.token) {
        // Most cards are public: the token is shown only where it is asked for.
        headers.insert(HeaderName::from_static("authorization"), token.clone());
        fetched = get(headers).await.map_err(|error| unreachable(error.to_string()))?;
    }
    let marks = marks(&fetched);
    match fetched.status {
        StatusCode::NOT_MODIFIED if known.is_some() => Ok(Came::Unchanged { marks }),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Err(unreachable(format!("HTTP {}. {}", fetched.status.as_u16(), config.advice())))
        }
        status if status.is_success() => {
            let not_text = |_| RemoteError::NotACard {
                url: url.clone(),
                reason: "it is not UTF-8".to_owned(),
            };
            let body = String::from_utf8(fetched.body).map_err(not_text)?;
            Ok(Came::Body { body, marks })
        }
        status => Err(unreachable(format!("HTTP {}", status.as_u16()))),
    }
}

fn conditions(known: Option<&TrustedCard>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static("accept"), HeaderValue::from_static("application/json"));
    // With another card on offer, the whole is wanted again.
    let Some(known) = known.filter(|known| known.offered.is_none()) else { return headers };
    let mut set = |name: &'static str, value: &Option<String>| {
        if let Some(value) = value.as_deref().and_then(|text| HeaderValue::from_str(text).ok()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    set("if-none-match", &known.etag);
    set("if-modified-since", &known.last_modified);
    headers
}

fn marks(fetched: &Fetched) -> Marks {
    let header = |name: &str| {
        let value = fetched.headers.get(name)?.to_str().ok()?;
        (value.len() <= LONGEST_MARK).then(|| value.to_owned())
    };
    let age = header("cache-control").map_or(Duration::ZERO, |text| max_age(&text));
    Marks {
        etag: header("etag"),
        last_modified: header("last-modified"),
        fresh_until: Timestamp::now().plus(age.min(LONGEST_FRESH)),
    }
}

/// How long an answer may be used without asking again.
fn max_age(text: &str) -> Duration {
    let directives = || text.split(',').map(|part| part.trim().to_ascii_lowercase());
    if directives().any(|part| part == "no-store" || part == "no-cache") {
        return Duration::ZERO;
    }
    let seconds = directives().find_map(|part| part.strip_prefix("max-age=")?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freshness_is_what_the_server_says() {
        for (text, seconds) in [
            ("public, max-age=60", 60),
            ("Max-Age=5", 5),
            ("max-age=60, no-store", 0),
            ("no-cache", 0),
            ("", 0),
            ("max-age=-1", 0),
            ("max-age=x", 0),
        ] {
            assert_eq!(max_age(text), Duration::from_secs(seconds), "{text}");
        }
    }
}
