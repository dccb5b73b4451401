//! Describes, before a call runs, what it would keep.

use lango_text::make_lines_visible;
use lango_tool::Proposal;

/// Proposes to keep texts that later turns are shown.
pub(crate) fn propose_keeping<const N: usize>(kind: &str, words: [&str; N]) -> Proposal {
    let shown: Vec<String> = words
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| make_lines_visible(text, "  | "))
        .collect();
    let summary = format!("Keep as {kind}, for later conversations\n{}", shown.join("\n"));
    Proposal::keeping(summary, words)
}
