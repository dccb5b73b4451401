//! Formats a relation as one line of a report.

use lango_text::to_one_line;

use crate::reporting::MAX_NAME_CHARACTERS;

/// Returns subject, predicate and object: "Ada – works on – Lango".
pub(super) fn render_relation(parts: [&str; 3]) -> String {
    parts.map(|part| to_one_line(part, MAX_NAME_CHARACTERS)).join(" – ")
}
