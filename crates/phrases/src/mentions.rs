//! Reads parts of a request that mention something: words around a name, pronouns, lists of names.

use crate::spelling::singular;
use crate::words::RequestWords;

/// Words that count files, and say nothing about their names.
#[rustfmt::skip]
pub const COUNTING_WORDS: &[&str] = &[
    "the", "both", "all", "every", "each", "two", "three", "four", "of", "copies", "copy", "my",
    "our", "a", "file", "files",
];

/// Tells whether a mention is of several files: "both reports", "the two invoices".
pub fn is_plural(mention: &str) -> bool {
    let request = RequestWords::of(mention);
    request.has_any(&["both", "all", "every", "each", "two", "three", "four"])
        || request.words.iter().any(|word| {
            !word.text.contains('.') && word.text.len() > 3 && singular(&word.text) != word.text
        })
}

/// Splits "a, b and c" into its names.
pub fn split_names(mention: &str) -> Vec<&str> {
    let mut parts = vec![mention];
    for separator in [", and also ", " and also ", ", and ", " and ", " & ", " plus ", ", ", ","] {
        parts = parts.into_iter().flat_map(|part| part.split(separator)).collect();
    }
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Removes words before and after a name that are no part of it.
pub fn strip_filler(mention: &str) -> &str {
    let mut mention = mention.trim().trim_matches([',', ';', ':', '?', '!']).trim();
    loop {
        let before = mention;
        for word in [
            "the ",
            "my ",
            "our ",
            "your ",
            "this ",
            "that ",
            "file ",
            "file called ",
            "called ",
            "named ",
            "folder ",
        ] {
            // A capital letter may begin a name: "The Lighthouse".
            if let Some(rest) = mention.strip_prefix(word).filter(|rest| !rest.is_empty()) {
                mention = rest.trim_start();
            }
        }
        for word in [
            " please", " plz", " pls", " for me", " now", " thanks", " again", " too", " as well",
            " instead",
        ] {
            let at = mention.len().saturating_sub(word.len());
            if at > 0 && mention.is_char_boundary(at) && mention[at..].eq_ignore_ascii_case(word) {
                mention = mention[..at].trim_end_matches([' ', ',']);
            }
        }
        if mention == before {
            return mention;
        }
    }
}

/// Tells whether a mention only points to something.
pub fn is_pronoun(mention: &str) -> bool {
    let mention = mention.to_lowercase();
    matches!(
        mention.trim_end_matches(['.', '!', '?']),
        "it" | "that"
            | "this"
            | "them"
            | "those"
            | "these"
            | "there"
            | "one"
            | "ones"
            | "here"
            | "same"
            | "same place"
            | "file"
            | "files"
            | "folder"
            | "both"
            | "all"
            | "something"
            | "stuff"
            | "stuff we dont need"
            | "somewhere"
            | "somewhere safe"
            | "that one"
            | "this one"
            | "the file"
            | "first one"
            | "second one"
            | "last one"
            | "other one"
            | "thing"
            | "things"
            | "that file"
            | "this file"
            | "chapter"
            | "new name"
            | "a new name"
    )
}

/// Tells whether a text only announces what is to be written.
pub fn is_placeholder(content: &str) -> bool {
    matches!(
        content.to_lowercase().trim(),
        "a line"
            | "line"
            | "something"
            | "a note"
            | "text"
            | "this"
            | "that"
            | "it"
            | "one"
            | "another line"
            | "a new line"
            | "some text"
            // What another action would find out: no action gets it as its text.
            | "the number"
            | "that number"
            | "the count"
            | "the total"
            | "the sum"
            | "the result"
            | "the results"
            | "the output"
            | "the answer"
            | "the list"
            | "the names"
    )
}

/// Tells whether a place is the workspace itself.
pub fn is_here(mention: &str) -> bool {
    let mention = mention.to_lowercase();
    let mention = mention
        .trim_start_matches("the ")
        .trim_start_matches("this ")
        .trim_start_matches("my ")
        .trim_start_matches("current ")
        .trim_start_matches("whole ");
    matches!(
        mention,
        "here"
            | "."
            | "./"
            | "folder"
            | "directory"
            | "dir"
            | "workspace"
            | "project"
            | "repo"
            | "repository"
            | "everywhere"
            | "all files"
            | "files"
            | "root"
            | "this"
            | "there"
            | "current directory"
            | "current folder"
            | "all folders"
            | "subfolders"
            | "computer"
            | "it"
            | "in here"
    )
}

/// Tells whether a request is about all that it names.
pub fn wants_all(request: &RequestWords<'_>) -> bool {
    request.has_any(&["all", "both", "every", "each", "them"])
}
