//! Recognises times and days that never come: 25:00, 31 February.

const MONTHS: [(&str, u32); 12] = [
    ("jan", 31),
    ("feb", 29),
    ("mar", 31),
    ("apr", 30),
    ("may", 31),
    ("jun", 30),
    ("jul", 31),
    ("aug", 31),
    ("sep", 30),
    ("oct", 31),
    ("nov", 30),
    ("dec", 31),
];
const MONTH_NAMES: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Returns the first time or day of a text that never comes, as it stands there.
pub fn find_impossible_time(text: &str) -> Option<&str> {
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .collect();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        if is_impossible_clock(word, next) {
            return Some(word);
        }
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let around = [next, words.get(at + 2).copied().unwrap_or_default(), before];
        let follows_of = next.eq_ignore_ascii_case("of");
        let month = around
            .iter()
            .enumerate()
            .find_map(|(place, word)| (place != 1 || follows_of).then(|| days_of(word)).flatten());
        if let Some(day) = day_of(word)
            && month.is_some_and(|days| day > days)
        {
            return Some(word);
        }
    }
    None
}

/// Tells whether a word is a time of day that does not exist: 25:00, 12:75, "13 pm".
fn is_impossible_clock(word: &str, next: &str) -> bool {
    if let Some((hour, minutes)) = word.split_once(':') {
        let minutes: String = minutes.chars().take_while(char::is_ascii_digit).collect();
        return match (hour.parse::<u32>(), minutes.parse::<u32>()) {
            (Ok(hour), Ok(minute)) if hour < 100 && minutes.len() == 2 => {
                minute > 59 || hour > 24 || hour == 24 && minute > 0
            }
            _ => false,
        };
    }
    let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
    let unit = if digits.len() == word.len() { next } else { &word[digits.len()..] };
    let hour: u32 = digits.parse().unwrap_or_default();
    match unit.to_lowercase().as_str() {
        "am" | "pm" | "a.m" | "p.m" | "o'clock" | "oclock" | "o’clock" => hour > 24,
        _ => false,
    }
}

/// Returns the day that "31", "31st" or "31." says.
fn day_of(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th")
        .then(|| digits.parse().ok())?
        .filter(|day| (1..100).contains(day))
}

fn days_of(word: &str) -> Option<u32> {
    let word = word.to_lowercase();
    MONTHS
        .iter()
        .zip(MONTH_NAMES)
        .find(|((short, _), long)| word == *short || word == *long)
        .map(|((_, days), _)| *days)
}

#[cfg(test)]
mod tests;
