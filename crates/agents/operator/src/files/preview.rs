//! What a person is shown of a change to a file before agreeing to it.

use std::fmt::Write as _;

use crate::visible::{visible, visible_lines};
use crate::workspace::Workspace;

const SHOWN_LINES: usize = 20;
const SHOWN_LINE: usize = 200;

/// The whole path, and where it really leads if that is another place.
pub(super) fn destination(workspace: &Workspace, path: &str) -> String {
    let shown = visible(path);
    let resolved = workspace.locate(path).and_then(|location| {
        let resolved = workspace.resolve_for_writing(&location)?;
        Ok((location.path() != resolved.as_path()).then_some(resolved))
    });
    match resolved {
        Ok(Some(real)) => format!("{shown} (which is {})", visible(&real.to_string_lossy())),
        Ok(None) => shown,
        Err(error) => format!("{shown} (will be refused: {error})"),
    }
}

/// The first lines of a file's new content, and how much was cut.
pub(super) fn first_lines(content: &str) -> String {
    if content.is_empty() {
        return "(empty)".to_owned();
    }
    let mut shown = String::new();
    let mut shown_bytes = 0;
    for line in content.split_inclusive('\n').take(SHOWN_LINES) {
        let text = line.strip_suffix('\n').unwrap_or(line);
        shown_bytes += line.len();
        // Writing to a string cannot fail.
        let _ = match text.char_indices().nth(SHOWN_LINE) {
            Some((end, _)) => {
                let cut = text.len() - end;
                writeln!(shown, "{} (… {cut} more bytes)", visible_lines(&text[..end], "  | "))
            }
            None => writeln!(shown, "{}", visible_lines(text, "  | ")),
        };
    }
    let rest = &content[shown_bytes..];
    if rest.is_empty() {
        shown.truncate(shown.trim_end_matches('\n').len());
    } else {
        let lines = super::content::count_lines(rest.as_bytes());
        let _ = write!(shown, "(… {lines} more lines, {} bytes, not shown)", rest.len());
    }
    shown
}
