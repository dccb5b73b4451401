//! Defines the entries that are stored.

use std::fmt;

/// Separates texts by their kind. A search finds texts of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// Files and pages that were ingested.
    Documents,
    /// Facts, rules and definitions, by key.
    Knowledge,
    /// Lessons from failures.
    Learnings,
    /// Memories about the user and past conversations.
    Memories,
}

impl EntryKind {
    /// Lists all kinds.
    pub const ALL: [Self; 4] = [Self::Documents, Self::Knowledge, Self::Learnings, Self::Memories];

    /// Returns its name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Knowledge => "knowledge",
            Self::Learnings => "learnings",
            Self::Memories => "memories",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Identifies an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryKey {
    /// The kind of text.
    pub kind: EntryKind,
    /// A part of the texts of that kind, with a name that their agent chose.
    pub collection: String,
    /// Unique in the collection: a path, an address, an id.
    pub key: String,
}

impl EntryKey {
    /// Makes a key.
    pub fn new(kind: EntryKind, collection: impl Into<String>, key: impl Into<String>) -> Self {
        Self { kind, collection: collection.into(), key: key.into() }
    }
}

/// Represents an entry to store. One with the same key is replaced.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// The key.
    pub key: EntryKey,
    /// The title for people. It is searched along with each passage.
    pub title: String,
    /// The source, as a hit shows it.
    pub source: String,
    /// Changes when the content does. An entry whose digest is already stored is not written again.
    pub digest: String,
    /// The text, in order.
    pub passages: Vec<NewPassage>,
}

/// Represents a piece of an entry, short enough to be read at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPassage {
    /// The headings it stands under, such as `Install > Linux`; may be empty.
    pub heading: String,
    /// The text.
    pub text: String,
    /// The position in the entry, as a hit shows it, such as `lines 12-40`; may be empty.
    pub position: String,
}

/// Says what happened to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// It is new.
    Added,
    /// There was another one with this key.
    Replaced,
    /// It was there already.
    Unchanged,
}

/// Describes a stored entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySummary {
    /// The key.
    pub key: EntryKey,
    /// The title for people.
    pub title: String,
    /// The source.
    pub source: String,
    /// See [`NewEntry::digest`].
    pub digest: String,
    /// The number of its passages.
    pub passages: u64,
    /// The time at which it was stored, in microseconds since the epoch.
    pub at: i64,
}
