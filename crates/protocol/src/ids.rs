//! Defines identifiers. Each is its own type, so that a turn is never looked up by a session's id.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Says why a text is not a valid name or id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {given:?} is not valid: {rule}")]
pub struct InvalidName {
    what: &'static str,
    given: String,
    rule: &'static str,
}

impl InvalidName {
    fn new(what: &'static str, given: &str, rule: &'static str) -> Self {
        Self { what, given: given.chars().take(80).collect(), rule }
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.as_ref().to_owned()
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;

            fn try_from(text: String) -> Result<Self, InvalidName> {
                text.parse()
            }
        }
    };
}

text_id! {
    /// Identifies a conversation. It is chosen by the user (`--session work`) or generated.
    SessionId
}

impl SessionId {
    const RULE: &'static str =
        "use 1 to 64 letters, digits, '-', '_' or '.', starting with a letter or digit";

    /// Has no characters that look alike; they are in the order of their codes.
    const ALPHABET: &'static [u8] = b"23456789abcdefghjkmnpqrstuvwxyz";

    /// Generates an id that users can read out: the day, four characters for the time of day and
    /// four random ones. Later ids are greater, which keeps new conversations together in the
    /// database.
    pub fn generate() -> Self {
        let now = jiff::Zoned::now();
        let midnight = now.start_of_day().map_or(now.timestamp(), |day| day.timestamp());
        let tenths = now.timestamp().duration_since(midnight).as_millis() / 100;
        let mut time = u64::try_from(tenths).unwrap_or(0);
        let base = Self::ALPHABET.len() as u64;
        let mut characters = [0_u8; 4];
        for character in characters.iter_mut().rev() {
            *character = Self::ALPHABET[usize::try_from(time % base).unwrap_or(0)];
            time /= base;
        }
        let time = String::from_utf8_lossy(&characters);
        let random = random_characters(4, Self::ALPHABET);
        Self(format!("{}-{time}{random}", now.strftime("%Y%m%d")).into())
    }
}

impl FromStr for SessionId {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let first = text.chars().next().is_some_and(|c| c.is_ascii_alphanumeric());
        if first && text.len() <= 64 && text.chars().all(allowed) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidName::new("session id", text, Self::RULE))
        }
    }
}

text_id! {
    /// Names an agent, exactly as the routing table spells it.
    AgentName
}

impl AgentName {
    const RULE: &'static str = "use 1 to 64 lower-case letters, digits or single '-', \
                                starting with a letter, and none of the reserved names";
}

impl FromStr for AgentName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let shape = text.starts_with(|c: char| c.is_ascii_lowercase())
            && !text.ends_with('-')
            && !text.contains("--")
            && text.len() <= 64
            && text.chars().all(allowed);
        let reserved = text == crate::USER || text == crate::RUNTIME;
        if shape && !reserved {
            Ok(Self(text.into()))
        } else {
            Err(InvalidName::new("agent name", text, Self::RULE))
        }
    }
}

text_id! {
    /// Names an API client of the server; the name comes from the user's configuration.
    Caller
}

impl FromStr for Caller {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let first = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        if first && text.len() <= 64 && text.chars().all(allowed) {
            Ok(Self(text.into()))
        } else {
            let rule = "use 1 to 64 lower-case letters, digits or '-', not starting with '-'";
            Err(InvalidName::new("caller", text, rule))
        }
    }
}

text_id! {
    /// Identifies one call of a tool or one transfer. It is generated here, never taken from a
    /// model, so that a model that repeats an id cannot make two calls look like one. It has nine
    /// letters or digits, because that is the narrowest form any provider asks for.
    CallId
}

impl CallId {
    /// Generates a new id.
    pub fn generate() -> Self {
        const ALPHABET: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        Self(random_characters(9, ALPHABET).into())
    }
}

impl FromStr for CallId {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        if text.len() == 9 && text.bytes().all(|b| b.is_ascii_alphanumeric()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidName::new("call id", text, "use nine letters or digits"))
        }
    }
}

macro_rules! time_ordered_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Generates an id that is later than every id generated before it on this machine.
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidName;

            fn from_str(text: &str) -> Result<Self, InvalidName> {
                Uuid::parse_str(text)
                    .map(Self)
                    .map_err(|_| InvalidName::new(stringify!($name), text, "expected a UUID"))
            }
        }
    };
}

time_ordered_id! {
    /// Identifies one turn: everything between a message of the user and its answer.
    TurnId
}

time_ordered_id! {
    /// Identifies one event of the journal or of a live stream.
    EventId
}

/// Returns random characters of `alphabet`, from the random bits of a version 4 UUID.
fn random_characters(count: u32, alphabet: &[u8]) -> String {
    let mut bits = Uuid::new_v4().as_u128() >> 2;
    let base = alphabet.len() as u128;
    (0..count)
        .map(|_| {
            let index = usize::try_from(bits % base).unwrap_or(0);
            bits /= base;
            char::from(alphabet[index])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_refuse_what_could_be_a_path_or_a_flag() {
        for bad in ["", "../x", "a/b", "-x", ".hidden", "a b", "ä", &"x".repeat(65)] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad:?}");
        }
        for good in ["work", "20261115-abc123", "A.b_c-1"] {
            assert_eq!(good.parse::<SessionId>().unwrap().as_str(), good);
        }
        assert!(SessionId::generate().as_str().parse::<SessionId>().is_ok());
    }

    #[test]
    fn later_session_ids_are_greater() {
        let earlier = SessionId::generate();
        std::thread::sleep(std::time::Duration::from_millis(110));
        let later = SessionId::generate();
        // Unless midnight was in between, which changes the day and keeps the order.
        assert!(later > earlier, "{earlier} {later}");
        assert_eq!(later.as_str().len(), "20261115-abcdwxyz".len());
    }

    #[test]
    fn agent_names_are_one_exact_spelling() {
        for bad in ["", "Operator", "operator ", "a--b", "a-", "user", "lango", "оperator"] {
            assert!(bad.parse::<AgentName>().is_err(), "{bad:?}");
        }
        assert!("memory-manager".parse::<AgentName>().is_ok());
    }

    #[test]
    fn call_ids_differ_and_have_the_narrowest_form() {
        let ids: std::collections::BTreeSet<_> = (0..1000).map(|_| CallId::generate()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(ids.iter().all(|id| id.as_str().parse::<CallId>().is_ok()));
    }
}
