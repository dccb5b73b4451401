//! Compares names as a file system that ignores case does.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Limits how many entries of a directory are tried.
const MAX_TRIED_ENTRY_COUNT: usize = 64;

/// Tells whether the file system of a directory ignores the case of names.
///
/// An entry with a letter is looked up in the other case: where that is the same file although the
/// directory does not list it, case is ignored. A directory without such an entry is judged by its
/// own name.
pub fn folds_case(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    let names: Vec<_> = entries
        .take(MAX_TRIED_ENTRY_COUNT)
        .filter_map(Result::ok)
        .map(|entry| entry.file_name())
        .collect();
    let tried = names.iter().find_map(|name| is_found_in_other_case(directory, name));
    tried.unwrap_or_else(|| {
        let (above, name) = (directory.parent(), directory.file_name());
        above
            .zip(name)
            .is_some_and(|(above, name)| is_found_in_other_case(above, name).unwrap_or_default())
    })
}

/// Tells whether a name and its twin in the other case are one entry. Returns none if that cannot be
/// told by this name.
fn is_found_in_other_case(directory: &Path, name: &OsStr) -> Option<bool> {
    let name = name.to_str()?;
    let twin = swap_case(name);
    if twin == name {
        return None;
    }
    let found = fs::symlink_metadata(directory.join(name)).ok()?;
    let Ok(other) = fs::symlink_metadata(directory.join(&twin)) else { return Some(false) };
    if (found.dev(), found.ino()) != (other.dev(), other.ino()) {
        return Some(false);
    }
    // Two hard links can differ in case as well; then both names are listed.
    let mut entries = fs::read_dir(directory).ok()?.filter_map(Result::ok);
    Some(!entries.any(|entry| entry.file_name() == OsStr::new(&twin)))
}

fn swap_case(name: &str) -> String {
    let swap = |letter: char| {
        if letter.is_ascii_lowercase() {
            letter.to_ascii_uppercase()
        } else {
            letter.to_ascii_lowercase()
        }
    };
    name.chars().map(swap).collect()
}

/// Tells whether a component of a path can be the file of this name. Where case is ignored, other
/// spellings that such file systems accept are the same name, too.
pub(crate) fn is_same_name(component: &OsStr, name: &OsStr, is_folded: bool) -> bool {
    if component == name {
        return true;
    }
    if !is_folded {
        return false;
    }
    let (component, name) = (component.to_string_lossy(), name.to_string_lossy());
    let (component, name) = (fold(&component), fold(&name));
    component == name || is_short_name(&component, &name)
}

/// Returns the form in which all spellings of a name are equal: without case, without characters
/// that HFS+ ignores, and without what Windows drops at the end.
fn fold(name: &str) -> String {
    let is_ignored = |letter: char| {
        matches!(letter,
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
    };
    let kept = name.chars().filter(|letter| !is_ignored(*letter));
    // `ſ` and `K` (Kelvin) fold to letters of ASCII only by their upper or lower case.
    let folded = kept.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    let folded: String = folded.collect();
    folded.trim_end_matches(['.', ' ']).to_owned()
}

/// Tells whether `component` can be the name that FAT and NTFS generate for a longer one, such as
/// `git~1` for `.git`.
fn is_short_name(component: &str, name: &str) -> bool {
    let base = component.split('.').next().unwrap_or_default();
    let Some((beginning, number)) = base.split_once('~') else { return false };
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    !beginning.is_empty()
        && !number.is_empty()
        && number.chars().all(|digit| digit.is_ascii_digit())
        && letters.starts_with(beginning)
}
