//! Finds numbers and durations in a text, by rules and never by the model. `training/find_numbers.py`
//! has the same rules, and a test compares the two.

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

/// Represents a number in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberInText {
    /// The range of the number with its unit.
    pub range: Range<usize>,
    /// The number as it stands; none that counts if it was put together from several units.
    value: f64,
    /// The length in milliseconds, if it has a unit of time. A month has no length.
    length: Option<f64>,
    /// The smallest unit in it.
    unit: f64,
}

impl NumberInText {
    /// Returns the value for a parameter of this name: a duration is converted to the unit in the
    /// name. The result is NaN where that is not possible.
    pub fn value_for_parameter(&self, name: &str) -> f64 {
        match (self.length, parameter_unit(name)) {
            (Some(length), Some(unit)) => length / unit,
            _ => self.value,
        }
    }

    /// Adds a smaller duration that follows right after this one.
    fn add_smaller_duration(&self, smaller: &Self) -> Option<Self> {
        let length = self.length? + smaller.length?;
        let range = self.range.start..smaller.range.end;
        // This also holds for NaN: comparisons with it are false.
        let fits = smaller.unit < self.unit && smaller.value >= 0.0;
        fits.then_some(Self { range, value: f64::NAN, length: Some(length), unit: smaller.unit })
    }
}

/// Returns the unit of time, in milliseconds, of a parameter's name: its last word that is a unit.
fn parameter_unit(name: &str) -> Option<f64> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for character in name.chars() {
        let ends =
            !character.is_ascii_alphanumeric() || was_small && character.is_ascii_uppercase();
        if ends {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && character.is_ascii_alphanumeric()
        {
            word.push(character.to_ascii_lowercase());
        }
        was_small = character.is_ascii_lowercase();
    }
    let last = words.len() - 1;
    let unit = |(at, word): (usize, &String)| match word.as_str() {
        // Without a number these are as likely to mean something else.
        "min" | "m" | "h" => None,
        "s" if at < last || at == 0 => None,
        "millis" => Some(1.0),
        word => unit_milliseconds(word).filter(|length| length.is_finite()),
    };
    words.iter().enumerate().rev().find_map(unit)
}

/// Represents a run of digits or of letters.
struct TextRun {
    text: String,
    range: Range<usize>,
}

/// Returns every number in the text, in its order.
pub fn find_numbers(text: &str) -> Vec<NumberInText> {
    let tokens = TextRuns { text, all: split_into_runs(text) };
    let mut found: Vec<NumberInText> = Vec::new();
    let mut at = 0;
    while let Some(first) = tokens.all.get(at) {
        let Some((mut value, mut next)) = tokens.parse_number_at(at) else {
            at += 1;
            continue;
        };
        let (mut length, mut unit) = (None, f64::INFINITY);
        if let Some((position, found)) = tokens.find_unit_after(next) {
            next = position + 1;
            // "An hour and a half".
            if let Some(after) = tokens.skip_and_a_half(next) {
                value += 0.5;
                next = after;
            }
            (length, unit) = (Some(value * found), found);
        }
        // An article by itself is no number.
        if matches!(first.text.as_str(), "a" | "an") && next == at + 1 {
            at += 1;
            continue;
        }
        let mut start = first.range.start;
        if is_negative(&text[..start]) && text[start..].starts_with(|c: char| c.is_ascii_digit()) {
            start -= 1;
            value = -value;
            length = length.map(|length| -length);
        }
        let range = start..tokens.all[next - 1].range.end;
        let amount = NumberInText { range, value, length, unit };
        at = next;
        // "1 minute 30 seconds" is one duration.
        if let Some(before) = found.last_mut()
            && matches!(&text[before.range.end..start], "" | " " | ", " | " and " | ", and ")
            && let Some(both) = before.add_smaller_duration(&amount)
        {
            *before = both;
            continue;
        }
        found.push(amount);
    }
    found
}

/// Tells whether the text before digits ends with a minus sign: a dash that follows nothing.
fn is_negative(before: &str) -> bool {
    before.strip_suffix('-').is_some_and(|before| {
        before.chars().next_back().is_none_or(|c| matches!(c, ' ' | '\n' | '\t' | '(' | '=' | ':'))
    })
}

/// Holds the runs of a text.
struct TextRuns<'a> {
    text: &'a str,
    all: Vec<TextRun>,
}

