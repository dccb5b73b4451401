//! Compares two versions of a file in bounded space and time.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// Limits the time for a minimal diff; past it the diff is coarser, not wrong.
const DIFF_TIMEOUT: Duration = Duration::from_millis(500);
/// Limits how many bytes of a diff are shown.
const MAX_DIFF_BYTES: usize = 16 * 1024;

/// Counts the added and removed lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct LineChanges {
    pub(super) added: usize,
    pub(super) removed: usize,
}

impl fmt::Display for LineChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{} -{} lines", self.added, self.removed)
    }
}

/// Holds the result of comparing two versions of a text.
pub(super) struct TextDifference {
    /// The number of changed lines.
    pub(super) changes: LineChanges,
    /// The unified diff, cut after a whole line if it is long.
    pub(super) unified: String,
    /// True if it was cut.
    pub(super) is_cut: bool,
}

/// Compares two versions of the file at `path`.
pub(super) fn compare_texts(path: &str, old: &str, new: &str) -> TextDifference {
    let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(old, new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let changes =
        LineChanges { added: count(ChangeTag::Insert), removed: count(ChangeTag::Delete) };
    let mut unified = diff.unified_diff().context_radius(3).header(path, path).to_string();
    let is_cut = unified.len() > MAX_DIFF_BYTES;
    if is_cut {
        let end = unified[..unified.floor_char_boundary(MAX_DIFF_BYTES)]
            .rfind('\n')
            .map_or_else(|| unified.floor_char_boundary(MAX_DIFF_BYTES), |end| end + 1);
        let cut = unified.len() - end;
        unified.truncate(end);
        unified.push_str(&format!("\n(diff cut: {cut} more bytes)\n"));
    }
    TextDifference { changes, unified, is_cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_counted_and_shown() {
        let difference = compare_texts("a", "one\ntwo\n", "one\nthree\nfour\n");
        assert_eq!(difference.changes, LineChanges { added: 2, removed: 1 });
        assert!(difference.unified.contains("-two\n+three\n+four\n"), "{}", difference.unified);
    }

    #[test]
    fn a_long_diff_is_cut() {
        let difference = compare_texts("a", "", &"ä\n".repeat(100_000));
        assert_eq!(difference.changes.added, 100_000);
        assert!(difference.unified.len() < MAX_DIFF_BYTES + 100);
        assert!(difference.unified.contains("(diff cut: "));
        let one_line = compare_texts("a", "", &"ä".repeat(100_000));
        assert!(one_line.unified.len() < MAX_DIFF_BYTES + 100);
    }
}
