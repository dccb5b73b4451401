//! Cuts a phrase into tokens: words, numbers, times, dates, spans of time.

use jiff::{Timestamp, civil};

use crate::ScheduleError;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    /// Reads the name or the abbreviation of a unit.
    pub(super) fn read(word: &str) -> Option<Self> {
        Some(match word {
            "second" | "seconds" | "sec" | "secs" | "s" => Self::Second,
            "minute" | "minutes" | "min" | "mins" | "m" => Self::Minute,
            "hour" | "hours" | "hr" | "hrs" | "h" => Self::Hour,
            "day" | "days" | "d" => Self::Day,
            "week" | "weeks" | "w" => Self::Week,
            "month" | "months" => Self::Month,
            "year" | "years" => Self::Year,
            _ => return None,
        })
    }

    /// Returns its seconds, if it has the same number always.
    pub(super) fn seconds(self) -> Option<u64> {
        match self {
            Self::Second => Some(1),
            Self::Minute => Some(60),
            Self::Hour => Some(3600),
            Self::Day | Self::Week | Self::Month | Self::Year => None,
        }
    }
}

/// The half of the day that a time is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Am,
    Pm,
}

/// A time of day as it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpokenTime {
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) half: Option<Half>,
}

/// A part of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Number(u32),
    /// Such as `1st`.
    Ordinal(u32),
    /// Such as `9:30` and `9am`.
    Clock(SpokenTime),
    /// Such as `10m` and `1h30m`.
    Span(Vec<(u32, Unit)>),
    Date(civil::Date),
    DateTime(civil::DateTime),
    Moment(Timestamp),
}

/// Cuts a phrase into tokens.
pub(super) fn cut(text: &str) -> Result<Vec<Token>, ScheduleError> {
    let text = text
        .to_lowercase()
        .replace(['’', '`'], "'")
        .replace("o'clock", " oclock ")
        .replace("a.m.", "am")
        .replace("p.m.", "pm")
        .replace(['–', '—'], "-")
        .replace([',', ';', '(', ')', '"', '“', '”'], " ");
    let mut tokens = Vec::new();
    for chunk in text.split_whitespace() {
        let chunk = chunk.trim_matches(['.', '!', '?', ':']);
        if !chunk.is_empty() {
            push_chunk(chunk, &mut tokens)?;
        }
    }
    Ok(join_numbers(tokens))
}

fn push_chunk(chunk: &str, tokens: &mut Vec<Token>) -> Result<(), ScheduleError> {
    if let Some(token) = read_date(chunk)? {
        tokens.push(token);
    } else if let Some(token) = read_figures(chunk)? {
        tokens.push(token);
    } else if let Some(number) = read_number_word(chunk) {
        tokens.push(Token::Number(number));
    } else if let Some((first, second)) = chunk.split_once('-')
        && !first.is_empty()
        && !second.is_empty()
    {
        push_chunk(first, tokens)?;
        if is_range(first, second) {
            tokens.push(Token::Word("to".to_owned()));
        }
        push_chunk(second, tokens)?;
    } else {
        tokens.push(Token::Word(chunk.to_owned()));
    }
    Ok(())
}

/// Tells whether a dash between two words means "to": between two days, or between two numbers.
fn is_range(first: &str, second: &str) -> bool {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    (is_number(first) && is_number(second))
        || (super::days::read_weekday(first).is_some()
            && super::days::read_weekday(second).is_some())
}

fn read_date(chunk: &str) -> Result<Option<Token>, ScheduleError> {
    let bytes = chunk.as_bytes();
    let is_dated = bytes.len() >= 10
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[7] == b'-';
    if !is_dated {
        return Ok(None);
    }
    let upper = chunk.to_uppercase();
    let wrong = || ScheduleError::Never(format!("there is no date {chunk}"));
    if chunk.len() == 10 {
        return upper.parse().map(|date| Some(Token::Date(date))).map_err(|_| wrong());
    }
    if let Ok(moment) = upper.parse() {
        return Ok(Some(Token::Moment(moment)));
    }
    upper.parse().map(|time| Some(Token::DateTime(time))).map_err(|_| wrong())
}

/// Reads what begins with a digit.
fn read_figures(chunk: &str) -> Result<Option<Token>, ScheduleError> {
    let digits = chunk.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 6 {
        return Ok(None);
    }
    let (number, rest) = chunk.split_at(digits);
    let Ok(number) = number.parse::<u32>() else { return Ok(None) };
    Ok(match rest {
        "" => Some(Token::Number(number)),
        "st" | "nd" | "rd" | "th" => Some(Token::Ordinal(number)),
        "am" => Some(Token::Clock(check_time(number, 0, Some(Half::Am), chunk)?)),
        "pm" => Some(Token::Clock(check_time(number, 0, Some(Half::Pm), chunk)?)),
        _ => match read_clock(number, rest, chunk)? {
            Some(time) => Some(Token::Clock(time)),
            None => read_span(chunk).map(Token::Span),
        },
    })
}

fn read_clock(hour: u32, rest: &str, chunk: &str) -> Result<Option<SpokenTime>, ScheduleError> {
    let Some(rest) = rest.strip_prefix([':', '.', 'h']) else { return Ok(None) };
    let (minutes, rest) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
    let half = match rest {
        "" | "h" | ":00" => None,
        "am" => Some(Half::Am),
        "pm" => Some(Half::Pm),
        _ => return Ok(None),
    };
    match (minutes.len(), minutes.parse()) {
        (2, Ok(minute)) => check_time(hour, minute, half, chunk).map(Some),
        _ => Ok(None),
    }
}

/// Checks that a time of day exists.
pub(super) fn check_time(
    hour: u32,
    minute: u32,
    half: Option<Half>,
    said: &str,
) -> Result<SpokenTime, ScheduleError> {
    let hours = if half.is_some() { 1..=12 } else { 0..=24 };
    if !hours.contains(&hour) || minute > 59 || (hour == 24 && minute > 0) {
        return Err(ScheduleError::Never(format!("there is no time of day {said}")));
    }
    Ok(SpokenTime { hour: hour % 24, minute, half })
}

/// Reads amounts with units and nothing between them.
fn read_span(chunk: &str) -> Option<Vec<(u32, Unit)>> {
    let mut parts = Vec::new();
    let mut rest = chunk;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at(digits);
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, after) = after.split_at(letters);
        parts.push((number.parse().ok()?, Unit::read(unit)?));
        rest = after;
    }
    Some(parts)
}

const NUMBER_WORDS: &[&str] = &[
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

const TENS: &[(&str, u32)] =
    &[("twenty", 20), ("thirty", 30), ("forty", 40), ("fifty", 50), ("sixty", 60), ("ninety", 90)];

fn read_number_word(word: &str) -> Option<u32> {
    if let Some(number) = NUMBER_WORDS.iter().position(|name| *name == word) {
        return u32::try_from(number).ok();
    }
    if let Some((_, number)) = TENS.iter().find(|(name, _)| *name == word) {
        return Some(*number);
    }
    let (tens, ones) = word.split_once('-')?;
    let ones = read_number_word(ones).filter(|ones| (1..10).contains(ones))?;
    TENS.iter().find(|(name, _)| *name == tens).map(|(_, tens)| tens + ones)
}

/// Joins "twenty five".
fn join_numbers(tokens: Vec<Token>) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        if let (Some(Token::Number(tens @ (20 | 30 | 40 | 50))), Token::Number(ones @ 1..=9)) =
            (joined.last_mut(), &token)
        {
            *tens += ones;
            continue;
        }
        joined.push(token);
    }
    joined
}