impl TextRuns<'_> {
    fn run_at(&self, at: usize) -> &str {
        self.all.get(at).map_or("", |token| &token.text)
    }

    /// Returns the text between a token and the one before it.
    fn text_before(&self, at: usize) -> Option<&str> {
        let start = self.all.get(at)?.range.start;
        let end = at.checked_sub(1).map_or(0, |before| self.all[before].range.end);
        Some(&self.text[end..start])
    }

    /// Tells whether a token follows right after the one before it.
    fn is_close(&self, at: usize) -> bool {
        matches!(self.text_before(at), Some("" | " " | "-"))
    }

    /// Returns the value of digits or of number words, and the token after it.
    fn parse_number_at(&self, at: usize) -> Option<(f64, usize)> {
        let (mut current, mut next) = self.parse_number_start(at)?;
        if let Some(after) = self.skip_and_a_half(next) {
            current += 0.5;
            next = after;
        }
        // "Half a million", "a couple of hundred".
        if matches!(self.run_at(at), "half" | "couple") {
            let between = self.skip_small_words(next);
            if self.is_close(next + between) && parse_factor(self.run_at(next + between)).is_some()
            {
                next += between;
            }
        }
        // The finished sum; the factor that the next has to be below; the part that may still grow.
        let (mut total, mut below, mut room) = (0.0, f64::INFINITY, 0.0);
        loop {
            if self.is_close(next)
                && let Some(factor) = parse_factor(self.run_at(next))
                && factor < below
                && (factor >= 1000.0 || current < 100.0)
                && (self.run_at(next) != "k" || self.text_before(next) == Some(""))
            {
                if factor >= 1000.0 {
                    total += current * factor;
                    (current, below) = (0.0, factor);
                } else {
                    current *= factor;
                }
                // "5k and two" are two numbers.
                room = if matches!(self.run_at(next), "k" | "dozen") { 0.0 } else { factor };
                next += 1;
                continue;
            }
            let Some((more, after)) =
                self.parse_after_hundred(next).filter(|(more, _)| *more < room)
            else {
                break;
            };
            let scale = parse_factor(self.run_at(after)).filter(|_| self.is_close(after));
            // "Between one hundred and two hundred" are two numbers.
            if scale.is_some_and(|scale| room.max(scale) < 1000.0 || scale >= below) {
                break;
            }
            current += more;
            (next, room) = (after, 0.0);
        }
        Some((total + current, next))
    }

    /// Returns the value of digits or of one number word, and the token after it.
    fn parse_number_start(&self, at: usize) -> Option<(f64, usize)> {
        let token = self.all.get(at)?;
        if token.text.starts_with(|first: char| first.is_ascii_digit()) {
            return Some((parse_digits(&token.text)?, at + 1));
        }
        let value = parse_number_word(&token.text)?;
        if TENS.contains(&token.text.as_str())
            && self.is_close(at + 1)
            && let Some(unit) = UNITS[1..10].iter().position(|unit| *unit == self.run_at(at + 1))
        {
            return Some((value + to_float(unit + 1), at + 2));
        }
        Some((value, at + 1))
    }

    /// Returns the value of what may follow "hundred": "twenty", "and twenty-five".
    fn parse_after_hundred(&self, at: usize) -> Option<(f64, usize)> {
        let and = usize::from(self.run_at(at) == "and" && self.text_before(at) == Some(" "));
        let is_counted =
            UNITS[1..].contains(&self.run_at(at + and)) || TENS.contains(&self.run_at(at + and));
        (is_counted && self.text_before(at + and) == Some(" "))
            .then(|| self.parse_number_start(at + and))
            .flatten()
    }

    /// Returns the token after "and a half".
    fn skip_and_a_half(&self, at: usize) -> Option<usize> {
        let mut said = ["and", "a", "half"].into_iter().zip(at..);
        let is_said = said.all(|(word, at)| self.run_at(at) == word && self.is_close(at));
        is_said.then_some(at + 3)
    }

    fn skip_small_words(&self, at: usize) -> usize {
        (at..at + 2).take_while(|at| matches!(self.run_at(*at), "of" | "a" | "an")).count()
    }

    /// Returns a unit of time right after a number, as in "a couple of minutes" and "half an hour".
    fn find_unit_after(&self, next: usize) -> Option<(usize, f64)> {
        let position = next + self.skip_small_words(next);
        let length = unit_milliseconds(self.run_at(position))?;
        let gap = &self.text[self.all[next - 1].range.end..self.all[position].range.start];
        let close = gap.chars().all(|c| matches!(c, ' ' | '-' | 'o' | 'f' | 'a' | 'n'));
        close.then_some((position, length))
    }
}

/// Returns the milliseconds of a unit of time.
fn unit_milliseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1000.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000.0,
        "day" | "days" => 86_400_000.0,
        "week" | "weeks" => 604_800_000.0,
        // The number of days is not fixed.
        "month" | "months" | "year" | "years" => f64::NAN,
        _ => return None,
    })
}

/// Parses digits. A comma separates thousands if three digits follow each, and a fraction
/// otherwise.
fn parse_digits(text: &str) -> Option<f64> {
    let groups: Vec<&str> = text.split(',').collect();
    let thousands = groups.len() > 1
        && groups[0].len() <= 3
        && groups[1..].iter().all(|group| group.split('.').next().is_some_and(|g| g.len() == 3));
    let plain = if thousands { text.replace(',', "") } else { text.replace(',', ".") };
    plain.parse().ok()
}

fn parse_number_word(text: &str) -> Option<f64> {
    if let Some(value) = UNITS.iter().position(|unit| *unit == text) {
        return Some(to_float(value));
    }
    if let Some(tens) = TENS.iter().position(|tens| *tens == text) {
        return Some(to_float(10 * (tens + 2)));
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

fn to_float(value: usize) -> f64 {
    u32::try_from(value).map_or(0.0, f64::from)
}

fn parse_factor(text: &str) -> Option<f64> {
    match text {
        "dozen" => Some(12.0),
        "hundred" => Some(100.0),
        "k" | "thousand" => Some(1000.0),
        "million" => Some(1_000_000.0),
        "billion" => Some(1_000_000_000.0),
        _ => None,
    }
}

/// Runs of digits, with a fraction or thousands, and runs of letters.
fn split_into_runs(text: &str) -> Vec<TextRun> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let run = |from: usize, kind: fn(&u8) -> bool| {
        from + bytes[from..].iter().take_while(|byte| kind(byte)).count()
    };
    while at < bytes.len() {
        let end = match bytes[at] {
            byte if byte.is_ascii_alphabetic() => run(at, u8::is_ascii_alphabetic),
            byte if byte.is_ascii_digit() => find_number_end(bytes, at),
            _ => {
                at += 1;
                continue;
            }
        };
        tokens.push(TextRun { text: text[at..end].to_ascii_lowercase(), range: at..end });
        at = end;
    }
    tokens
}

fn find_number_end(bytes: &[u8], at: usize) -> usize {
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
mod tests;
