//! Fetches cards.

use std::time::Duration;

use lango_egress::{
    ClientLimits, FetchedResponse, GuardedClient, HeaderMap, HeaderName, HeaderValue, Method,
    StatusCode,
};
use lango_protocol::Timestamp;

use super::card::{Card, MAX_CARD_BYTES};
use super::cards::{CacheValidators, TrustedCard};
use super::config::RemoteConfig;
use super::error::RemoteError;

/// Limits how long a card counts as fresh, whatever its server says.
const MAX_FRESHNESS: Duration = Duration::from_hours(1);
const MAX_REDIRECT_COUNT: usize = 3;
/// Longer cache validators are not stored.
const MAX_VALIDATOR_BYTES: usize = 500;

/// The response to a request for a card.
pub(crate) enum CardResponse {
    /// A card, perhaps a different one.
    Body { body: String, validators: CacheValidators },
    /// The server reports no change.
    Unchanged { validators: CacheValidators },
}

/// A card as fetched now, not yet trusted.
#[derive(Debug)]
pub struct FetchedCard {
    /// The card.
    pub card: Card,
    /// The id of the key that signed it, if the user has keys for it.
    pub signed_by: Option<String>,
    pub(crate) body: String,
    pub(crate) validators: CacheValidators,
    pub(crate) endpoint: String,
}

/// Fetches a card, regardless of the stored one, and checks its signature and its endpoint.
pub async fn fetch_card(
    config: &RemoteConfig,
    timeout: Duration,
) -> Result<FetchedCard, RemoteError> {
    match fetch(config, None, timeout).await? {
        CardResponse::Body { body, validators } => check_card(config, body, validators),
        // No validators were sent, so the server cannot report "not modified".
        CardResponse::Unchanged { .. } => Err(RemoteError::NotACard {
            url: config.card_url.to_string(),
            reason: "the server says that nothing changed, and nothing is known".to_owned(),
        }),
    }
}

/// Parses and checks a received card.
pub(crate) fn check_card(
    config: &RemoteConfig,
    body: String,
    validators: CacheValidators,
) -> Result<FetchedCard, RemoteError> {
    let card = Card::read(config.card_url.as_str(), body.as_bytes())?;
    let signed_by = card.verify(&config.card_keys)?;
    let interface = card.interface()?;
    config.check_endpoint(interface)?;
    let endpoint = interface.url.origin().ascii_serialization();
    Ok(FetchedCard { card, signed_by, body, validators, endpoint })
}

/// Requests the card, within `timeout`.
pub(crate) async fn fetch(
    config: &RemoteConfig,
    known: Option<&TrustedCard>,
    timeout: Duration,
) -> Result<CardResponse, RemoteError> {
    let url = config.card_url.to_string();
    let unreachable = |reason: String| RemoteError::Unreachable { url: url.clone(), reason };
    let limits =
        ClientLimits { bytes: MAX_CARD_BYTES, time: timeout, redirects: MAX_REDIRECT_COUNT };
    let client = GuardedClient::new(config.guard()?, limits);
    let mut headers = conditions(known);
    let get = |headers: HeaderMap| client.send(Method::GET, &url, headers, Vec::new());
    let mut fetched = get(headers.clone()).await.map_err(|error| unreachable(error.to_string()))?;
    let is_closed = matches!(fetched.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if let (true, Some(token)) = (is_closed, &config.token) {
        // Most cards are public: the token is sent only if it is required.
        headers.insert(HeaderName::from_static("authorization"), token.clone());
        fetched = get(headers).await.map_err(|error| unreachable(error.to_string()))?;
    }
    let validators = validators(&fetched);
    match fetched.status {
        StatusCode::NOT_MODIFIED if known.is_some() => Ok(CardResponse::Unchanged { validators }),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Err(unreachable(format!("HTTP {}. {}", fetched.status.as_u16(), config.advice())))
        }
        status if status.is_success() => {
            let not_text = |_| RemoteError::NotACard {
                url: url.clone(),
                reason: "it is not UTF-8".to_owned(),
            };
            let body = String::from_utf8(fetched.body).map_err(not_text)?;
            Ok(CardResponse::Body { body, validators })
        }
        status => Err(unreachable(format!("HTTP {}", status.as_u16()))),
    }
}

fn conditions(known: Option<&TrustedCard>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static("accept"), HeaderValue::from_static("application/json"));
    // With a different card on record, the full card is fetched again.
    let Some(known) = known.filter(|known| known.offered.is_none()) else { return headers };
    let mut set = |name: &'static str, value: &Option<String>| {
        // Without the condition, the whole card is sent again.
        if let Some(value) = value.as_deref().and_then(|text| HeaderValue::from_str(text).ok()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    set("if-none-match", &known.etag);
    set("if-modified-since", &known.last_modified);
    headers
}

fn validators(fetched: &FetchedResponse) -> CacheValidators {
    let header = |name: &str| {
        let value = fetched.headers.get(name)?.to_str().ok()?;
        (value.len() <= MAX_VALIDATOR_BYTES).then(|| value.to_owned())
    };
    let age = header("cache-control").map_or(Duration::ZERO, |text| max_age(&text));
    CacheValidators {
        etag: header("etag"),
        last_modified: header("last-modified"),
        fresh_until: Timestamp::now().plus(age.min(MAX_FRESHNESS)),
    }
}

/// Returns how long a response may be used without another request.
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
