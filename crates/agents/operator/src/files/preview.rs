//! Previews a change to a file for the user who has to approve it.

use lango_text::{make_lines_visible, make_visible, truncate};
use lango_tool::Proposal;

use crate::workspace::Workspace;

/// Limits how many bytes of new content are shown whole. Users do not read more than that before
/// they agree; the preview says what is left out, with a digest.
const MAX_SHOWN_BYTES: usize = 64 * 1024;

/// Builds the proposal of a change to the file at `path`.
pub(super) fn build_change_proposal(summary: String, path: &str) -> Proposal {
    Proposal::of(summary, [path])
}

/// Returns the whole path, and its real target if that is a different one.
pub(super) fn describe_destination(workspace: &Workspace, path: &str) -> String {
    let shown = make_visible(path);
    let resolved = workspace.check_path(path).and_then(|location| {
        let resolved = workspace.resolve_for_writing(&location)?;
        Ok((location.path() != resolved.as_path()).then_some(resolved))
    });
    match resolved {
        Ok(Some(real)) => format!("{shown} (which is {})", make_visible(&real.to_string_lossy())),
        Ok(None) => shown,
        Err(error) => format!("{shown} (will be refused: {error})"),
    }
}

/// Renders a file's new content, every line of it up to a size.
pub(super) fn render_content(content: &str) -> String {
    if content.is_empty() {
        return "(empty)".to_owned();
    }
    let shown = truncate(content, MAX_SHOWN_BYTES);
    let lines = make_lines_visible(shown.strip_suffix('\n').unwrap_or(shown), "  | ");
    let rest = &content[shown.len()..];
    if rest.is_empty() {
        return lines;
    }
    let more = super::content::count_lines(rest.as_bytes());
    let digest = crate::digest::sha256_hex(content.as_bytes());
    format!("{lines}\n(… {more} more lines, {} bytes, not shown; SHA-256 {digest})", rest.len())
}
