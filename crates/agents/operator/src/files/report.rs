//! Builds the data in the reports of file tools, which is the same for all of them in one part: the
//! files that the call was about.

use lango_protocol::ReportedFiles;
use serde::Serialize;

/// Is the data in the report of a file tool.
#[derive(Debug, Serialize)]
pub(super) struct FilesReport<D> {
    /// The files that the call was about.
    #[serde(flatten)]
    pub(super) files: ReportedFiles,
    /// The facts that only this tool has.
    #[serde(flatten)]
    pub(super) details: D,
}

impl<D: Serialize> FilesReport<D> {
    /// Reports a call about one file.
    pub(super) fn about(path: String, details: D) -> Self {
        Self { files: ReportedFiles::one(path), details }
    }
}
