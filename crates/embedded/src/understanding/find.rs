//! Makes calls that find files: by type, name, size, age, and in an order.

use super::file_names::{FoundEntry, WantedEntry};
use super::kinds_of_files::extensions_of;
use super::look::is_here;
use super::sources::strip_filler;
use super::words::RequestWords;
use super::{PlannedCall, RequestReading, Understanding, ask};
use crate::amounts::find_numbers;
use crate::arguments::Argument;

const LARGEST: &[&str] = &[
    "biggest", "largest", "heaviest", "fattest", "hogging", "longest", "big", "large", "huge",
    "most",
];
const SMALLEST: &[&str] = &["smallest", "tiniest", "littlest", "lightest", "shortest"];
const NEWEST: &[&str] =
    &["newest", "latest", "recent", "recently", "youngest", "fresh", "freshest"];
const OLDEST: &[&str] = &["oldest", "stalest"];
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

pub(super) fn sort_of(request: &RequestWords<'_>) -> Option<(&'static str, bool)> {
    if request.has_any(SMALLEST) {
        return Some(("size", true));
    }
    if request.has_any(OLDEST) {
        return Some(("changed", true));
    }
    if request.has_any(NEWEST)
        || request.has_phrase(&[
            "last changed",
            "last modified",
            "last edited",
            "most recent",
            "changed last",
        ])
    {
        return Some(("changed", false));
    }
    let by_size = request.has_any(&LARGEST[..7])
        || request.has_phrase(&[
            "more big",
            "most space",
            "so big",
            "takes up",
            "eats the most",
            "takes the most",
        ]);
    (by_size && !request.has_phrase(&["bigger than", "larger than"])).then_some(("size", false))
}

/// Returns how many entries of an order are wanted.
fn wanted_count(request: &RequestWords<'_>) -> i64 {
    let numbers = find_numbers(request.text);
    let number = numbers
        .iter()
        .map(|number| number.value_for_parameter("limit"))
        .find(|value| value.fract() == 0.0 && (1.0..100.0).contains(value));
    match number {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and below a hundred")]
        Some(number) => number as i64,
        None if request.has_any(&["files", "ones", "things", "documents", "folders"]) => 5,
        None => 1,
    }
}

/// Returns limits of size: "over 1mb", "smaller than 10 kB".
fn sizes(request: &RequestWords<'_>) -> Vec<(&'static str, String)> {
    let words: Vec<&str> = request.unquoted().collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(size) = parse_size(word, words.get(at + 1).copied()) else { continue };
        let before = &words[at.saturating_sub(3)..at];
        let says = |wanted: &[&str]| before.iter().any(|word| wanted.contains(word));
        if says(&["under", "below", "smaller", "less", "within"]) {
            found.push(("max_size", size));
        } else if says(&[
            "over",
            "above",
            "bigger",
            "larger",
            "more",
            "exceeding",
            "heavier",
            "least",
            "than",
            ">",
        ]) || words.get(at + 1).is_some_and(|next| *next == "+")
        {
            found.push(("min_size", size));
        }
    }
    found
}

fn parse_size(word: &str, next: Option<&str>) -> Option<String> {
    const UNITS: [&str; 14] =
        ["b", "byte", "bytes", "k", "kb", "kib", "m", "mb", "mib", "meg", "megs", "g", "gb", "gib"];
    let digits: String = word.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    if digits.is_empty() || digits.parse::<f64>().is_err() {
        let is_one = matches!(word, "a" | "one");
        let unit = next.filter(|next| {
            matches!(
                *next,
                "meg" | "mb" | "megabyte" | "gig" | "gb" | "gigabyte" | "kb" | "kilobyte"
            )
        })?;
        return is_one.then(|| format!("1 {}", plain_unit(unit)));
    }
    let unit = match &word[digits.len()..] {
        "" => next.map(|next| next.trim_end_matches('+'))?,
        unit => unit.trim_end_matches('+'),
    };
    let known = UNITS.contains(&unit)
        || matches!(
            unit,
            "megabyte"
                | "megabytes"
                | "kilobyte"
                | "kilobytes"
                | "gigabyte"
                | "gigabytes"
                | "gig"
                | "gigs"
        );
    known.then(|| format!("{digits} {}", plain_unit(unit)))
}

