//! Finds the files that a request is about.

pub(super) use lango_phrases::mentions::strip_filler;
use lango_phrases::mentions::{COUNTING_WORDS, is_plural, split_names, wants_all};

use super::file_names::{FoundEntry, MAX_LISTED_NAMES, WantedEntry};
use super::kinds_of_files::{extensions_of, is_plural_type, is_type_mention, is_typed_extension};
use super::words::RequestWords;
use super::{Question, Understanding, list_names};

/// Says which files were found for a part of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FoundSources {
    Paths(Vec<String>),
    /// Something has to be asked first.
    Ask(Question),
}

/// Words before the part that is excepted.
#[rustfmt::skip]
const EXCEPTIONS: &[&str] = &[
    "except", "but not", "apart from", "all but", "everything but", "besides", "other than",
    "without", "not the", "but keep",
];

impl Understanding<'_> {
    /// Finds the files that a part of a request names: one or several names, a pattern, or a word for
    /// a type of files. `whole` is the request that it stands in.
    pub(super) fn find_sources(
        &self,
        mention: &str,
        whole: &RequestWords<'_>,
        wanted: WantedEntry,
    ) -> FoundSources {
        let mention = strip_filler(mention);
        let kept = self.find_exceptions(whole);
        let found = self.find_sources_alone(mention, whole, wanted);
        match found {
            FoundSources::Paths(paths) => {
                let paths: Vec<String> =
                    paths.into_iter().filter(|path| !kept.contains(path)).collect();
                if paths.is_empty()
                    && let Some(others) = self.find_by_type(whole.text, whole)
                {
                    let others: Vec<String> =
                        others.into_iter().filter(|path| !kept.contains(path)).collect();
                    if !others.is_empty() {
                        return FoundSources::Paths(others);
                    }
                }
                if paths.is_empty() {
                    return FoundSources::Ask(Question::new(format!(
                        "There is nothing left of “{mention}”. Which files do you mean?"
                    )));
                }
                if paths.len() > 1 && says_one(whole) {
                    return FoundSources::Ask(Question::about_name(
                        format!("Which one do you mean?\n{}", list_names(&paths)),
                        mention,
                    ));
                }
                FoundSources::Paths(paths)
            }
            ask @ FoundSources::Ask(_) => ask,
        }
    }

    fn find_sources_alone(
        &self,
        mention: &str,
        whole: &RequestWords<'_>,
        wanted: WantedEntry,
    ) -> FoundSources {
        if mention.contains(['*', '?']) && !mention.contains(' ') {
            let paths = self.files.match_pattern(mention, ".");
            return if paths.is_empty() {
                ask_about(mention, &[])
            } else {
                FoundSources::Paths(paths)
            };
        }
        // ".tmp files in tmp": that is no part of a name.
        if mention.split_whitespace().any(is_typed_extension)
            && let Some(paths) = self.find_by_type(mention, whole).filter(|found| !found.is_empty())
        {
            return FoundSources::Paths(paths);
        }
        let named = self.paths_in(mention);
        let is_list = split_names(mention).len() > named.len();
        if !named.is_empty() && !is_list && self.files.kind_of(mention).is_none() {
            return FoundSources::Paths(named);
        }
        if self.files.kind_of(mention).is_none()
            && let Some(paths) = self.find_within(mention)
        {
            return FoundSources::Paths(paths);
        }
        let says_directory = whole.has_any(&["folder", "directory", "dir"]);
        if let FoundEntry::One(path) = self.files.find(mention, wanted)
            && (!is_type_mention(mention) || says_directory && path.eq_ignore_ascii_case(mention))
        {
            return FoundSources::Paths(vec![path]);
        }
        if let Some(paths) = self.find_by_type(mention, whole) {
            return if paths.is_empty() {
                FoundSources::Ask(Question::about_name(
                    format!("I find no files for “{mention}” here. Which files do you mean?"),
                    mention,
                ))
            } else {
                FoundSources::Paths(paths)
            };
        }
        let parts = split_names(mention);
        if parts.len() > 1 {
            let mut all = Vec::new();
            for part in parts {
                match self.find_sources_alone(strip_filler(part), whole, wanted) {
                    FoundSources::Paths(paths) => all.extend(paths),
                    ask @ FoundSources::Ask(_) => return ask,
                }
            }
            all.dedup();
            return FoundSources::Paths(all);
        }
        match self.files.find(mention, wanted) {
            FoundEntry::One(path) => FoundSources::Paths(vec![path]),
            FoundEntry::Several(paths) if wants_all(whole) || is_plural(mention) => {
                FoundSources::Paths(paths)
            }
            FoundEntry::Several(paths) => FoundSources::Ask(Question::about_name(
                format!("Which one do you mean?\n{}", list_names(&paths)),
                mention,
            )),
            FoundEntry::Nothing(near) => match self.find_counted(mention, whole) {
                Some(paths) => FoundSources::Paths(paths),
                None => ask_about(mention, &near),
            },
        }
    }

    /// Returns the files that have the last word of a mention in their names, where there are exactly as many
    /// as it says: "both yearly reports".
    fn find_counted(&self, mention: &str, whole: &RequestWords<'_>) -> Option<Vec<String>> {
        let request = RequestWords::of(mention);
        let words: Vec<&str> = request.unquoted().collect();
        let count = whole.unquoted().find_map(|word| match word {
            "both" | "two" | "2" => Some(2),
            "three" | "3" => Some(3),
            "four" | "4" => Some(4),
            _ => None,
        })?;
        let head = super::spelling::singular(words.last()?);
        let has_head = |path: &&str| {
            let name = super::change::base_name(path).to_lowercase();
            super::spelling::split_name(&name)
                .iter()
                .any(|word| super::spelling::singular(word) == head)
        };
        let found: Vec<String> =
            self.files.files_within(".").into_iter().filter(has_head).map(str::to_owned).collect();
        (found.len() == count).then_some(found)
    }

    /// Returns the paths that stand in a mention as they are, such as `tmp/a.tmp`. Where there are some, no
    /// other file is meant.
    fn paths_in(&self, mention: &str) -> Vec<String> {
        let request = RequestWords::of(mention);
        let typed = request.words.iter().map(|word| &request.text[word.range.clone()]);
        typed
            .filter(|word| word.contains('/') && self.files.kind_of(word).is_some())
            .map(str::to_owned)
            .collect()
    }

    /// Returns the files of a directory that have a word in their names: "both reports from old".
    fn find_within(&self, mention: &str) -> Option<Vec<String>> {
        let request = RequestWords::of(mention);
        let at = request.words.iter().rposition(|word| {
            matches!(word.text.as_str(), "from" | "in" | "of" | "inside" | "under")
        })?;
        let directory =
            self.find_directory_after(&request, &["from", "in", "of", "inside", "under"])?;
        let wanted: Vec<String> = request.words[..at]
            .iter()
            .map(|word| word.text.as_str())
            .filter(|word| !COUNTING_WORDS.contains(word))
            .map(super::spelling::singular)
            .collect();
        if wanted.is_empty() {
            return None;
        }
        let fits = |path: &&str| {
            let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
            let words = super::spelling::split_name(&name);
            wanted
                .iter()
                .all(|word| words.iter().any(|own| super::spelling::singular(own) == *word))
        };
        let paths: Vec<String> = self
            .files
            .files_within(&directory)
            .into_iter()
            .filter(fits)
            .map(str::to_owned)
            .collect();
        let is_clear = paths.len() == 1 || paths.len() > 1 && is_plural(mention);
        is_clear.then_some(paths)
    }

    /// Finds what a request names in a directory, where that was taken for the directory itself: "delete the
    /// report in old".
    pub(super) fn find_in_directory(
        &self,
        request: &RequestWords<'_>,
        paths: &[String],
    ) -> Option<FoundSources> {
        let [directory] = paths else { return None };
        if self.files.kind_of(directory) != Some(true) {
            return None;
        }
        let words = &request.words;
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        let name = super::change::base_name(directory).to_lowercase();
        let at = (1..words.len()).find(|at| {
            let typed = text(*at).trim_end_matches('/');
            typed == name || typed.eq_ignore_ascii_case(directory)
        })?;
        let place = (0..at)
            .rev()
            .take(3)
            .find(|at| matches!(text(*at), "in" | "from" | "inside" | "under" | "within"))?;
        // What stands between the verb and the place.
        let first = (1..place).rev().take_while(|at| !ORDER_WORDS.contains(&text(*at))).last()?;
        let object = &request.text[words[first].range.start..words[place - 1].range.end];
        let is_all = RequestWords::of(object).words.iter().all(|word| {
            matches!(
                word.text.as_str(),
                "everything"
                    | "all"
                    | "the"
                    | "files"
                    | "file"
                    | "contents"
                    | "content"
                    | "stuff"
                    | "of"
                    | "every"
                    | "whatever"
                    | "is"
                    | "folder"
                    | "directory"
                    | "things"
                    | "that"
                    | "it"
                    | "a"
            )
        });
        if is_all {
            return None;
        }
        let mention = &request.text[words[first].range.start..words[at].range.end];
        Some(match self.find_sources_alone(strip_filler(mention), request, WantedEntry::Any) {
            FoundSources::Paths(found) if found == paths => {
                FoundSources::Ask(Question::about_name(
                    format!("Which files in {directory} do you mean by “{object}”?"),
                    object,
                ))
            }
            found => found,
        })
    }

    /// Returns the files of a type: "the jpgs in photos", "all the tmp files", "every .log".
    fn find_by_type(&self, mention: &str, whole: &RequestWords<'_>) -> Option<Vec<String>> {
        let request = RequestWords::of(mention);
        let words: Vec<&str> = request.words.iter().map(|word| word.text.as_str()).collect();
        let within = self.find_directory_in(&request).or_else(|| {
            // "in photos" may stand in another part of the sentence.
            self.find_directory_after(whole, &["in", "inside", "under", "from", "of", "within"])
        });
        let says_all = words
            .iter()
            .any(|word| matches!(*word, "all" | "every" | "everything" | "each" | "both"));
        // "the picture in photos": the place is no type.
        let place = words
            .iter()
            .position(|word| matches!(*word, "in" | "inside" | "under" | "from" | "within"));
        let object = match place {
            Some(at) if at > 0 && within.is_some() => &words[..at],
            _ => words.as_slice(),
        };
        let typed = object.iter().find_map(|word| {
            let is_type = is_plural_type(word)
                || word.starts_with('.')
                || word.starts_with("*.")
                || says_all
                || words.iter().any(|other| matches!(*other, "files" | "file"));
            extensions_of(word).filter(|_| is_type)
        });
        let directory = within.as_deref().unwrap_or(".");
        if let Some(extensions) = typed {
            let mut paths = Vec::new();
            for extension in extensions {
                paths.extend(self.files.match_pattern(&format!("*.{extension}"), directory));
            }
            paths.sort();
            return Some(paths);
        }
        if words.iter().any(|word| matches!(*word, "everything" | "contents" | "content" | "all"))
            && within.is_some()
        {
            return Some(
                self.files.files_within(directory).into_iter().map(str::to_owned).collect(),
            );
        }
        None
    }

    /// Returns the directory that a text names after one of these words.
    pub(super) fn find_directory_after(
        &self,
        request: &RequestWords<'_>,
        before: &[&str],
    ) -> Option<String> {
        let words = &request.words;
        let at = words.iter().rposition(|word| before.contains(&word.text.as_str()))?;
        let rest = &words[at + 1..];
        for length in (1..=rest.len().min(4)).rev() {
            let part = &request.text[rest[0].range.start..rest[length - 1].range.end];
            if let FoundEntry::One(path) = self.files.find(part, WantedEntry::Directory) {
                return Some(path);
            }
        }
        None
    }

    /// Returns the directory that a text names as its place: "… in photos".
    fn find_directory_in(&self, request: &RequestWords<'_>) -> Option<String> {
        self.find_directory_after(request, &["in", "inside", "under", "from", "of", "within"])
    }

    /// Returns the files that stay as they are: "…, cache.dat stays", "except README.md".
    pub(super) fn find_exceptions(&self, whole: &RequestWords<'_>) -> Vec<String> {
        let lower = whole.text.to_lowercase();
        let mut kept = Vec::new();
        if lower.len() == whole.text.len() {
            for words in EXCEPTIONS {
                if let Some(at) = lower.find(words) {
                    let rest = &whole.text[at + words.len()..];
                    // "not the guide, open the FAQ": what follows is not excepted.
                    let rest = if *words == "not the" {
                        rest.split([',', ';', '.']).next().unwrap_or_default()
                    } else {
                        rest
                    };
                    kept.extend(self.mentioned_files(&RequestWords::of(rest)));
                }
            }
        }
        let stays = ["stays", "stay", "keep", "remains", "alone", "remain"];
        if let Some(at) = whole.words.iter().position(|word| stays.contains(&word.text.as_str())) {
            let from = at.saturating_sub(4);
            let to = (at + 4).min(whole.words.len());
            let part = &whole.text[whole.words[from].range.start..whole.words[to - 1].range.end];
            let part = part
                .rsplit([',', ';'])
                .next()
                .filter(|last| stays.iter().any(|word| last.contains(word)))
                .unwrap_or(part);
            kept.extend(self.mentioned_files(&RequestWords::of(part)));
        }
        kept
    }

    /// Returns the files whose whole names stand in a text: "log.txt", and not merely "log".
    pub(super) fn named_files(&self, request: &RequestWords<'_>) -> Vec<String> {
        let lower = request.text.to_lowercase();
        let is_whole = |path: &String| {
            let name = super::change::base_name(path).to_lowercase();
            super::change::has_extension(&name) && lower.contains(&name)
        };
        self.mentioned_files(request).into_iter().filter(is_whole).collect()
    }

    /// Returns the files whose names stand in a text.
    pub(super) fn mentioned_files(&self, request: &RequestWords<'_>) -> Vec<String> {
        if self.files.is_unknown() {
            return typed_paths(request);
        }
        let mut found = Vec::new();
        let mut at = 0;
        while at < request.words.len() {
            let longest = (request.words.len() - at).min(5);
            let next = (1..=longest).rev().find_map(|length| {
                let part = &request.text
                    [request.words[at].range.start..request.words[at + length - 1].range.end];
                let is_name = length > 1 || part.contains(['.', '/']) || part.chars().count() > 2;
                let is_name = is_name
                    && !(super::web::is_address(part) && self.files.kind_of(part).is_none());
                match self.files.find(part, WantedEntry::Any) {
                    FoundEntry::One(path)
                        if is_name
                            && is_close(&path, part)
                            && !is_shouted(part, &path, request.text) =>
                    {
                        Some((path, length))
                    }
                    _ => None,
                }
            });
            match next {
                Some((path, length)) => {
                    found.push(path);
                    at += length;
                }
                None => at += 1,
            }
        }
        found.dedup();
        found
    }
}

