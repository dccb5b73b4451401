//! Numbers and durations in a text, by rules and never by the model. `training/amounts.py` has the
//! same rules, and a test compares the two.

use std::ops::Range;

const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] =
    ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// A number in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Amount {
    /// Where it stands, with its unit.
    pub(crate) place: Range<usize>,
    value: f64,
    /// How many seconds its unit is, if it is one of time.
    seconds: Option<f64>,
}

impl Amount {
    /// What it means for a parameter of this name: a duration is counted in what the name says.
    pub(crate) fn for_parameter(&self, name: &str) -> f64 {
        match self.seconds {
            Some(unit) if name.contains("second") => self.value * unit,
            Some(unit) if name.contains("minute") => self.value * unit / 60.0,
            _ => self.value,
        }
    }
}

/// A run of digits or of letters.
struct Token {
    text: String,
    place: Range<usize>,
}

/// Every number in the text, in its order.
pub(crate) fn amounts(text: &str) -> Vec<Amount> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = tokens.get(at) {
        let Some((mut value, mut next)) = beginning(&tokens, at) else {
            at += 1;
            continue;
        };
        let mut end = tokens[next - 1].place.end;
        while let Some(scale) = tokens.get(next)
            && let Some(factor) = factor(&scale.text)
            && scale.place.start - end <= 1
        {
            value *= factor;
            end = scale.place.end;
            next += 1;
        }
        let mut seconds = None;
        if let Some((position, unit)) = unit_after(text, &tokens, next, end) {
            seconds = Some(unit);
            end = tokens[position].place.end;
            next = position + 1;
        }
        // An article alone is no number.
        if matches!(first.text.as_str(), "a" | "an") && next == at + 1 {
            at += 1;
            continue;
        }
        found.push(Amount { place: first.place.start..end, value, seconds });
        at = next;
    }
    found
}

/// The value of digits or of a word, and the token after it.
fn beginning(tokens: &[Token], at: usize) -> Option<(f64, usize)> {
    let token = &tokens[at];
    if token.text.starts_with(|first: char| first.is_ascii_digit()) {
        return Some((digits(&token.text)?, at + 1));
    }
    let value = word(&token.text)?;
    if TENS.contains(&token.text.as_str())
        && let Some(next) = tokens.get(at + 1)
        && next.place.start - token.place.end <= 1
        && let Some(unit) = UNITS[1..10].iter().position(|unit| *unit == next.text)
    {
        return Some((value + small(unit + 1), at + 2));
    }
    Some((value, at + 1))
}

/// A comma stands before thousands if three digits follow each, and else before a fraction.
fn digits(text: &str) -> Option<f64> {
    let groups: Vec<&str> = text.split(',').collect();
    let thousands = groups.len() > 1
        && groups[0].len() <= 3
        && groups[1..].iter().all(|group| group.split('.').next().is_some_and(|g| g.len() == 3));
    let plain = if thousands { text.replace(',', "") } else { text.replace(',', ".") };
    plain.parse().ok()
}

fn word(text: &str) -> Option<f64> {
    if let Some(value) = UNITS.iter().position(|unit| *unit == text) {
        return Some(small(value));
    }
    if let Some(tens) = TENS.iter().position(|tens| *tens == text) {
        return Some(small(10 * (tens + 2)));
    }
    Some(match text {
        "half" => 0.5,
        "a" | "an" | "first" | "once" | "single" => 1.0,
        "couple" | "second" | "twice" => 2.0,
        "third" => 3.0,
        "dozen" => 12.0,
        _ => return None,
    })
}

fn small(value: usize) -> f64 {
    u32::try_from(value).map_or(0.0, f64::from)
}

fn factor(text: &str) -> Option<f64> {
    match text {
        "hundred" => Some(100.0),
        "thousand" => Some(1000.0),
        _ => None,
    }
}