fn plain_unit(unit: &str) -> &'static str {
    match unit.chars().next() {
        Some('k') => "KB",
        Some('m') => "MB",
        Some('g') => "GB",
        _ => "B",
    }
}

/// Returns limits of age: "older than a year", "in the last 24h", "since 2023", "changed today".
fn ages(request: &RequestWords<'_>) -> Vec<(&'static str, String)> {
    let text = request.text.to_lowercase();
    let untouched = request.has_any(&["older", "untouched", "before", "unchanged", "stale"])
        || request.has_phrase(&[
            "not touched since",
            "haven't touched since",
            "havent touched since",
            "not changed since",
            "not opened since",
            "haven't opened since",
            "haven't changed since",
            "not been touched since",
            "not modified since",
        ])
        || text.contains("n't touched")
        || text.contains("not been changed");
    let changed = request.has_any(&[
        "changed",
        "modified",
        "touched",
        "edited",
        "updated",
        "new",
        "newer",
        "since",
        "recent",
        "recently",
        "last",
        "today",
        "yesterday",
        "created",
        "within",
    ]);
    let key = if untouched { "changed_before" } else { "changed_after" };
    if let Some(age) = find_age(request) {
        return if untouched || changed { vec![(key, age)] } else { Vec::new() };
    }
    if request.has_any(&["today"]) {
        return vec![("changed_after", "24h".to_owned())];
    }
    if request.has_any(&["yesterday"]) {
        return vec![(key, "48h".to_owned())];
    }
    if request.has_phrase(&["this week", "past week", "last week"]) {
        return vec![(key, "7d".to_owned())];
    }
    if request.has_phrase(&["this month", "past month", "last month"]) {
        return vec![(key, "31d".to_owned())];
    }
    if request.has_phrase(&["this year"]) && (changed || untouched) {
        return vec![(key, "365d".to_owned())];
    }
    let year = request.unquoted().find(|word| {
        word.len() == 4 && word.starts_with("20") && word.chars().all(|c| c.is_ascii_digit())
    });
    match year {
        // "Not since 2023": the year itself is included.
        Some(year) if untouched && request.has_any(&["since"]) => {
            let next =
                year.parse::<u32>().map_or_else(|_| year.to_owned(), |year| (year + 1).to_string());
            vec![("changed_before", format!("{next}-01-01"))]
        }
        Some(year) if untouched => vec![("changed_before", format!("{year}-01-01"))],
        Some(year) if request.has_any(&["since", "after"]) => {
            vec![("changed_after", format!("{year}-01-01"))]
        }
        _ => Vec::new(),
    }
}

/// Returns an age such as "24h" or "a year".
fn find_age(request: &RequestWords<'_>) -> Option<String> {
    let words: Vec<&str> = request.unquoted().collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        let (count, unit) = if digits.is_empty() {
            let count = match *word {
                "a" | "an" | "one" | "last" | "past" => 1,
                "two" => 2,
                "three" => 3,
                "six" => 6,
                _ => return None,
            };
            (count, *words.get(at + 1)?)
        } else if digits.len() == word.len() {
            (digits.parse::<u32>().ok()?, *words.get(at + 1)?)
        } else {
            (digits.parse::<u32>().ok()?, &word[digits.len()..])
        };
        let is_bare_last = matches!(*word, "last" | "past");
        Some(match unit {
            "h" | "hr" | "hrs" | "hour" | "hours" => format!("{count}h"),
            "d" | "day" | "days" if !is_bare_last => format!("{count}d"),
            "w" | "week" | "weeks" => format!("{}d", 7 * count),
            "month" | "months" => format!("{}d", 31 * count),
            "y" | "yr" | "year" | "years" => format!("{}d", 365 * count),
            "minute" | "minutes" | "min" | "mins" => "1h".to_owned(),
            _ => return None,
        })
    })
}

#[cfg(test)]
mod tests;
