//! Reads and writes the documents of x402, versions 1 and 2, as far as the scheme `exact` needs them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lango_egress::{FetchedResponse, HeaderMap};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::OfferError;

/// The header of a version 2 response that asks for a payment.
const REQUIRED_HEADER: &str = "payment-required";

/// Limits the document in a header.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// The version of the protocol that a site speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

impl Version {
    /// Returns the header that carries a payment.
    pub(super) fn payment_header(self) -> &'static str {
        match self {
            Self::One => "x-payment",
            Self::Two => "payment-signature",
        }
    }

    /// Returns the header that says how the payment went.
    fn settlement_header(self) -> &'static str {
        match self {
            Self::One => "x-payment-response",
            Self::Two => "payment-response",
        }
    }
}

/// A site's request for money.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PaymentRequired {
    x402_version: u32,
    accepts: Vec<Box<RawValue>>,
    /// What is paid for; sent back as it came.
    #[serde(default)]
    resource: Option<Box<RawValue>>,
}

/// One of the ways in which a site takes money.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Requirement {
    pub(super) scheme: String,
    pub(super) network: String,
    /// The amount in base units; of version 2.
    amount: Option<String>,
    /// The amount in base units; of version 1.
    max_amount_required: Option<String>,
    pub(super) asset: String,
    pub(super) pay_to: String,
    #[serde(default)]
    pub(super) max_timeout_seconds: Option<u64>,
    #[serde(default)]
    pub(super) extra: Option<TokenNames>,
    /// The document itself, to be sent back as it came.
    #[serde(skip)]
    pub(super) document: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct TokenNames {
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
}

impl Requirement {
    pub(super) fn units(&self) -> Option<&str> {
        self.amount.as_deref().or(self.max_amount_required.as_deref())
    }
}

/// A readable request for money.
#[derive(Debug, Clone)]
pub(super) struct Requirements {
    pub(super) version: Version,
    pub(super) accepted: Vec<Requirement>,
    pub(super) resource: Option<Box<RawValue>>,
}

impl Requirements {
    /// Reads a response of status 402.
    pub(super) fn read(response: &FetchedResponse) -> Result<Self, OfferError> {
        let unreadable = |error: serde_json::Error| OfferError::Unreadable(error.to_string());
        let required: PaymentRequired = match read_header(&response.headers, REQUIRED_HEADER)? {
            Some(document) => serde_json::from_slice(&document).map_err(unreadable)?,
            None => serde_json::from_slice(&response.body).map_err(unreadable)?,
        };
        let version = match required.x402_version {
            1 => Version::One,
            2 => Version::Two,
            other => return Err(OfferError::Unreadable(format!("version {other} of x402"))),
        };
        // Ways of paying that are not known have other fields, and are none of ours.
        let accepted = required.accepts.into_iter().filter_map(|document| {
            let requirement: Requirement = serde_json::from_str(document.get()).ok()?;
            Some(Requirement { document: Some(document), ..requirement })
        });
        Ok(Self { version, accepted: accepted.collect(), resource: required.resource })
    }
}

/// The numbers of an authorization are texts on the wire.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthorizationBody {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) value: String,
    pub(super) valid_after: String,
    pub(super) valid_before: String,
    pub(super) nonce: String,
}

#[derive(Debug, Serialize)]
pub(super) struct ExactPayload {
    pub(super) signature: String,
    pub(super) authorization: AuthorizationBody,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PaymentOne<'a> {
    x402_version: u32,
    scheme: &'a str,
    network: &'a str,
    payload: &'a ExactPayload,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PaymentTwo<'a> {
    x402_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'a RawValue>,
    accepted: Option<&'a RawValue>,
    payload: &'a ExactPayload,
}

/// Writes a payment as the value of a header.
pub(super) fn write_payment(
    version: Version,
    requirement: &Requirement,
    resource: Option<&RawValue>,
    payload: &ExactPayload,
) -> Result<String, OfferError> {
    let Requirement { scheme, network, document, .. } = requirement;
    let document = match version {
        Version::One => {
            serde_json::to_vec(&PaymentOne { x402_version: 1, scheme, network, payload })
        }
        Version::Two => serde_json::to_vec(&PaymentTwo {
            x402_version: 2,
            resource,
            accepted: document.as_deref(),
            payload,
        }),
    };
    let document = document.map_err(|error| OfferError::Unreadable(error.to_string()))?;
    Ok(STANDARD.encode(document))
}

/// Says how a site says that a payment went. It is a claim; the chain decides.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Settlement {
    #[serde(default)]
    pub(super) transaction: Option<String>,
}

/// Reads what a site says about a payment; none if it says nothing that can be read.
pub(super) fn read_settlement(version: Version, headers: &HeaderMap) -> Option<Settlement> {
    let document = read_header(headers, version.settlement_header()).ok()??;
    serde_json::from_slice(&document).ok()
}

fn read_header(headers: &HeaderMap, name: &str) -> Result<Option<Vec<u8>>, OfferError> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    if value.len() > MAX_HEADER_BYTES {
        return Err(OfferError::Unreadable(format!("the header {name} is too long")));
    }
    let document = STANDARD.decode(value.as_bytes());
    document.map(Some).map_err(|_| OfferError::Unreadable(format!("the header {name}")))
}
