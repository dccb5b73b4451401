//! Shows the files that a command would run: whole, or the command cannot be approved.

use lango_text::{make_lines_visible, make_visible};

use super::scripts::{Script, ScriptContent};

/// Limits how many bytes of all scripts a question shows. More than that is not read before it is
/// answered.
const MAX_SHOWN_BYTES: usize = 64 * 1024;
/// Limits how many hexadecimal digits of a digest users compare.
const DIGEST_DIGITS: usize = 12;

/// Holds the scripts of a command as a question shows them.
#[derive(Debug, Default)]
pub(super) struct ScriptPreview {
    /// The lines of each script, with a line break before each.
    pub(super) shown: String,
    /// The reason why not all of them are shown.
    pub(super) not_shown: Option<String>,
    shown_bytes: usize,
}

impl ScriptPreview {
    /// Shows scripts. A compiled program has no text to show, and is named as one.
    pub(super) fn of(scripts: &[Script]) -> Self {
        let mut preview = Self::default();
        for script in scripts {
            preview.add(script);
        }
        let missing = |script: &&Script| matches!(script.content, ScriptContent::Missing);
        let missing: Vec<_> =
            scripts.iter().filter(missing).map(|it| make_visible(&it.path)).collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            preview.shown.push_str(&format!("\nruns files that are not there now: {missing}"));
        }
        preview
    }

    fn add(&mut self, script: &Script) {
        let path = make_visible(&script.path);
        let digest = script.digest();
        let digest = digest.get(..DIGEST_DIGITS).unwrap_or(&digest);
        let text = match &script.content {
            ScriptContent::Missing => return,
            ScriptContent::NotRead(reason) => {
                return self.shown.push_str(&format!("\nruns the file {path}, which {reason}"));
            }
            ScriptContent::TooLarge { is_compiled: true } => {
                let line = format!("\nruns the file {path}, a large compiled program");
                return self.shown.push_str(&line);
            }
            ScriptContent::TooLarge { is_compiled: false } => {
                return self.leave_out(&path, "");
            }
            ScriptContent::Read(bytes) if script.content.is_compiled() => {
                let size = bytes.len();
                let line = format!(
                    "\nruns the file {path}, a compiled program of {size} bytes, SHA-256 {digest}…"
                );
                return self.shown.push_str(&line);
            }
            ScriptContent::Read(bytes) => bytes,
        };
        let facts = format!(", {} bytes, SHA-256 {digest}…", text.len());
        let lines = render_lines(text);
        // The lines can be longer than the text, because nothing in them is invisible.
        if self.shown_bytes + lines.len() > MAX_SHOWN_BYTES {
            return self.leave_out(&path, &facts);
        }
        self.shown_bytes += lines.len();
        self.shown.push_str(&format!("\nruns the file {path}{facts}:\n{lines}"));
    }

    fn leave_out(&mut self, path: &str, facts: &str) {
        let limit = MAX_SHOWN_BYTES / 1024;
        self.shown.push_str(&format!(
            "\nruns the file {path}{facts}; it is too long to be shown, so that this cannot be approved"
        ));
        self.not_shown.get_or_insert_with(|| {
            format!(
                "the file {path} cannot be shown whole in a question, which has room for {limit} KiB \
                 of scripts; the user can run it in a terminal"
            )
        });
    }
}

/// Renders a script line by line. Bytes that are no text are written out.
fn render_lines(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    make_lines_visible(&text, "  | ")
}
