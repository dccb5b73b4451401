//! Shows a skill to the user before its first use: whole, or not at all.

use lango_text::{hex, make_lines_visible, make_visible};
use sha2::{Digest as _, Sha256};

use super::Skill;
use super::content::{MAX_TOTAL_BYTES, read_bounded};

/// Limits how many bytes of all files a question shows. More than that is not read before it is
/// answered.
const MAX_QUESTION_BYTES: usize = 64 * 1024;

/// Renders all files for a question. The error says why they cannot be shown whole: then the user
/// cannot agree to them in a question.
pub(super) fn render_for_question(skill: &Skill) -> Result<String, String> {
    let mut shown = String::new();
    for file in &skill.content.files {
        let name = make_visible(file);
        let content = read_bounded(&skill.directory.join(file), MAX_TOTAL_BYTES)?;
        let text = String::from_utf8(content).map_err(|_| format!("{name} is not text"))?;
        shown += &render_text(&name, &text);
        if shown.len() > MAX_QUESTION_BYTES {
            return Err(format!("{name} makes it longer than {} KiB", MAX_QUESTION_BYTES / 1024));
        }
    }
    Ok(shown)
}

fn render_text(name: &str, text: &str) -> String {
    format!("\n{name}\n{}", make_lines_visible(text.strip_suffix('\n').unwrap_or(text), "  | "))
}

impl Skill {
    /// Renders all files, however long, for a user who looks at the skill on purpose. A file that is
    /// not text is named with its size and digest.
    pub fn render_whole(&self) -> Result<String, String> {
        let mut shown = String::new();
        for file in &self.content.files {
            let name = make_visible(file);
            let content = read_bounded(&self.directory.join(file), MAX_TOTAL_BYTES)?;
            match String::from_utf8(content) {
                Ok(text) => shown += &render_text(&name, &text),
                Err(error) => {
                    let content = error.into_bytes();
                    let digest = hex(Sha256::digest(&content));
                    let size = content.len();
                    shown += &format!("\n{name} (not text: {size} bytes, SHA-256 {digest})");
                }
            }
        }
        Ok(shown)
    }
}
