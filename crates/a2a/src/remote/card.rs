//! Reads an agent's card: its identity, its skills and its addresses, as it claims them.

use lango_egress::Url;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::error::RemoteError;
use super::wire::{Binding, Version, check_depth};
use crate::signature::{SignatureError, TrustedKey, verify_card};
use crate::wire::canonical::render_canonical;

/// Limits the size of a card.
pub(crate) const MAX_CARD_BYTES: usize = 256 * 1024;
const MAX_SKILL_COUNT: usize = 200;

/// The members of a card that matter for trust: a change in any of them is a change of the agent.
const TRUST_FIELDS: [&str; 12] = [
    "additionalInterfaces",
    "description",
    "name",
    "preferredTransport",
    "protocolVersion",
    "provider",
    "security",
    "securityRequirements",
    "securitySchemes",
    "skills",
    "supportedInterfaces",
    "url",
];

/// A parsed card. Its texts are not trusted.
#[derive(Debug, Clone)]
pub struct Card {
    /// The name that the agent gives itself.
    pub name: String,
    /// The description that the agent gives of itself.
    pub description: String,
    /// The version of the agent.
    pub version: String,
    /// The organization that claims to run it.
    pub provider: Option<String>,
    /// The skills that it claims to have.
    pub skills: Vec<Skill>,
    /// The supported interfaces, the preferred one first.
    pub interfaces: Vec<Interface>,
    /// All offered interfaces, supported or not, for messages.
    pub offered: Vec<String>,
    /// True if it can stream its answers.
    pub streaming: bool,
    /// The media types that it accepts.
    pub input_modes: Vec<String>,
    /// The names of its security schemes; empty if it has none.
    pub security: Vec<String>,
    /// The number of signatures on the card.
    pub signatures: usize,
    /// The card as it was received.
    pub json: Value,
}

/// A skill that an agent claims to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its keywords.
    pub tags: Vec<String>,
}

/// An address of an agent, with its binding and version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// The address.
    pub url: Url,
    /// The binding.
    pub binding: Binding,
    /// The version of the protocol.
    pub version: Version,
    /// The tenant, if several agents share one address.
    pub tenant: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireCard {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    version: String,
    provider: Option<WireProvider>,
    #[serde(default)]
    skills: Vec<WireSkill>,
    #[serde(default)]
    capabilities: WireCapabilities,
    #[serde(default)]
    default_input_modes: Vec<String>,
    #[serde(default)]
    supported_interfaces: Vec<WireInterface>,
    #[serde(default)]
    security_schemes: serde_json::Map<String, Value>,
    #[serde(default)]
    signatures: Vec<Value>,
    // The members of 0.3.
    url: Option<String>,
    preferred_transport: Option<String>,
    protocol_version: Option<String>,
    #[serde(default)]
    additional_interfaces: Vec<WireTransport>,
}

#[derive(Deserialize)]
struct WireProvider {
    #[serde(default)]
    organization: String,
}

