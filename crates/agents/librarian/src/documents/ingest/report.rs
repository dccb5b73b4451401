//! Defines the progress and the report of an ingest.

use serde::Serialize;

use super::super::read::UnreadableReason;

/// Says how far an ingest is.
#[derive(Debug, Clone, Copy)]
pub struct IngestProgress<'a> {
    /// Files and pages that are done, with any outcome.
    pub done: u64,
    /// All files and pages.
    pub total: u64,
    /// Passages that were written.
    pub passages: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// The number of sources that could not be read.
    pub skipped: u64,
    /// The file or page that was done last.
    pub current: &'a str,
}

/// The result of an ingest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct IngestReport {
    /// Documents that are new.
    pub added: u64,
    /// Documents that had changed.
    pub replaced: u64,
    /// Documents that were up to date.
    pub unchanged: u64,
    /// The keys of documents that were removed.
    pub removed: Vec<String>,
    /// Passages of the documents that are new or had changed.
    pub passages: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Sources that could not be read, with the reasons.
    pub skipped: Vec<SkippedSource>,
    /// Remarks about how documents were read.
    pub notes: Vec<SourceNote>,
    /// Entries of directories that are hidden or ignored.
    pub left_out: u64,
    /// True if it was stopped before its end. Running it again does the rest.
    pub cancelled: bool,
}

impl IngestReport {
    /// Returns how many of the read documents are in the collection now.
    pub fn documents(&self) -> u64 {
        self.added + self.replaced + self.unchanged
    }

    /// Tells whether nothing was stored or removed although sources were found.
    pub fn failed(&self) -> bool {
        self.documents() == 0 && self.removed.is_empty() && !self.skipped.is_empty()
    }
}

/// Represents a source that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedSource {
    /// A path or an address.
    pub source: String,
    /// The reason.
    #[serde(serialize_with = "serialize_as_text")]
    pub reason: UnreadableReason,
}

fn serialize_as_text<S: serde::Serializer>(
    reason: &UnreadableReason,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(reason)
}

/// Represents a remark about a document that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceNote {
    /// A path or an address.
    pub source: String,
    /// The remark.
    pub note: String,
}
