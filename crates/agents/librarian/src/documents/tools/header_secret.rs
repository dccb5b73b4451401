//! Sends a secret to one site, as a header of the requests for a page.
//!
//! A model names a handle. The value is resolved after the call was approved, goes to the site that the
//! question named, and to no other: a redirect does not take it along.

use lango_egress::{HeaderMap, HeaderName, HeaderValue};
use lango_keystore::{HandlePlace, HandleUse, SecretHandles};
use lango_text::make_visible;
use lango_tool::{Proposal, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use super::super::ingest::SiteCredential;

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

/// A secret that goes to the site of an address, as a header.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HeaderSecret {
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
    fn header(&self) -> &str {
        self.header.as_deref().unwrap_or(DEFAULT_HEADER)
    }

    fn scheme(&self) -> Option<&str> {
        let is_usual = self.header().eq_ignore_ascii_case(DEFAULT_HEADER);
        self.scheme.as_deref().or(is_usual.then_some(DEFAULT_SCHEME))
    }

    /// Returns the value of an approved call, as the header that its site gets.
    pub(super) async fn resolve(
        &self,
        handles: &SecretHandles,
        url: &Url,
        context: &ToolContext,
    ) -> Result<SiteCredential, ToolError> {
        let name = self.check_header()?;
        let origin = url.origin().ascii_serialization();
        let use_ = HandleUse {
            session: &context.session,
            agent: &context.agent,
            place: HandlePlace::Header,
            origin: Some(&origin),
            what: format!("the header {name} for {origin}"),
        };
        let value = handles.resolve(&self.handle, use_).await;
        let value = value.map_err(|error| ToolError::Failed(error.to_string()))?;
        let scheme = self.scheme().map_or(String::new(), |scheme| format!("{scheme} "));
        let text = [scheme.as_bytes(), value.reveal()].concat();
        let fits = HeaderValue::from_bytes(&text);
        let mut text = fits.map_err(|_| {
            ToolError::Failed("the value has characters that no header can have".to_owned())
        })?;
        text.set_sensitive(true);
        Ok(SiteCredential { origin, headers: HeaderMap::from_iter([(name, text)]) })
    }

    /// Adds the secret to a proposal. A user is asked about it, whatever rules allow.
    pub(super) fn propose(
        &self,
        handles: &SecretHandles,
        address: &str,
        proposal: Proposal,
    ) -> Proposal {
        let header = make_visible(self.header());
        let label = handles.describe(&self.handle).map(|info| make_visible(&info.label));
        let (line, reason) = match label {
            Some(label) => {
                let origin = Url::parse(address).map(|url| url.origin().ascii_serialization());
                let origin = make_visible(&origin.unwrap_or_default());
                let line = format!(
                    "with the secret {label} as the header {header}\nIts value goes to {origin} and to \
                     no other site."
                );
                (line, format!("it sends the secret {label}"))
            }
            None => (
                format!(
                    "with a secret as the header {header} (will be refused: the handle is not valid)"
                ),
                "it sends a secret".to_owned(),
            ),
        };
        let summary = format!("{}\n{line}", proposal.summary);
        Proposal { summary, always_ask: Some(proposal.always_ask.unwrap_or(reason)), ..proposal }
    }

    fn check_header(&self) -> Result<HeaderName, ToolError> {
        let refused = |name: &str| {
            let name = make_visible(name);
            ToolError::Arguments(format!("{name} is no header for a secret"))
        };
        let name: HeaderName = self.header().parse().map_err(|_| refused(self.header()))?;
        if DECISIVE.contains(&name.as_str()) {
            return Err(refused(name.as_str()));
        }
        let is_word =
            |word: &str| word.chars().all(|one| one.is_ascii_alphanumeric() || one == '-');
        if self.scheme.as_deref().is_some_and(|scheme| !is_word(scheme) || scheme.is_empty()) {
            return Err(ToolError::Arguments("scheme is one word, such as Bearer".to_owned()));
        }
        Ok(name)
    }
}
