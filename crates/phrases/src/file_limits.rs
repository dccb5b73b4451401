//! Reads how files are to be chosen: the largest, those over 1 MB, those changed since last week.

use crate::amounts::find_numbers;
use crate::words::RequestWords;

const LARGEST: &[&str] = &[
    "biggest", "largest", "heaviest", "fattest", "hogging", "longest", "big", "large", "huge",
    "most",
];

const SMALLEST: &[&str] = &["smallest", "tiniest", "littlest", "lightest", "shortest"];

const NEWEST: &[&str] =
    &["newest", "latest", "recent", "recently", "youngest", "fresh", "freshest"];

const OLDEST: &[&str] = &["oldest", "stalest"];

/// Returns the key by which files are sorted, and whether the order is reversed.
pub fn sort_of(request: &RequestWords<'_>) -> Option<(&'static str, bool)> {
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
pub fn wanted_count(request: &RequestWords<'_>) -> i64 {
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
pub fn sizes(request: &RequestWords<'_>) -> Vec<(&'static str, String)> {
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
pub fn ages(request: &RequestWords<'_>) -> Vec<(&'static str, String)> {
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
