//! Looks up names of files: upper and lower case, missing extensions, typos, words of a name,
//! subdirectories and words for types of files.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::spelling::{
    differ_in_numbers, matches_wildcards, numbers_in_name, singular, split_name, strip_extension,
    typing_distance,
};
use crate::surroundings::{FileEntry, Surroundings};

/// Limits the names that a question lists.
pub(crate) const MAX_LISTED_NAMES: usize = 6;

/// Limits the files whose titles are read.
const MAX_TITLES: usize = 300;

/// The least score at which an entry is what was meant.
const ACCEPTED: f32 = 45.0;
/// The least score at which an entry is named as the nearest one.
const NEAR: f32 = 20.0;

/// Says what may be meant by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedEntry {
    File,
    Directory,
    Any,
}

/// Says what was found for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FoundEntry {
    One(String),
    /// Several fit equally well.
    Several(Vec<String>),
    /// None fits; these are the nearest.
    Nothing(Vec<String>),
}

/// Knows the names of a workspace. They are read when they are first needed.
#[derive(Debug)]
pub(crate) struct FileNames<'a> {
    surroundings: &'a dyn Surroundings,
    entries: OnceCell<Vec<NamedEntry>>,
    /// Names that earlier steps of the same request will make.
    expected: Vec<FileEntry>,
}

#[derive(Debug)]
struct NamedEntry {
    path: String,
    is_directory: bool,
    /// The last part of the path, in lower case.
    name: String,
    /// The words of the name without its extension.
    words: Vec<String>,
    /// The words of the directories above it, and its extension.
    around: Vec<String>,
}

impl NamedEntry {
    fn of(entry: &FileEntry) -> Self {
        let path = entry.path.trim_end_matches('/').to_owned();
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let name = name.to_lowercase();
        let stem = if entry.is_directory { name.as_str() } else { strip_extension(&name) };
        let mut around = split_name(&parent.to_lowercase());
        if stem.len() < name.len() {
            around.push(name[stem.len() + 1..].to_owned());
        }
        Self { words: split_name(stem), around, is_directory: entry.is_directory, name, path }
    }

    /// Tells whether a mention has a number that this entry does not have: it is another one, however alike
    /// the names are.
    fn has_other_number(&self, mention: &Mention) -> bool {
        if mention.numbers.is_empty() {
            return false;
        }
        let own = numbers_in_name(&self.path);
        mention.numbers.iter().any(|number| !own.contains(number))
    }

    fn stem(&self) -> &str {
        if self.is_directory { &self.name } else { strip_extension(&self.name) }
    }

    /// Returns how well a mention fits this entry, 100 at most.
    fn score(&self, mention: &Mention) -> f32 {
        let path = self.path.to_lowercase();
        let text = mention.text.as_str();
        let lower = mention.lower.as_str();
        if self.path == text {
            return 100.0;
        }
        if path == lower {
            return 95.0;
        }
        if self.name == lower {
            return 90.0;
        }
        if path.ends_with(lower) && path[..path.len() - lower.len()].ends_with('/') {
            return 89.0;
        }
        let squashed: String = mention.words.concat();
        let own: String = self.words.concat();
        if squashed.is_empty() {
            return 0.0;
        }
        let with_extension: String = split_name(&self.name).concat();
        if squashed == with_extension {
            return 86.0;
        }
        // An extension that was typed has to be right.
        if mention.extension.is_some() && mention.extension.as_deref() != self.extension() {
            return self.typing_error(lower).map_or(0.0, |_| 40.0);
        }
        if squashed == own || self.words == mention.words {
            return 80.0;
        }
        if mention
            .words
            .iter()
            .map(|word| singular(word))
            .eq(self.words.iter().map(|w| singular(w)))
        {
            return 78.0;
        }
        if let Some(score) = self.typing_error(lower) {
            return score;
        }
        // "to do list" is todo.txt.
        if own.len() >= 4 && squashed.starts_with(&own) && is_generic(&squashed[own.len()..]) {
            return 66.0;
        }
        self.score_words(mention)
    }

    fn extension(&self) -> Option<&str> {
        (!self.is_directory && self.stem().len() < self.name.len())
            .then(|| &self.name[self.stem().len() + 1..])
    }

    /// Returns the score of a name with a typing error in it.
    fn typing_error(&self, lower: &str) -> Option<f32> {
        let stem = strip_extension(lower);
        let has_extension = stem.len() < lower.len();
        let (typed, own) =
            if has_extension { (lower, self.name.as_str()) } else { (stem, self.stem()) };
        let allowed = match own.chars().count() {
            0..=3 => return None,
            4..=7 => 1,
            _ => 2,
        };
        let is_alike = typing_distance(typed, own, allowed + 1) <= allowed;
        (is_alike && !differ_in_numbers(typed, own)).then_some(70.0)
    }

