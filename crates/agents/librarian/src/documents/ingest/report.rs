//! What an ingest says while it runs and when it has ended.

use serde::Serialize;

use super::super::read::Unreadable;

/// How far an ingest is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Files and pages that are done, whatever came of them.
    pub done: u64,
    /// All of them.
    pub total: u64,
    /// Passages that were written.
    pub passages: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// How many could not be read.
    pub skipped: u64,
    /// The file or page that was done last.
    pub current: &'a str,
}

/// What came of an ingest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Documents that are new.
    pub added: u64,
    /// Documents that had changed.
    pub replaced: u64,
    /// Documents that were there as they are.
    pub unchanged: u64,
    /// Documents that were there and have gone, by their keys.
    pub removed: Vec<String>,
    /// Passages of the documents that are new or had changed.
    pub passages: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// What could not be read, and why.
    pub skipped: Vec<Skipped>,
    /// What was read in a way that should be known.
    pub notes: Vec<Note>,
    /// Entries of directories that are hidden or ignored.
    pub left_out: u64,
    /// Whether it was stopped before its end. Doing it again goes on from there.
    pub cancelled: bool,
}

impl Report {
    /// Documents that are in the collection now, of those that were looked at.
    pub fn documents(&self) -> u64 {
        self.added + self.replaced + self.unchanged
    }

    /// Whether nothing came of it, though something was there.
    pub fn failed(&self) -> bool {
        self.documents() == 0 && self.removed.is_empty() && !self.skipped.is_empty()
    }
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// A path or an address.
    pub source: String,
    /// Why.
    #[serde(serialize_with = "in_words")]
    pub reason: Unreadable,
}

fn in_words<S: serde::Serializer>(reason: &Unreadable, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(reason)
}

/// Something about a document that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// A path or an address.
    pub source: String,
    /// What should be known.
    pub note: String,
}