#[derive(Deserialize)]
struct WireSkill {
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize, Default)]
struct WireCapabilities {
    #[serde(default)]
    streaming: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireInterface {
    #[serde(default)]
    url: String,
    #[serde(default)]
    protocol_binding: String,
    #[serde(default)]
    protocol_version: String,
    tenant: Option<String>,
}

#[derive(Deserialize)]
struct WireTransport {
    #[serde(default)]
    url: String,
    #[serde(default)]
    transport: String,
}

impl Card {
    /// Reads a card that was fetched from `url`.
    pub fn read(url: &str, body: &[u8]) -> Result<Self, RemoteError> {
        let wrong = |reason: String| RemoteError::NotACard { url: url.to_owned(), reason };
        if body.len() > MAX_CARD_BYTES {
            return Err(wrong(format!("it is longer than {MAX_CARD_BYTES} bytes")));
        }
        check_depth(body).map_err(|error| wrong(error.to_string()))?;
        let unreadable = |error: serde_json::Error| wrong(error.to_string());
        let json: Value = serde_json::from_slice(body).map_err(unreadable)?;
        let card = WireCard::deserialize(&json).map_err(unreadable)?;
        if card.name.trim().is_empty() {
            return Err(wrong("it has no name".to_owned()));
        }
        if card.skills.len() > MAX_SKILL_COUNT {
            return Err(wrong(format!("it has more than {MAX_SKILL_COUNT} skills")));
        }
        let (interfaces, offered) = interfaces(&card);
        Ok(Self {
            interfaces,
            offered,
            name: card.name,
            description: card.description,
            version: card.version,
            provider: card.provider.map(|provider| provider.organization),
            skills: card.skills.into_iter().map(Skill::from).collect(),
            streaming: card.capabilities.streaming,
            input_modes: card.default_input_modes,
            security: card.security_schemes.keys().cloned().collect(),
            signatures: card.signatures.len(),
            json,
        })
    }

    /// Returns the SHA-256 of all members that matter for trust, independent of their order.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for field in TRUST_FIELDS {
            if let Some(value) = self.json.get(field).filter(|value| !value.is_null()) {
                hash.update(format!("{field}:{}\n", render_canonical(value)));
            }
        }
        lango_text::hex(hash.finalize())
    }

    /// Returns the members that matter for trust, one per line, to compare two cards.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for field in TRUST_FIELDS {
            match self.json.get(field) {
                None | Some(Value::Null) => {}
                Some(Value::Array(items)) => {
                    lines.extend(
                        items.iter().map(|item| format!("{field}: {}", render_canonical(item))),
                    );
                }
                Some(value) => lines.push(format!("{field}: {}", render_canonical(value))),
            }
        }
        lines
    }

    /// Verifies the card's signature if the user has keys for it; a signature is then required.
    /// Returns the id of the key that made it.
    pub fn verify(&self, keys: &[TrustedKey]) -> Result<Option<String>, RemoteError> {
        if keys.is_empty() {
            return Ok(None);
        }
        let wrong = |error: SignatureError| RemoteError::BadSignature { reason: error.to_string() };
        verify_card(&self.json, keys).map(Some).map_err(wrong)
    }

    /// Returns the interface to use: the first supported one.
    pub fn interface(&self) -> Result<&Interface, RemoteError> {
        self.interfaces.first().ok_or_else(|| RemoteError::NoCommonInterface {
            offered: match self.offered.as_slice() {
                [] => "no interface".to_owned(),
                offered => offered.join(", "),
            },
        })
    }
}

/// Formats the skill for the agents that decide about a delegation.
impl std::fmt::Display for Skill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        if !self.description.is_empty() {
            write!(f, ": {}", self.description)?;
        }
        if !self.tags.is_empty() {
            write!(f, ", {}", self.tags.join(", "))?;
        }
        Ok(())
    }
}

impl From<WireSkill> for Skill {
    fn from(skill: WireSkill) -> Self {
        let name = if skill.name.is_empty() { skill.id } else { skill.name };
        Self { name, description: skill.description, tags: skill.tags }
    }
}

