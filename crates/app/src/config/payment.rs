//! Payments: the keys of `[payment]`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// An amount as it was written, with or without quotes. It is parsed where it is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct AmountText(String);

impl AmountText {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for AmountText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for AmountText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AmountVisitor;

        impl serde::de::Visitor<'_> for AmountVisitor {
            type Value = AmountText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an amount, such as 2 or \"2.50\"")
            }

            fn visit_str<E>(self, text: &str) -> Result<AmountText, E> {
                Ok(AmountText(text.to_owned()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<AmountText, E> {
                Ok(AmountText(number.to_string()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<AmountText, E> {
                Ok(AmountText(number.to_string()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<AmountText, E> {
                // The shortest text of the number is what was written, but for zeros at its end.
                Ok(AmountText(number.to_string()))
            }
        }

        deserializer.deserialize_any(AmountVisitor)
    }
}

impl JsonSchema for AmountText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AmountText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"] })
    }
}

/// Payments in USDC.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PaymentConfig {
    /// The network that payments are made on.
    pub network: NetworkName,
    /// The address of a node; that of the network's own when absent.
    pub rpc_url: Option<String>,
    /// The id of a custom network.
    pub chain_id: Option<u64>,
    /// The contract of USDC on a custom network.
    pub token: Option<String>,
    /// An account that is used in place of the wallet that was created here. Without `signerUrl` it is
    /// only looked at.
    pub wallet: Option<String>,
    /// The address of a signer that has the key of `wallet`, over JSON-RPC.
    pub signer_url: Option<String>,
    /// The most that the network may take for one payment, in ether.
    pub max_fee: AmountText,
    /// The number of blocks, from its own on, after which a payment is confirmed.
    pub confirmations: u64,
    /// Seconds to wait for that. Then the outcome is unknown, and is looked up later.
    pub wait_seconds: u64,
    /// Limits of payments.
    pub limits: PaymentLimitsConfig,
}

impl Default for PaymentConfig {
    fn default() -> Self {
        Self {
            network: NetworkName::default(),
            rpc_url: None,
            chain_id: None,
            token: None,
            wallet: None,
            signer_url: None,
            max_fee: "0.0005".into(),
            confirmations: 2,
            wait_seconds: 30,
            limits: PaymentLimitsConfig::default(),
        }
    }
}

/// The networks that payments are made on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkName {
    /// The test network of Base, whose money has no value.
    #[default]
    BaseSepolia,
    /// Base.
    Base,
    /// Another one: set `rpcUrl`, `chainId` and `token`.
    Custom,
}

/// Limits of payments, in USDC.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PaymentLimitsConfig {
    /// The most of one payment.
    pub per_payment: AmountText,
    /// The most within 24 hours.
    pub per_day: AmountText,
    /// The most to one recipient within 24 hours.
    pub per_recipient: AmountText,
    /// The only recipients, if there are any.
    pub allowed_recipients: Vec<String>,
    /// Smaller payments are made without a question; 0: none.
    pub auto_approve_below: AmountText,
}

impl Default for PaymentLimitsConfig {
    fn default() -> Self {
        Self {
            per_payment: "10".into(),
            per_day: "50".into(),
            per_recipient: "25".into(),
            allowed_recipients: Vec::new(),
            auto_approve_below: "0".into(),
        }
    }
}
