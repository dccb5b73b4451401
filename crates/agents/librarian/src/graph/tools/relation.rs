//! Formats a relation as one line of a report.

use lango_text::one_line;

use crate::reporting::MAX_NAME_CHARACTERS;

/// Returns subject, predicate and object: "Ada – works on – Lango".
pub(super) fn relation(parts: [&str; 3]) -> String {
    parts.map(|part| one_line(part, MAX_NAME_CHARACTERS)).join(" – ")
}