/// Returns the supported interfaces, the newer version first and otherwise in the card's order, and
/// the names of all offered ones.
fn interfaces(card: &WireCard) -> (Vec<Interface>, Vec<String>) {
    let mut places: Vec<(&str, &str, &str, Option<&str>)> = Vec::new();
    for offer in &card.supported_interfaces {
        let tenant = offer.tenant.as_deref().filter(|tenant| !tenant.is_empty());
        places.push((&offer.url, &offer.protocol_binding, &offer.protocol_version, tenant));
    }
    let version = card.protocol_version.as_deref().unwrap_or("0.3");
    if let Some(url) = &card.url {
        let transport = card.preferred_transport.as_deref().unwrap_or("JSONRPC");
        places.push((url, transport, version, None));
    }
    for offer in &card.additional_interfaces {
        places.push((&offer.url, &offer.transport, version, None));
    }
    let offered = places.iter().map(|(_, binding, version, _)| format!("{binding} {version}"));
    let offered = offered.collect();
    let mut spoken: Vec<Interface> = places
        .into_iter()
        .filter_map(|(url, binding, version, tenant)| {
            let version = match version {
                one if one == "1" || one.starts_with("1.") => Version::One,
                zero if zero.starts_with("0.3") => Version::ZeroThree,
                _ => return None,
            };
            let binding = match (binding, version) {
                ("JSONRPC", _) => Binding::JsonRpc,
                ("HTTP+JSON", Version::One) => Binding::HttpJson,
                _ => return None,
            };
            // An interface without a valid address is not one that can be used.
            let url = Url::parse(url).ok()?;
            Some(Interface { url, binding, version, tenant: tenant.map(str::to_owned) })
        })
        .collect();
    spoken.sort_by_key(|interface| interface.version == Version::ZeroThree);
    (spoken, offered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(json: &str) -> Card {
        Card::read("http://a/", json.as_bytes()).unwrap()
    }

    #[test]
    fn the_first_interface_that_is_spoken_here_is_used() {
        let both = card(
            r#"{"name":"a","url":"http://a/old","protocolVersion":"0.3.0","preferredTransport":"JSONRPC",
            "supportedInterfaces":[{"url":"http://a/g","protocolBinding":"GRPC","protocolVersion":"1.0"},
            {"url":"http://a/r","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
            {"url":"http://a/j","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#,
        );
        let urls: Vec<&str> = both.interfaces.iter().map(|i| i.url.path()).collect();
        assert_eq!(urls, ["/r", "/j", "/old"]);
        let old = card(
            r#"{"name":"a","url":"http://a/g","preferredTransport":"GRPC",
            "additionalInterfaces":[{"url":"http://a/j","transport":"JSONRPC"}]}"#,
        );
        assert_eq!(old.interface().unwrap().url.path(), "/j");
        assert_eq!(old.interface().unwrap().version, Version::ZeroThree);
        let none = card(r#"{"name":"a","url":"http://a/","protocolVersion":"0.2.1"}"#);
        assert!(none.interface().unwrap_err().to_string().contains("JSONRPC 0.2.1"));
    }

    #[test]
    fn a_digest_changes_with_what_matters_and_with_nothing_else() {
        let first = card(
            r#"{"name":"a","description":"d","skills":[{"id":"x","tags":["t"]}],"version":"1"}"#,
        );
        let same = card(
            r#"{"skills":[{"tags":["t"],"id":"x"}], "version":"2","description":"d","name":"a","iconUrl":"i"}"#,
        );
        assert_eq!(first.digest(), same.digest());
        assert_eq!(first.digest().len(), 64);
        for other in [
            r#"{"name":"b","description":"d","skills":[{"id":"x","tags":["t"]}]}"#,
            r#"{"name":"a","description":"d","skills":[{"id":"x","tags":["t","u"]}]}"#,
            r#"{"name":"a","description":"d","skills":[{"id":"x","tags":["t"]}],"url":"http://b/"}"#,
            r#"{"name":"a","description":"d","skills":[{"id":"x","tags":["t"]}],"securitySchemes":{"k":{}}}"#,
        ] {
            assert_ne!(first.digest(), card(other).digest(), "{other}");
        }
    }

    #[test]
    fn what_is_no_card_is_refused() {
        let many = format!(r#"{{"name":"a","skills":[{}]}}"#, vec!["{}"; 300].join(","));
        for json in ["", "[]", "{}", r#"{"name":" "}"#, r#"{"name":5}"#, "<html>", many.as_str()] {
            assert!(Card::read("http://a/", json.as_bytes()).is_err(), "{json:.40}");
        }
    }
}