/// Returns the words that look like paths, where it is not known what exists.
fn typed_paths(request: &RequestWords<'_>) -> Vec<String> {
    let typed = request.words.iter().map(|word| &request.text[word.range.clone()]);
    let mut paths: Vec<String> = typed
        .filter(|word| super::change::has_extension(word) || word.contains('/'))
        .filter(|word| !super::web::is_address(word))
        .map(str::to_owned)
        .collect();
    paths.dedup();
    paths
}

fn ask_about(mention: &str, near: &[String]) -> FoundSources {
    let near = &near[..near.len().min(MAX_LISTED_NAMES)];
    let text = if near.is_empty() {
        format!("I find nothing called “{mention}” here. Which file do you mean?")
    } else {
        format!(
            "I find nothing called “{mention}” here. The nearest are:\n{}\nWhich one do you mean?",
            list_names(near)
        )
    };
    FoundSources::Ask(Question::about_name(text, mention))
}

/// Tells whether a part of a text is nearly the name of a path, and not merely one word of it.
fn is_close(path: &str, part: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let part = part.to_lowercase();
    let stem = super::spelling::strip_extension(&name);
    let squash = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let typed = squash(&part);
    typed == squash(&name)
        || typed == squash(stem)
        || path.to_lowercase() == part.trim_end_matches('/')
        || name.chars().count() > 3
            && super::spelling::typing_distance(&part, &name, 2) <= 1
            && !super::spelling::differ_in_numbers(&part, &name)
}

