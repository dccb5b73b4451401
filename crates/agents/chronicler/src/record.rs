//! What is kept: memories, observations, reflections. Pure data.

use std::fmt;
use std::str::FromStr;

use lango_protocol::{SessionId, Timestamp, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A word that is stored in a column.
macro_rules! stored_word {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Its word in the database.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                match word {
                    $($word => Ok(Self::$variant),)*
                    other => Err(format!("{other:?} is none of: {}", [$($word),*].join(", "))),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

stored_word! {
    /// What a memory is.
    MemoryKind {
        /// Something that is so.
        Fact = "fact",
        /// How the user wants it.
        Preference = "preference",
        /// Something that happens at a time.
        Event = "event",
        /// Somebody.
        Person = "person",
    }
}

stored_word! {
    /// Who a memory comes from.
    MemoryOrigin {
        /// The user said it, in these words.
        Said = "said",
        /// The observer wrote it down from what the user said.
        Observed = "observed",
        /// An agent stored it, in its own words, from what the user said.
        Stored = "stored",
        /// The user wrote it with `lango memory edit`.
        Edited = "edited",
    }
}

impl MemoryOrigin {
    /// For a reader of a prompt.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Said => "said by the user",
            Self::Observed => "observed",
            Self::Stored => "stored on request",
            Self::Edited => "written by the user",
        }
    }
}

stored_word! {
    /// How much an observation matters.
    Priority {
        /// Who the user is, what they want, what was decided.
        High = "high",
        /// Facts about what they work on.
        Medium = "medium",
        /// The rest.
        Low = "low",
    }
}

/// A message that something comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceMessage {
    /// The event.
    pub event: String,
    /// Its position in the session.
    pub seq: u64,
}

/// Something that is known about the user, across conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredMemory {
    /// Such as `m_3f2k9`.
    pub id: String,
    /// What it is.
    pub kind: MemoryKind,
    /// The text.
    pub content: String,
    /// What or whom it is about; may be empty.
    pub about: String,
    /// Who it comes from.
    pub origin: MemoryOrigin,
    /// The memory that took its place; none while it holds.
    pub superseded_by: Option<String>,
    /// The time it is about.
    pub at: Timestamp,
    /// When it was stored.
    pub created_at: Timestamp,
    /// The conversation it comes from.
    pub session: Option<SessionId>,
    /// The turn it comes from.
    pub turn: Option<TurnId>,
    /// The messages it comes from.
    pub sources: Vec<SourceMessage>,
}

/// Something that was said in a conversation, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Observation {
    /// Such as `o_3f2k9`.
    pub id: String,
    /// The conversation.
    pub session: SessionId,
    /// The text.
    pub content: String,
    /// How much it matters.
    pub priority: Priority,
    /// The time it is about.
    pub at: Timestamp,
    /// When it was written.
    pub created_at: Timestamp,
    /// Whether it is a sentence of the user as it was said, because no model was at hand.
    pub extractive: bool,
    /// The positions of the first and the last message it comes from.
    pub range: (u64, u64),
    /// The messages it comes from.
    pub sources: Vec<SourceMessage>,
    /// The reflection it went into.
    pub condensed_by: Option<String>,
}

/// Observations in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reflection {
    /// Such as `r_3f2k9`.
    pub id: String,
    /// The conversation.
    pub session: SessionId,
    /// The text.
    pub content: String,
    /// What it is about; empty for everything.
    pub about: String,
    /// How many reflections of this session came before it, and one.
    pub generation: u64,
    /// Whether it is a choice of observations, because no model was at hand.
    pub extractive: bool,
    /// When it was written.
    pub created_at: Timestamp,
    /// The observations it comes from.
    pub sources: Vec<String>,
}

/// A new id: a letter and six characters that do not look alike.
pub(crate) fn fresh_id(letter: char) -> String {
    const ALPHABET: &[u8] = b"23456789abcdefghjkmnpqrstuvwxyz";
    let mut bits = Uuid::new_v4().as_u128() >> 2;
    let mut id = format!("{letter}_");
    for _ in 0..6 {
        let index = usize::try_from(bits % ALPHABET.len() as u128).unwrap_or(0);
        bits /= ALPHABET.len() as u128;
        id.push(char::from(ALPHABET[index]));
    }
    id
}

/// The day of a time, in UTC, as a prompt shows it.
pub(crate) fn day(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}
