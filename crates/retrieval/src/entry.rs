//! What is put in.

use std::fmt;

/// Whose texts they are. A search stays within one space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Files and pages that were ingested.
    Documents,
    /// Facts, rules and definitions, by key.
    Knowledge,
    /// Lessons from failures.
    Learnings,
    /// What is known about the user and past conversations.
    Memories,
}

impl Space {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Documents, Self::Knowledge, Self::Learnings, Self::Memories];

    /// Its name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Knowledge => "knowledge",
            Self::Learnings => "learnings",
            Self::Memories => "memories",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|space| space.as_str() == name)
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Which entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryKey {
    /// Whose it is.
    pub space: Space,
    /// A part of the space with a name of its owner's choice.
    pub collection: String,
    /// Unique in the collection: a path, an address, an id.
    pub key: String,
}

impl EntryKey {
    /// A key.
    pub fn new(space: Space, collection: impl Into<String>, key: impl Into<String>) -> Self {
        Self { space, collection: collection.into(), key: key.into() }
    }
}

/// An entry to put in. One with the same key is replaced.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// Which.
    pub key: EntryKey,
    /// What people call it. Searched along with each passage.
    pub title: String,
    /// Where it comes from, as a hit shows it.
    pub source: String,
    /// Changes when the content does. An entry with the digest that is already there is left alone.
    pub digest: String,
    /// The text, in order.
    pub passages: Vec<NewPassage>,
}

/// A piece of an entry, short enough to be read at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPassage {
    /// The headings it stands under, such as `Install > Linux`; may be empty.
    pub heading: String,
    /// The text.
    pub text: String,
    /// Where in the entry, as a hit shows it, such as `lines 12-40`; may be empty.
    pub position: String,
}

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It is new.
    Added,
    /// There was another one with this key.
    Replaced,
    /// It was there already.
    Unchanged,
}

/// An entry that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySummary {
    /// Which.
    pub key: EntryKey,
    /// What people call it.
    pub title: String,
    /// Where it comes from.
    pub source: String,
    /// See [`NewEntry::digest`].
    pub digest: String,
    /// How many passages it has.
    pub passages: u64,
    /// When it was put in, in microseconds since the epoch.
    pub at: i64,
}
