//! Makes calls that find files: by type, name, size, age, and in an order.

pub(super) use lango_phrases::file_limits::sort_of;
use lango_phrases::file_limits::{ages, sizes, wanted_count};

use super::file_names::{FoundEntry, WantedEntry};
use super::kinds_of_files::extensions_of;
use super::look::is_here;
use super::sources::strip_filler;
use super::words::RequestWords;
use super::{PlannedCall, RequestReading, Understanding, ask};
use crate::arguments::Argument;

const DIRECTORIES: &[&str] =
    &["folder", "folders", "directory", "directories", "dir", "dirs", "subfolder", "subfolders"];

impl Understanding<'_> {
    pub(super) fn find_call(&self, request: &RequestWords<'_>) -> RequestReading {
        let spans = self.spans("fs_find", request);
        let text = |name: &str| spans.get(name).and_then(Argument::as_text);
        let mut call = PlannedCall::new("fs_find");
        let place = text("path").map(strip_filler).filter(|path| !is_here(path));
        let place =
            place.and_then(|mention| match self.files.find(mention, WantedEntry::Directory) {
                FoundEntry::One(path) => Some(path),
                _ => None,
            });
        let place = place.or_else(|| {
            self.find_directory_after(request, &["in", "inside", "under", "within", "of"])
        });
        let place = place.filter(|_| !asks_for_directories(request) || says_place(request));
        if let Some(path) = &place {
            call = call.text("path", path.clone());
        }
        let sort = sort_of(request);
        let wants_directories = asks_for_directories(request) && sort.is_some();
        // "Which folder is the largest, I guess photos": the type of files is not what is asked for.
        let types = type_in(request).filter(|_| !wants_directories);
        let mut is_specific = sort.is_some();
        if let Some(extensions) = &types {
            call = call.text("glob", glob_of(extensions));
            is_specific = true;
        } else if wants_directories {
            call = call.text("kind", "directory");
        } else if let Some(name) = self.name_to_find(text("glob"), place.as_deref(), request) {
            let is_directory = self.files.kind_of(&name) == Some(true);
            // "How many test files are there" asks for what is in the directory of tests.
            call = if is_directory && counts(request) {
                call.text("path", name).text("kind", "file")
            } else {
                call.text("glob", name)
            };
            is_specific = true;
        } else {
            call = call.text("kind", "file");
        }
        for (name, value) in sizes(request).into_iter().chain(ages(request)) {
            call = call.text(name, value);
            is_specific = true;
        }
        if let Some((key, reverse)) = sort {
            call = call.text("sort", key);
            if reverse {
                call = call.with("reverse", Argument::Boolean(true));
            }
            call = call.with("limit", Argument::Integer(wanted_count(request)));
        }
        if counts(request) {
            call = call.with("count", Argument::Boolean(true));
            is_specific = true;
        }
        if !is_specific && place.is_none() && spans.is_empty() {
            return ask("Which files should I look for?".to_owned());
        }
        RequestReading::call(call)
    }

    /// Returns the name that is searched for: the real one where there is one.
    fn name_to_find(
        &self,
        span: Option<&str>,
        place: Option<&str>,
        request: &RequestWords<'_>,
    ) -> Option<String> {
        if let Some(mention) =
            span.map(strip_filler).filter(|mention| !is_here(mention) && !is_vague(mention))
        {
            let is_place = place.is_some_and(|place| place.eq_ignore_ascii_case(mention));
            if !is_place {
                return Some(match self.files.find(mention, WantedEntry::Any) {
                    FoundEntry::One(path) => path.rsplit('/').next().unwrap_or(&path).to_owned(),
                    _ => mention.to_owned(),
                });
            }
        }
        let mentioned = self.mentioned_files(request);
        let named = mentioned.iter().find(|path| Some(path.as_str()) != place);
        named.map(|path| path.rsplit('/').next().unwrap_or(path).to_owned())
    }
}

/// Tells whether a request asks for a number of files.
fn counts(request: &RequestWords<'_>) -> bool {
    request.has_phrase(&["how many", "number of", "count of"]) || request.has_any(&["count"])
}

/// Tells whether a request says where to look.
fn says_place(request: &RequestWords<'_>) -> bool {
    request.has_any(&["in", "inside", "under", "within", "of"])
}

fn is_vague(mention: &str) -> bool {
    let words: Vec<&str> = mention.split_whitespace().collect();
    words.iter().all(|word| {
        matches!(
            word.to_lowercase().as_str(),
            "files"
                | "file"
                | "things"
                | "thing"
                | "anything"
                | "everything"
                | "something"
                | "all"
                | "stuff"
                | "folders"
                | "folder"
                | "documents"
                | "what"
                | "which"
                | "more"
                | "big"
                | "biggest"
                | "smallest"
                | "the"
                | "any"
                | "items"
                | "entries"
                | "data"
        )
    })
}

/// Returns the extensions of the type of files that a request names.
pub(super) fn type_in(request: &RequestWords<'_>) -> Option<Vec<&'static str>> {
    let words: Vec<&str> = request.unquoted().collect();
    // An extension says more than a word such as "photos".
    let exact =
        words.iter().find(|word| word.starts_with("*.") || word.starts_with('.') && word.len() < 6);
    if let Some(found) = exact.and_then(|word| extensions_of(word)) {
        return Some(found);
    }
    words.iter().enumerate().find_map(|(at, word)| {
        let found = extensions_of(word)?;
        let before_files = words.get(at + 1).is_some_and(|next| {
            matches!(*next, "file" | "files" | "scripts" | "ones" | "sources" | "documents")
        });
        let is_plural = super::kinds_of_files::is_plural_type(word);
        let is_place =
            at > 0 && matches!(words[at - 1], "in" | "inside" | "under" | "into" | "to" | "of");
        let is_singular_kind = matches!(
            *word,
            "movie" | "video" | "picture" | "photo" | "image" | "song" | "spreadsheet" | "pdf"
        );
        ((before_files || is_plural || is_singular_kind) && !is_place).then_some(found)
    })
}

/// Returns a pattern for files with these extensions.
pub(super) fn glob_of(extensions: &[&str]) -> String {
    match extensions {
        [one] => format!("*.{one}"),
        several => format!("*.{{{}}}", several.join(",")),
    }
}

fn asks_for_directories(request: &RequestWords<'_>) -> bool {
    let words: Vec<&str> = request.unquoted().collect();
    words.iter().enumerate().any(|(at, word)| {
        DIRECTORIES.contains(word)
            && at > 0
            && matches!(
                words[at - 1],
                "which"
                    | "what"
                    | "biggest"
                    | "largest"
                    | "heaviest"
                    | "the"
                    | "every"
                    | "all"
                    | "smallest"
            )
            && !words[..at]
                .iter()
                .any(|before| matches!(*before, "file" | "files" | "in" | "thing"))
    })
}

#[cfg(test)]
mod tests;