/// Tells whether a word in capital letters is what to look for, and not a file: "every TODO" is not
/// todo.txt, but README is README.md.
fn is_shouted(part: &str, path: &str, text: &str) -> bool {
    let is_capital = |text: &str| {
        text.chars().filter(|c| c.is_alphabetic()).count() >= 3
            && !text.chars().any(char::is_lowercase)
    };
    is_capital(part) && !path.contains(part) && !is_capital(text)
}

/// Tells whether a request is about one file of a type: "the picture in photos".
fn says_one(request: &RequestWords<'_>) -> bool {
    let words: Vec<&str> = request.unquoted().collect();
    let is_one = |three: &[&str]| {
        matches!(three[0], "the" | "that" | "this" | "my" | "one")
            && extensions_of(three[1]).is_some()
            && !is_plural_type(three[1])
            && matches!(
                three[2],
                "in" | "from" | "inside" | "under" | "of" | "to" | "into" | "please"
            )
    };
    words.windows(3).any(is_one) && !wants_all(request)
}

/// Words that end the search for what an order is about.
#[rustfmt::skip]
const ORDER_WORDS: &[&str] = &[
    "delete", "remove", "rm", "erase", "trash", "nuke", "wipe", "purge", "bin", "scrap", "ditch", "drop",
    "clear", "kill", "discard", "please", "pls", "rid", "of", "throw", "away", "out", "move", "copy", "mv", "cp", "put", "take", "bring", "rename", "duplicate",
];
