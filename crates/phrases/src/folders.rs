//! Reads the names of directories that are to be made, and which of them is within another: "a folder
//! archive, inside it a folder 2026".

use crate::words::RequestWords;

/// Directories within a directory, as a request names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestedFolders {
    /// The directory around the others.
    pub outer: String,
    /// The names of those in it.
    pub inner: Vec<String>,
}

const FOLDERS: &[&str] = &[
    "folder",
    "folders",
    "directory",
    "directories",
    "dir",
    "dirs",
    "subfolder",
    "subfolders",
    "subdirectory",
    "subdirectories",
];
const CALLED: &[&str] = &["called", "named", "name"];
const INSIDE: &[&str] = &["in", "inside", "within", "under", "into"];
/// Words after which no name goes on.
#[rustfmt::skip]
const ENDS: &[&str] = &[
    "please", "pls", "plz", "thanks", "thank", "with", "that", "for", "inside", "in", "within",
    "under", "into", "where", "then", "which", "so", "too", "also", "as", "to", "now", "from",
];
/// Words before "folder" that are no name.
#[rustfmt::skip]
const NO_NAMES: &[&str] = &[
    "a", "an", "the", "new", "empty", "another", "one", "two", "three", "four", "five", "some",
    "sub", "my", "of", "make", "create", "add", "put", "mkdir", "other", "second", "need", "want",
    "this", "that", "second", "more", "it", "and", "me", "us",
];

/// Reads directories of which some are to be within another.
pub fn read_nested_folders(text: &str) -> Option<NestedFolders> {
    let request = RequestWords::of(text);
    let words = &request.words;
    let word = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    if !(0..words.len()).any(|at| FOLDERS.contains(&word(at))) {
        return None;
    }
    let is_pause = |at: usize| {
        at == 0
            || word(at - 1) == "and"
            || text[words[at - 1].range.end..].starts_with([',', ';', '.'])
    };
    for at in 1..words.len() {
        if words[at].is_quoted || !INSIDE.contains(&word(at)) {
            continue;
        }
        let length = match (word(at), word(at + 1), word(at + 2)) {
            ("inside", "of", "it" | "that") => 3,
            (_, "it" | "there" | "that", _) => 2,
            ("inside", ..) if at + 1 == words.len() || is_pause(at) => 1,
            _ => continue,
        };
        let before = text[..words[at].range.start].trim_end_matches([' ', ',', ';']);
        let after = words.get(at + length).map_or("", |word| &text[word.range.start..]);
        let inner = names_of_folders(after);
        if !inner.is_empty() {
            return nested(before, inner);
        }
        // "… with a subfolder 2026 in it"
        return [" with ", " and ", ", "].iter().find_map(|joint| {
            let (outer, inner) = before.rsplit_once(joint)?;
            nested(outer, names_of_folders(inner))
        });
    }
    let sub = (1..words.len()).find(|at| {
        word(*at).starts_with("sub") && FOLDERS.contains(&word(*at)) && !words[*at].is_quoted
    })?;
    let joint = (0..sub).rev().take(3).find(|at| matches!(word(*at), "with" | "and" | "plus"))?;
    let inner = names_of_folders(&text[words[joint].range.end..]);
    nested(&text[..words[joint].range.start], inner)
}

fn nested(outer: &str, inner: Vec<String>) -> Option<NestedFolders> {
    let outer = names_of_folders(outer).into_iter().next()?;
    (!inner.is_empty()).then_some(NestedFolders { outer, inner })
}

/// Returns the names that a part of a text gives directories: "a folder 2026", "folders a, b and c", "new
/// folder with name archive".
pub fn names_of_folders(part: &str) -> Vec<String> {
    let request = RequestWords::of(part);
    let words = &request.words;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let called =
        (0..words.len()).rev().find(|at| CALLED.contains(&text(*at)) && !words[*at].is_quoted);
    let folder =
        (0..words.len()).rev().find(|at| FOLDERS.contains(&text(*at)) && !words[*at].is_quoted);
    let Some(marker) = called.or(folder) else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    let mut goes_on = false;
    for at in marker + 1..words.len() {
        let word = &words[at];
        let gap = &part[words[at - 1].range.end..word.range.start];
        if ENDS.contains(&text(at)) && !word.is_quoted || gap.contains(['.', '\n']) {
            break;
        }
        if matches!(text(at), "and" | "&") && !word.is_quoted {
            goes_on = false;
            continue;
        }
        let typed = &part[word.range.clone()];
        match names.last_mut() {
            Some(last) if goes_on && !gap.contains([',', ';']) => {
                last.push(' ');
                last.push_str(typed);
            }
            _ => names.push(typed.to_owned()),
        }
        goes_on = true;
    }
    // "an archive folder"
    if names.is_empty()
        && called.is_none()
        && let Some(before) = folder.and_then(|at| at.checked_sub(1))
        && !NO_NAMES.contains(&text(before))
    {
        names.push(part[words[before].range.clone()].to_owned());
    }
    names.retain(|name| !matches!(name.as_str(), "it" | "that" | "there" | "the"));
    names
}

#[cfg(test)]
mod tests;
