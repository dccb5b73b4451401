//! Reads amounts and addresses as strictly as they are paid, before a person is asked about a call.

use std::borrow::Cow;

use lango_payments::{AccountAddress, UsdcAmount};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

/// An amount of USDC, which is not zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct AmountArgument(pub(super) UsdcAmount);

impl<'de> Deserialize<'de> for AmountArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        UsdcAmount::parse_payment(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for AmountArgument {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// The address of an account.
#[derive(Debug, Clone, Copy)]
pub(super) struct AddressArgument(pub(super) AccountAddress);

impl<'de> Deserialize<'de> for AddressArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AccountAddress::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for AddressArgument {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Address".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