    /// Scores by the words of the mention that the path has.
    fn score_words(&self, mention: &Mention) -> f32 {
        let mine: BTreeSet<String> = self.words.iter().map(|word| singular(word)).collect();
        let around: BTreeSet<String> = self.around.iter().map(|word| singular(word)).collect();
        let (mut hits, mut near) = (0.0, 0.0);
        for word in &mention.words {
            let word = singular(word);
            if mine.contains(&word) {
                hits += 1.0;
            } else if mine.iter().any(|own| {
                own.len() >= 5 && typing_distance(&word, own, 2) <= 1
                    || own.len() >= 4
                        && word.len() >= 4
                        && (own.starts_with(&word) || word.starts_with(own.as_str()))
            }) {
                hits += 0.8;
            } else if around.contains(&word) {
                near += 0.6;
            }
        }
        if hits == 0.0 {
            return 0.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "a name has few words")]
        let (asked, own) = (mention.words.len() as f32, mine.len().max(1) as f32);
        let covered = ((hits + near) / asked).min(1.0);
        // All words of the mention: nearly a name. Some of them: only as good as their share.
        if covered > 0.75 { 56.0 + 10.0 * hits / own } else { 30.0 * covered + 25.0 * (hits / own) }
    }
}

/// Represents a name as it was typed.
#[derive(Debug)]
struct Mention {
    text: String,
    lower: String,
    extension: Option<String>,
    words: Vec<String>,
    numbers: Vec<String>,
}

/// Lists words that say nothing about which file is meant.
#[rustfmt::skip]
const GENERIC_WORDS: &[&str] = &[
    "the", "my", "our", "your", "this", "that", "these", "those", "a", "an", "all", "any", "some",
    "of", "in", "on", "at", "to", "from", "into", "for", "with", "about", "file", "files",
    "folder", "folders", "directory", "directories", "dir", "dirs", "document", "documents", "doc",
    "called", "named", "please", "plz", "pls", "inside", "under", "named", "text", "it", "its",
    "is", "and", "new", "old", "one", "list", "carpet", "subfolder", "subdirectory", "path",
    "contents", "content", "whole", "entire", "thing", "stuff", "picture", "pic", "photo", "image",
    "up",
];

fn is_generic(rest: &str) -> bool {
    rest.is_empty() || ["list", "file", "notes", "note", "doc", "txt", "s"].contains(&rest)
}

impl Mention {
    fn of(text: &str, with_generic_words: bool) -> Self {
        let text = text.trim().trim_matches(['"', '\'', '`', '“', '”', '‘', '’']).trim();
        let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/').to_owned();
        let lower = text.to_lowercase();
        let stem = strip_extension(&lower);
        let has_extension = stem.len() < lower.len() && !lower.contains(' ');
        let extension = has_extension.then(|| lower[stem.len() + 1..].to_owned());
        let mut words = split_name(if has_extension { stem } else { &lower });
        if !with_generic_words {
            words.retain(|word| !GENERIC_WORDS.contains(&word.as_str()));
        }
        let numbers = numbers_in_name(&lower);
        Self { text, lower, extension, words, numbers }
    }
}

impl<'a> FileNames<'a> {
    pub(crate) fn new(surroundings: &'a dyn Surroundings) -> Self {
        Self { surroundings, entries: OnceCell::new(), expected: Vec::new() }
    }

