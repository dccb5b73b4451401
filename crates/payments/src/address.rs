//! Defines addresses of accounts, checked before anything is paid to them.

use std::fmt;
use std::str::FromStr;

use alloy_primitives::Address;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const HEX_DIGITS: usize = 40;

/// Says why a text is no address to pay to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It does not have the form of an address.
    #[error("{0:?} is not an address: it has to be 0x and 40 hexadecimal digits")]
    Form(String),
    /// Its upper and lower case letters do not fit its digits, so one of them is wrong.
    #[error("the checksum of {0} is wrong: a character of it was changed. Copy the address again")]
    Checksum(String),
    /// No one has this address.
    #[error("{0} is the zero address, from which no money comes back")]
    Zero(String),
}

/// The address of an account or a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountAddress(Address);

impl AccountAddress {
    /// Creates an address from its bytes.
    pub const fn new(address: Address) -> Self {
        Self(address)
    }

    /// Returns its bytes.
    pub const fn get(self) -> Address {
        self.0
    }

    /// Returns it in lower case, as the database stores it.
    pub(crate) fn to_sql(self) -> String {
        format!("{:#x}", self.0)
    }
}

/// Reads an address. If its letters have both cases, they are a checksum (EIP-55), which must fit.
impl FromStr for AccountAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let form = || AddressError::Form(lango_text::make_visible_short(text));
        let digits = text.strip_prefix("0x").ok_or_else(form)?;
        if digits.len() != HEX_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(form());
        }
        let address: Address = text.parse().map_err(|_| form())?;
        let has_upper = digits.bytes().any(|byte| byte.is_ascii_uppercase());
        let has_lower = digits.bytes().any(|byte| byte.is_ascii_lowercase());
        if has_upper && has_lower && address.to_checksum(None) != text {
            return Err(AddressError::Checksum(text.to_owned()));
        }
        if address.is_zero() {
            return Err(AddressError::Zero(text.to_owned()));
        }
        Ok(Self(address))
    }
}

/// Is written with its checksum.
impl fmt::Display for AccountAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_checksum(None))
    }
}

impl Serialize for AccountAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AccountAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITH_CHECKSUM: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

    #[test]
    fn an_address_is_read_with_or_without_a_checksum() {
        for text in [
            WITH_CHECKSUM,
            "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
            "0x833589FCD6EDB6E08F4C7C32D4F71B54BDA02913",
        ] {
            assert_eq!(text.parse::<AccountAddress>().unwrap().to_string(), WITH_CHECKSUM);
        }
    }

    #[test]
    fn a_changed_character_is_noticed() {
        let changed = WITH_CHECKSUM.replacen('D', "d", 1);
        let error = changed.parse::<AccountAddress>().unwrap_err();
        assert!(matches!(error, AddressError::Checksum(_)), "{error}");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "alice.eth",
            "833589fcd6edb6e08f4c7c32d4f71b54bda02913",
            "0x833589fcd6edb6e08f4c7c32d4f71b54bda0291",
            "0x833589fcd6edb6e08f4c7c32d4f71b54bda029133",
            "0x833589fcd6edb6e08f4c7c32d4f71b54bda0291g",
            "0X833589fcd6edb6e08f4c7c32d4f71b54bda02913",
            " 0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
        ] {
            assert!(matches!(text.parse::<AccountAddress>(), Err(AddressError::Form(_))), "{text}");
        }
        let zero = format!("0x{}", "0".repeat(40));
        assert!(matches!(zero.parse::<AccountAddress>(), Err(AddressError::Zero(_))));
    }
}
