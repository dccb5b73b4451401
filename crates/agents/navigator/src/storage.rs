//! Stores files that come out of the browser: downloads and screenshots.

use std::path::{Path, PathBuf};

use lango_text::truncate;

use crate::browser::create_private_directory;
use crate::error::NavigatorError;

/// Limits how many bytes a file name has.
const MAX_NAME_BYTES: usize = 120;

/// Turns a name from a server into one that is safe in a directory: no path, nothing hidden,
/// nothing that a shell or a terminal would interpret.
pub(crate) fn make_safe_name(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = last
        .chars()
        .map(|character| match character {
            '.' | '-' | '_' | '+' => character,
            _ if character.is_alphanumeric() => character,
            _ => '_',
        })
        .collect();
    let plain = plain.trim_start_matches(['.', '-']).trim_end_matches('.');
    let name = if plain.chars().all(|character| character == '_') { "download" } else { plain };
    if name.len() <= MAX_NAME_BYTES {
        return name.to_owned();
    }
    // The extension tells the kind of the file, so it is kept.
    let (stem, end) =
        name.rsplit_once('.').filter(|(_, end)| end.len() <= 10).unwrap_or((name, ""));
    let remaining = MAX_NAME_BYTES - end.len() - 1;
    let stem = truncate(stem, remaining);
    if end.is_empty() { stem.to_owned() } else { format!("{stem}.{end}") }
}

/// Gives a finished download its name. The browser has stored it under an id.
pub(crate) fn store_download(
    directory: &Path,
    id: &str,
    given: &str,
) -> Result<(PathBuf, u64), NavigatorError> {
    let failed = |error: std::io::Error| {
        NavigatorError::Failed(format!("the download cannot be kept: {error}"))
    };
    // The id is the browser's own; a page cannot choose it. Still, it must be a plain name.
    let stored = directory.join(make_safe_name(id));
    let name = make_safe_name(given);
    let (stem, end) = match name.rsplit_once('.') {
        Some((stem, end)) => (stem.to_owned(), format!(".{end}")),
        None => (name.clone(), String::new()),
    };
    for number in 1..10_000 {
        let name = if number == 1 { name.clone() } else { format!("{stem}-{number}{end}") };
        let path = directory.join(name);
        // A hard link does not replace an existing file, and does not follow a link.
        match std::fs::hard_link(&stored, &path) {
            Ok(()) => {
                std::fs::remove_file(&stored).map_err(failed)?;
                let bytes = path.metadata().map_err(failed)?.len();
                return Ok((path, bytes));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(NavigatorError::Failed("the download cannot be kept: too many of that name".to_owned()))
}

/// Stores a screenshot.
pub(crate) fn store_screenshot(directory: &Path, png: &[u8]) -> Result<PathBuf, NavigatorError> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    create_private_directory(directory)?;
    let path = directory.join(format!("{}.png", uuid::Uuid::now_v7()));
    let mut options = std::fs::OpenOptions::new();
    let written = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| file.write_all(png));
    written.map_err(|error| NavigatorError::NoDirectory {
        place: directory.display().to_string(),
        reason: format!("the screenshot cannot be stored: {error}"),
    })?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b10_a_name_cannot_lead_anywhere() {
        for (given, safe) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            ("..", "download"),
            ("", "download"),
            ("/", "download"),
            (".bashrc", "bashrc"),
            ("-rf", "rf"),
            ("a b;rm -rf ~.sh", "a_b_rm_-rf__.sh"),
            ("C:\\Windows\\evil.exe", "evil.exe"),
            ("x\u{202e}gpj.exe", "x_gpj.exe"),
            ("größe.txt", "größe.txt"),
            ("a\0b\n.txt", "a_b_.txt"),
            ("$(touch x)", "__touch_x_"),
        ] {
            assert_eq!(make_safe_name(given), safe, "{given:?}");
        }
        let long = make_safe_name(&format!("{}.tar", "ä".repeat(500)));
        assert!(
            long.len() <= MAX_NAME_BYTES && long.rsplit_once('.').unwrap().1 == "tar",
            "{long}"
        );
    }

    #[test]
    fn b10_a_download_replaces_nothing_and_follows_no_link() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("victim");
        std::os::unix::fs::symlink(&target, at("a.txt")).unwrap();
        std::fs::write(at("a-2.txt"), "old").unwrap();
        std::fs::write(at("id1"), "new").unwrap();
        let (path, bytes) = store_download(directory.path(), "id1", "../a.txt").unwrap();
        assert_eq!((path, bytes), (at("a-3.txt"), 3));
        assert!(!target.exists() && !at("id1").exists());
        assert_eq!(std::fs::read_to_string(at("a-2.txt")).unwrap(), "old");
    }
}
