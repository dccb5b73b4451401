//! Defines the stored data: memories, observations, reflections.

use std::fmt;
use std::str::FromStr;

use lango_protocol::{SessionId, Timestamp, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Defines an enum that is stored as a word in a column.
macro_rules! stored_word {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Returns the word in the database.
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
        /// A person.
        Person = "person",
    }
}

stored_word! {
    /// The origin of a memory.
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
    /// Returns the origin in words, for a prompt.
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
    /// The importance of an observation.
    Priority {
        /// Identity, wishes and decisions of the user.
        High = "high",
        /// Facts about the user's work.
        Medium = "medium",
        /// The rest.
        Low = "low",
    }
}

/// Represents a message that stored data comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceMessage {
    /// The id of the event.
    pub event: String,
    /// Its position in the session.
    pub seq: u64,
}

/// Is something known about the user, across conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredMemory {
    /// The id, such as `m_3f2k9`.
    pub id: String,
    /// The kind.
    pub kind: MemoryKind,
    /// The text.
    pub content: String,
    /// The subject; may be empty.
    pub about: String,
    /// The origin.
    pub origin: MemoryOrigin,
    /// The memory that superseded it; none while it holds.
    pub superseded_by: Option<String>,
    /// The time it is about.
    pub at: Timestamp,
    /// The time of storing.
    pub created_at: Timestamp,
    /// The conversation it comes from.
    pub session: Option<SessionId>,
    /// The turn it comes from.
    pub turn: Option<TurnId>,
    /// The messages it comes from.
    pub sources: Vec<SourceMessage>,
}

/// Represents a short note of something said in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Observation {
    /// The id, such as `o_3f2k9`.
    pub id: String,
    /// The conversation.
    pub session: SessionId,
    /// The text.
    pub content: String,
    /// The priority.
    pub priority: Priority,
    /// The time it is about.
    pub at: Timestamp,
    /// The time of writing.
    pub created_at: Timestamp,
    /// True if it is a sentence of the user as it was said, because no model was available.
    pub extractive: bool,
    /// The positions of the first and the last message it comes from.
    pub range: (u64, u64),
    /// The messages it comes from.
    pub sources: Vec<SourceMessage>,
    /// The reflection that condensed it.
    pub condensed_by: Option<String>,
}

/// Represents a summary of observations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reflection {
    /// The id, such as `r_3f2k9`.
    pub id: String,
    /// The conversation.
    pub session: SessionId,
    /// The text.
    pub content: String,
    /// The subject; empty for everything.
    pub about: String,
    /// The number of this reflection in its session, from 1.
    pub generation: u64,
    /// True if it is a choice of observations, because no model was available.
    pub extractive: bool,
    /// The time of writing.
    pub created_at: Timestamp,
    /// The observations it comes from.
    pub sources: Vec<String>,
}

/// Generates an id: a letter and six characters that are easy to tell apart.
pub(crate) fn generate_id(letter: char) -> String {
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
