//! Names the files that a call is about, for what follows the call.

use serde::{Deserialize, Serialize};

use crate::CallReport;

/// Limits how many paths a report names.
const MAX_REPORTED_PATHS: usize = 100;
/// Limits how many bytes the paths of a report have together, so that its data is kept.
const MAX_REPORTED_PATH_BYTES: usize = 8 * 1024;

/// Names the files and directories that a call found, read or changed. It is a part of the data in the
/// report of every file tool, beside the tool's own facts, so that "delete the second one" can be
/// understood whatever tool was called before.
///
/// The paths are in the order in which the report shows them, relative to the workspace, and as a
/// tool takes them: invisible characters in them are not written out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedFiles {
    /// The paths. After a move or a copy they are the new ones, after a deletion those that are gone.
    pub paths: Vec<String>,
    /// The number of further paths that did not fit.
    #[serde(default, skip_serializing_if = "crate::report::is_zero")]
    pub omitted_paths: u64,
}

impl ReportedFiles {
    /// Collects paths, as many as fit.
    pub fn new(paths: impl IntoIterator<Item = String>) -> Self {
        let mut files = Self::default();
        let mut bytes = 0;
        for path in paths {
            bytes += path.len();
            let fits = files.paths.len() < MAX_REPORTED_PATHS && bytes <= MAX_REPORTED_PATH_BYTES;
            if fits {
                files.paths.push(path);
            } else {
                files.omitted_paths += 1;
            }
        }
        files
    }

    /// Names one file.
    pub fn one(path: impl Into<String>) -> Self {
        Self::new([path.into()])
    }
}

impl CallReport {
    /// Returns the files that the call was about; none if its tool is not about files.
    pub fn files(&self) -> Option<ReportedFiles> {
        // Other tools have data of other forms.
        self.data.as_ref().and_then(|data| ReportedFiles::deserialize(data).ok())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_files_of_a_report_are_found_beside_other_facts() {
        let report = CallReport::new("x").data(&json!({"paths": ["a", "b/c"], "bytes": 4}));
        let files =
            ReportedFiles { paths: vec!["a".to_owned(), "b/c".to_owned()], omitted_paths: 0 };
        assert_eq!(report.files(), Some(files));
        assert_eq!(CallReport::new("x").data(&json!({"id": "p1"})).files(), None);
        assert_eq!(CallReport::new("x").files(), None);
    }

    #[test]
    fn paths_that_do_not_fit_are_counted() {
        let many = ReportedFiles::new((0..250).map(|number| number.to_string()));
        assert_eq!((many.paths.len(), many.omitted_paths), (100, 150));
        let long = ReportedFiles::new((0..3).map(|_| "x".repeat(4000)));
        assert_eq!((long.paths.len(), long.omitted_paths), (2, 1));
        let text = serde_json::to_string(&ReportedFiles::one("a")).unwrap();
        assert_eq!(text, r#"{"paths":["a"]}"#);
    }
}
