//! Defines what the vault keeps: entries of a kind, each with a name.

use std::fmt;
use std::str::FromStr;

use lango_protocol::Timestamp;
use serde::{Deserialize, Serialize};

/// Limits the characters of a name.
const MAX_NAME_CHARACTERS: usize = 128;

/// The kinds of entries. Names of different kinds do not collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A value of the user: a password, a token.
    Secret,
    /// A key that signs: the 32 bytes of an Ed25519 seed.
    Ed25519,
    /// A key that encrypts: the 32 bytes of an XChaCha20-Poly1305 key.
    Xchacha20,
    /// A key that receives encrypted files: an `age` identity.
    Age,
    /// A key of a wallet: the 32 bytes of a secp256k1 key.
    Secp256k1,
    /// A credential that the program keeps for itself, such as a token of an MCP server.
    Credential,
}

impl EntryKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::Secret,
        Self::Ed25519,
        Self::Xchacha20,
        Self::Age,
        Self::Secp256k1,
        Self::Credential,
    ];

    /// The kinds that `crypto_keys` and `lango keys` show.
    pub const KEYS: &[Self] = &[Self::Ed25519, Self::Xchacha20, Self::Age, Self::Secp256k1];

    /// Returns the name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Ed25519 => "ed25519",
            Self::Xchacha20 => "xchacha20",
            Self::Age => "age",
            Self::Secp256k1 => "secp256k1",
            Self::Credential => "credential",
        }
    }

    /// Returns the kind with a name in the database.
    pub(crate) fn from_stored(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == name)
    }

    pub(crate) fn list_command(self) -> &'static str {
        match self {
            Self::Secret | Self::Credential => "lango secrets list",
            _ => "lango keys list",
        }
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Secret => "secret",
            Self::Ed25519 => "ed25519 key",
            Self::Xchacha20 => "xchacha20 key",
            Self::Age => "age key",
            Self::Secp256k1 => "wallet key",
            Self::Credential => "credential",
        })
    }
}

/// Names an entry: up to 128 visible characters on one line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct EntryName(String);

/// A text that is no name of an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no name: use 1 to 128 letters, digits, spaces and the characters . _ - / : @ + such as \
     github-token"
)]
pub struct InvalidEntryName(String);

impl EntryName {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EntryName {
    type Err = InvalidEntryName;

    fn from_str(text: &str) -> Result<Self, InvalidEntryName> {
        let allowed =
            |character: char| character.is_alphanumeric() || " ._-/:@+".contains(character);
        let is_name = !text.is_empty()
            && text.trim() == text
            && text.chars().count() <= MAX_NAME_CHARACTERS
            && text.chars().all(allowed);
        if is_name { Ok(Self(text.to_owned())) } else { Err(InvalidEntryName(text.to_owned())) }
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Holds what is stored with an entry in plain text. It cannot be changed without the entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EntryAttributes {
    /// The public part of a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
    /// The only site on which it may be typed, and the only host that it may be sent to, if it is
    /// bound to one: an origin such as `https://github.com`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The address that a credential belongs to; it is not sent to another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}

/// Describes an entry without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntryInfo {
    /// Its kind.
    pub kind: EntryKind,
    /// Its name.
    pub name: EntryName,
    /// How often its value was replaced, counted from 1.
    pub version: u64,
    /// What is stored with it in plain text.
    pub attributes: EntryAttributes,
    /// The time of its creation.
    pub created_at: Timestamp,
    /// The time of its last change.
    pub updated_at: Timestamp,
    /// The time of its last use.
    pub used_at: Option<Timestamp>,
    /// The number of its uses.
    pub uses: u64,
}