    /// Returns where the names come from.
    pub(crate) fn surroundings(&self) -> &'a dyn Surroundings {
        self.surroundings
    }

    /// Adds a name that will be there when a later step is taken.
    pub(crate) fn expect(&mut self, path: &str, is_directory: bool) {
        let path = path.trim_end_matches('/').to_owned();
        self.expected.push(FileEntry { path, is_directory });
        self.entries.take();
    }

    /// Tells whether nothing is known about what exists.
    pub(crate) fn is_unknown(&self) -> bool {
        self.entries().is_empty()
    }

    /// Tells whether a name is one that an earlier step of the request makes.
    pub(crate) fn is_expected(&self, path: &str) -> bool {
        self.expected.iter().any(|entry| entry.path == path.trim_end_matches('/'))
    }

    fn entries(&self) -> &[NamedEntry] {
        self.entries.get_or_init(|| {
            let listed = self.surroundings.list_files();
            let is_new = |entry: &&FileEntry| !listed.iter().any(|known| known.path == entry.path);
            let expected = self.expected.iter().filter(is_new);
            listed.iter().chain(expected).map(NamedEntry::of).collect()
        })
    }

    /// Returns all paths of files below a directory; `.` is the workspace.
    pub(crate) fn files_within(&self, directory: &str) -> Vec<&str> {
        let prefix = format!("{}/", directory.trim_end_matches('/'));
        let inside = |entry: &&NamedEntry| {
            !entry.is_directory && (directory == "." || entry.path.starts_with(&prefix))
        };
        self.entries().iter().filter(inside).map(|entry| entry.path.as_str()).collect()
    }

    /// Tells whether a path exists, and whether it is a directory.
    pub(crate) fn kind_of(&self, path: &str) -> Option<bool> {
        let path = path.trim_end_matches('/');
        let path = path.strip_prefix("./").unwrap_or(path);
        if path == "." {
            return Some(true);
        }
        self.entries().iter().find(|entry| entry.path == path).map(|entry| entry.is_directory)
    }

    /// Returns the text of a file.
    pub(crate) fn read_text(&self, path: &str) -> Option<String> {
        self.surroundings.read_text(path)
    }

    /// Looks up a name.
    pub(crate) fn find(&self, mention: &str, wanted: WantedEntry) -> FoundEntry {
        let mention = super::sources::strip_filler(mention);
        if self.entries().is_empty() {
            // Nothing is known: a name is what was typed.
            let typed = mention.trim_matches(['"', '\'', '`', '“', '”']);
            let is_name = !typed.is_empty() && !super::change::is_pronoun(typed);
            return if is_name {
                FoundEntry::One(typed.to_owned())
            } else {
                FoundEntry::Nothing(Vec::new())
            };
        }
        match self.find_mention(&Mention::of(mention, true), wanted) {
            FoundEntry::Nothing(near) => {
                let bare = Mention::of(mention, false);
                if bare.words.is_empty() {
                    return FoundEntry::Nothing(near);
                }
                self.find_mention(&bare, wanted)
            }
            found => found,
        }
    }

    fn find_mention(&self, mention: &Mention, wanted: WantedEntry) -> FoundEntry {
        let fits = |entry: &&NamedEntry| match wanted {
            WantedEntry::File => !entry.is_directory,
            WantedEntry::Directory => entry.is_directory,
            WantedEntry::Any => true,
        };
        let mut scored: Vec<(f32, &NamedEntry)> = self
            .entries()
            .iter()
            .filter(fits)
            .map(|entry| (entry.score(mention), entry))
            .filter(|(score, _)| *score >= NEAR)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
        let paths = |scored: &[(f32, &NamedEntry)]| {
            scored.iter().take(MAX_LISTED_NAMES).map(|(_, entry)| entry.path.clone()).collect()
        };
        let same: Vec<(f32, &NamedEntry)> =
            scored.iter().filter(|(_, entry)| !entry.has_other_number(mention)).copied().collect();
        if same.is_empty() && !scored.is_empty() {
            return FoundEntry::Nothing(paths(&scored));
        }
        let scored = same;
        match scored.first() {
            Some((best, first)) if *best >= ACCEPTED => {
                let alike: Vec<_> =
                    scored.iter().take_while(|(score, _)| best - score < 3.0).copied().collect();
                match alike.as_slice() {
                    [_] => FoundEntry::One(first.path.clone()),
                    _ => FoundEntry::Several(paths(&alike)),
                }
            }
            // Only one entry has any of the words: it is the one.
            Some((best, first))
                if mention.words.iter().any(|word| word.chars().count() >= 4)
                    && scored.get(1).is_none_or(|(next, _)| next * 1.5 < *best) =>
            {
                FoundEntry::One(first.path.clone())
            }
            _ => match self.find_title(mention).filter(|_| wanted != WantedEntry::Directory) {
                Some(path) => FoundEntry::One(path),
                None => FoundEntry::Nothing(paths(&scored)),
            },
        }
    }

    /// Returns the file whose title has all the words of a mention.
    fn find_title(&self, mention: &Mention) -> Option<String> {
        let words: Vec<&String> =
            mention.words.iter().filter(|word| !GENERIC_WORDS.contains(&word.as_str())).collect();
        if words.len() < 2 || mention.extension.is_some() {
            return None;
        }
        let has_title = |entry: &&NamedEntry| {
            !entry.is_directory
                && self.read_text(&entry.path).is_some_and(|text| {
                    let title =
                        text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                    let title = split_name(&title.to_lowercase());
                    words.iter().all(|word| title.contains(word))
                })
        };
        let mut found = self.entries().iter().take(MAX_TITLES).filter(has_title);
        let first = found.next()?;
        found.next().is_none().then(|| first.path.clone())
    }

    /// Returns the paths that a pattern with `*` and `?` matches. A pattern without `/` is compared
    /// with names in every directory below `directory`.
    pub(crate) fn match_pattern(&self, pattern: &str, directory: &str) -> Vec<String> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern).to_lowercase();
        let prefix = format!("{}/", directory.trim_end_matches('/'));
        let fits = |entry: &&NamedEntry| {
            let path = entry.path.to_lowercase();
            let inside = directory == "." || entry.path.starts_with(&prefix);
            let compared = if pattern.contains('/') { path.as_str() } else { entry.name.as_str() };
            inside && !entry.is_directory && matches_wildcards(&pattern, compared)
        };
        self.entries().iter().filter(fits).map(|entry| entry.path.clone()).collect()
    }
}

#[cfg(test)]
mod tests;
