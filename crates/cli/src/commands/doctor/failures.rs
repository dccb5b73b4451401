//! Shows the recent failures in the log of `lango serve`.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use lango_text::make_visible;

use super::{CheckState, DoctorCheck};

/// The part of the log that is looked at, from its end.
const MAX_READ_BYTES: u64 = 256 * 1024;

/// Limits the failures that are shown.
const MAX_SHOWN_COUNT: usize = 5;

/// Limits a line that is shown.
const MAX_LINE_CHARACTERS: usize = 400;

/// Returns the last failures, if there are any.
pub(super) fn list_recent(log: &Path) -> Option<DoctorCheck> {
    // Without a server there is no log.
    let text = read_end(log).ok()?;
    let is_failure = |line: &&str| line.contains(" ERROR ") || line.contains("  WARN ");
    let failures: Vec<&str> = text.lines().filter(is_failure).collect();
    let recent = &failures[failures.len().saturating_sub(MAX_SHOWN_COUNT)..];
    if recent.is_empty() {
        return None;
    }
    let mut lines = vec![format!("the last ones in {}", log.display())];
    for line in recent {
        let shown: String = line.chars().take(MAX_LINE_CHARACTERS).collect();
        lines.push(make_visible(&shown));
    }
    Some(DoctorCheck { what: "failures", state: CheckState::Note, detail: lines.join("\n") })
}

fn read_end(log: &Path) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_READ_BYTES)))?;
    let mut content = Vec::new();
    file.take(MAX_READ_BYTES).read_to_end(&mut content)?;
    Ok(String::from_utf8_lossy(&content).into_owned())
}
