//! Sends a secret to one site, as a header of a request that a tool makes.
//!
//! A model names a handle. The value is resolved after the call was approved, goes to the site that the
//! question named, and to no other.

use lango_egress::{HeaderName, HeaderValue, SiteCredential, Url};
use lango_protocol::{AgentName, SessionId};
use lango_text::make_visible;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{HandlePlace, HandleUse, KeyStoreError, SecretHandles};

const DEFAULT_HEADER: &str = "Authorization";
const DEFAULT_SCHEME: &str = "Bearer";

/// The headers that decide where a request goes and how it is read.
const DECISIVE: [&str; 8] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "proxy-authorization",
];

/// An argument of a tool: a secret that goes to the site of an address, as a header.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeaderSecret {
    /// Handle of the secret: `secrets_get` with use `header` and the site.
    handle: String,
    /// Name of the header; `Authorization` by default.
    #[serde(default)]
    header: Option<String>,
    /// Word before the value; `Bearer` for `Authorization`, none for others.
    #[serde(default)]
    scheme: Option<String>,
}

impl HeaderSecret {
    /// Returns the value of an approved call, as the header that the site of `url` gets.
    pub async fn resolve(
        &self,
        handles: &SecretHandles,
        url: &Url,
        session: &SessionId,
        agent: &AgentName,
    ) -> Result<SiteCredential, KeyStoreError> {
        let name = self.check_header()?;
        let origin = url.origin().ascii_serialization();
        let use_ = HandleUse {
            session,
            agent,
            place: HandlePlace::Header,
            origin: Some(&origin),
            what: format!("the header {name} for {origin}"),
        };
        let value = handles.resolve(&self.handle, use_).await?;
        let scheme = self.scheme().map_or(String::new(), |scheme| format!("{scheme} "));
        let text = HeaderValue::from_bytes(&[scheme.as_bytes(), value.reveal()].concat());
        let text = text.map_err(|_| {
            KeyStoreError::Header("the value has characters that no header can have".to_owned())
        })?;
        Ok(SiteCredential::new(origin, name, text))
    }

    /// Returns what a question says about it, and why it is always asked.
    pub fn describe(&self, handles: &SecretHandles, address: &str) -> (String, String) {
        let header = make_visible(self.header());
        let Some(info) = handles.describe(&self.handle) else {
            let line = format!(
                "with a secret as the header {header} (will be refused: the handle is not valid)"
            );
            return (line, "it sends a secret".to_owned());
        };
        let label = make_visible(&info.label);
        let origin = Url::parse(address).map(|url| url.origin().ascii_serialization());
        let origin = make_visible(&origin.unwrap_or_default());
        let line = format!(
            "with the secret {label} as the header {header}\nIts value goes to {origin} and to no other \
             site."
        );
        (line, format!("it sends the secret {label}"))
    }

    fn header(&self) -> &str {
        self.header.as_deref().unwrap_or(DEFAULT_HEADER)
    }

    fn scheme(&self) -> Option<&str> {
        let is_usual = self.header().eq_ignore_ascii_case(DEFAULT_HEADER);
        self.scheme.as_deref().or(is_usual.then_some(DEFAULT_SCHEME))
    }

    fn check_header(&self) -> Result<HeaderName, KeyStoreError> {
        let refused = |name: &str| {
            KeyStoreError::Header(format!("{} is no header for a secret", make_visible(name)))
        };
        let name: HeaderName = self.header().parse().map_err(|_| refused(self.header()))?;
        if DECISIVE.contains(&name.as_str()) {
            return Err(refused(name.as_str()));
        }
        let is_part = |part: char| part.is_ascii_alphanumeric() || part == '-';
        let is_word = |word: &str| !word.is_empty() && word.chars().all(is_part);
        if self.scheme.as_deref().is_some_and(|scheme| !is_word(scheme)) {
            let reason = "scheme is one word, such as Bearer".to_owned();
            return Err(KeyStoreError::Header(reason));
        }
        Ok(name)
    }
}