/// A unit of time right after a number, as in "a couple of minutes" and "half an hour".
fn unit_after(text: &str, tokens: &[Token], next: usize, end: usize) -> Option<(usize, f64)> {
    let small_words = |token: &&Token| matches!(token.text.as_str(), "of" | "a" | "an");
    let between = tokens[next..].iter().take(2).take_while(small_words).count();
    let token = tokens.get(next + between)?;
    let gap = &text[end..token.place.start];
    let close = gap.chars().all(|c| matches!(c, ' ' | '-' | 'o' | 'f' | 'a' | 'n'));
    let unit = match token.text.as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "day" | "days" => 86_400.0,
        _ => return None,
    };
    close.then_some((next + between, unit))
}

/// Runs of digits, with a fraction or thousands, and runs of letters.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let run = |from: usize, kind: fn(&u8) -> bool| {
        from + bytes[from..].iter().take_while(|byte| kind(byte)).count()
    };
    while at < bytes.len() {
        let end = match bytes[at] {
            byte if byte.is_ascii_alphabetic() => run(at, u8::is_ascii_alphabetic),
            byte if byte.is_ascii_digit() => number_end(bytes, at),
            _ => {
                at += 1;
                continue;
            }
        };
        tokens.push(Token { text: text[at..end].to_ascii_lowercase(), place: at..end });
        at = end;
    }
    tokens
}

fn number_end(bytes: &[u8], at: usize) -> usize {
    let digits = |from: usize| {
        bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_digit()).count())
    };
    let mut end = at + digits(at);
    if end - at <= 3 {
        let first = end;
        while bytes.get(end) == Some(&b',') && digits(end + 1) == 3 {
            end += 4;
        }
        if end > first {
            let fraction = digits(end + 1);
            return if bytes.get(end) == Some(&b'.') && fraction > 0 {
                end + 1 + fraction
            } else {
                end
            };
        }
    }
    let fraction = digits(end + 1);
    if matches!(bytes.get(end), Some(b'.' | b',')) && fraction > 0 {
        end + 1 + fraction
    } else {
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, parameter: &str) -> Vec<f64> {
        amounts(text).iter().map(|amount| amount.for_parameter(parameter)).collect()
    }

    #[test]
    fn numbers_are_read_in_words_and_digits() {
        assert_eq!(values("the first twenty-five lines of 1,200", "limit"), [1.0, 25.0, 1200.0]);
        assert_eq!(values("0.5 or 2,5 or three hundred", "limit"), [0.5, 2.5, 300.0]);
        assert_eq!(values("a file and an egg", "limit"), [0.0; 0]);
    }

    #[test]
    fn durations_are_counted_in_what_the_parameter_says() {
        assert_eq!(values("half an hour", "timeout_seconds"), [1800.0]);
        assert_eq!(values("a couple of minutes", "timeout_seconds"), [120.0]);
        assert_eq!(values("wait 2 hours", "minutes"), [120.0]);
        assert_eq!(values("90s", "wait_seconds"), [90.0]);
    }

    #[test]
    fn a_place_is_what_was_written() {
        let text = "wait ten minutes, then 3";
        let places: Vec<&str> = amounts(text).iter().map(|a| &text[a.place.clone()]).collect();
        assert_eq!(places, ["ten minutes", "3"]);
    }

    /// `training/amounts.py` wrote this down: texts of the training, with what it found.
    #[test]
    fn training_and_program_read_the_same_numbers() {
        let lines = include_str!("../../tests/data/amounts.jsonl").lines();
        let mut compared = 0;
        for line in lines {
            let (text, expected): (String, Vec<(usize, usize, f64)>) =
                serde_json::from_str(line).unwrap();
            let found: Vec<_> = amounts(&text)
                .iter()
                .map(|a| (a.place.start, a.place.end, a.for_parameter("seconds")))
                .collect();
            assert_eq!(found, expected, "{text}");
            compared += found.len();
        }
        assert!(compared > 500, "{compared}");
    }
}
