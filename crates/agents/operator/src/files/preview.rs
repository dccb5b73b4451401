//! Previews a change to a file for the user who has to approve it.

use std::io::Read as _;

use lango_text::{make_lines_visible, make_visible, truncate};
use lango_tool::{Proposal, ProposedStep};

use super::difference::compare_texts;
use crate::digest::sha256_hex;
use crate::workspace::{PathUse, Workspace};

/// Limits how many bytes of new content are shown. What is longer cannot be approved.
const MAX_SHOWN_BYTES: usize = 64 * 1024;

/// Holds a rendered content.
pub(super) struct RenderedContent {
    /// The lines.
    pub(super) text: String,
    /// The reason why the lines are not all of it.
    pub(super) not_shown: Option<String>,
}

/// Builds the proposal of a change to the file at `path`. "Always" covers exactly this change, which
/// `content` tells apart from other changes to the file.
pub(super) fn build_change_proposal(
    workspace: &Workspace,
    summary: String,
    path: &str,
    usage: PathUse,
    content: &[&str],
) -> Proposal {
    let step = workspace.propose_path(path, usage);
    let always_ask = workspace.find_change_warning(path, usage);
    let whole = (!content.is_empty()).then(|| {
        let digest = sha256_hex(&serde_json::to_vec(content).unwrap_or_default());
        let words = step.words.iter().cloned().chain([format!("sha256:{digest}")]).collect();
        ProposedStep { words, ..step.clone() }
    });
    let summary = match &always_ask {
        Some(why) => format!("{summary}\nNote: {why}"),
        None => summary,
    };
    Proposal { always_ask, whole, ..Proposal::of_step(summary, step) }
}

/// Builds the proposal of a change to several paths, each of which is a step.
pub(super) fn build_list_proposal(
    summary: String,
    steps: Vec<ProposedStep>,
    always_ask: Option<String>,
) -> Proposal {
    let summary = match &always_ask {
        Some(why) => format!("{summary}\nNote: {why}"),
        None => summary,
    };
    let not_shown = (summary.len() > MAX_SHOWN_BYTES)
        .then(|| "the paths are longer than a question can show; name fewer".to_owned());
    Proposal { summary, steps, always_ask, not_shown, ..Proposal::default() }
}

/// Builds the proposal of a call that reads a path.
pub(super) fn build_reading_proposal(workspace: &Workspace, what: &str, path: &str) -> Proposal {
    let summary = format!("{what} {}", make_visible(path));
    Proposal::of_step(summary, workspace.propose_path(path, PathUse::Target))
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

/// Is the present content of a file.
pub(super) enum PresentContent {
    Text(String),
    /// It is too large or not a text.
    NotShown {
        size: u64,
    },
}

/// Returns the present content of a file; none if it cannot be opened.
pub(super) fn read_present_content(
    workspace: &Workspace,
    path: &str,
    max_bytes: u64,
) -> Option<PresentContent> {
    // What cannot be opened is refused, or new, when it is written.
    let location = workspace.check_path(path).ok()?;
    let (file, size) = workspace.open_file(&location).ok()?;
    let mut content = String::new();
    let is_text = size <= max_bytes && file.take(max_bytes).read_to_string(&mut content).is_ok();
    Some(if is_text { PresentContent::Text(content) } else { PresentContent::NotShown { size } })
}

/// Renders the lines that differ between the old and the new content of a file, or the whole new
/// content if these are too many to be shown.
pub(super) fn render_difference(old: &str, new: &str) -> RenderedContent {
    let difference = compare_texts("file", old, new);
    if difference.is_cut { render_content(new) } else { render_content(&difference.unified) }
}

/// Renders a file's new content, every line of it up to a size.
pub(super) fn render_content(content: &str) -> RenderedContent {
    if content.is_empty() {
        return RenderedContent { text: "(empty)".to_owned(), not_shown: None };
    }
    let shown = truncate(content, MAX_SHOWN_BYTES);
    let lines = make_lines_visible(shown.strip_suffix('\n').unwrap_or(shown), "  | ");
    let rest = &content[shown.len()..];
    if rest.is_empty() {
        return RenderedContent { text: lines, not_shown: None };
    }
    let more = super::content::count_lines(rest.as_bytes());
    let digest = sha256_hex(content.as_bytes());
    let bytes = rest.len();
    RenderedContent {
        text: format!("{lines}\n(… {more} more lines, {bytes} bytes, not shown; SHA-256 {digest})"),
        not_shown: Some(format!(
            "the content is {bytes} bytes longer than a question can show; write it in parts of at \
             most 64 KiB"
        )),
    }
}
