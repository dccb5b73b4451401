//! Reads cron expressions and finds the times that they name.

use std::fmt;

use croner::Cron;
use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

use crate::ScheduleError;
use crate::wall_clock::{next_by_clock, next_by_date};

/// The names of common expressions.
const NICKNAMES: &[(&str, &str)] = &[
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// A cron expression of five fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CronRule {
    text: String,
    cron: Cron,
}

impl CronRule {
    /// Reads an expression. What it never names is not refused yet.
    pub(crate) fn parse(text: &str) -> Result<Self, ScheduleError> {
        let given = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let nickname = NICKNAMES.iter().find(|(name, _)| given.eq_ignore_ascii_case(name));
        let text = nickname.map_or(given, |(_, expression)| (*expression).to_owned());
        let parser =
            CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let wrong = |error: CronError| {
            let reason = match error {
                CronError::InvalidPattern(reason)
                | CronError::IllegalCharacters(reason)
                | CronError::ComponentError(reason) => reason,
                other => other.to_string(),
            };
            let reason = reason.trim_end_matches('.').to_owned();
            ScheduleError::Cron { expression: text.clone(), reason }
        };
        let cron = parser.parse(&text).map_err(wrong)?;
        Ok(Self { text, cron })
    }

    /// Tells whether a text has the form of an expression, with or without mistakes.
    pub(crate) fn is_expression(text: &str) -> bool {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let is_field = |field: &&str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "*/,-#?".contains(c);
            field.chars().all(allowed)
                && (field.contains(['*', '/', '?', '#'])
                    || field.starts_with(|c: char| c.is_ascii_digit()))
        };
        let is_name =
            |field: &&str| field.split([',', '-']).all(|name| name.len() == 3 && name.is_ascii());
        match fields.as_slice() {
            [nickname] => nickname.starts_with('@'),
            [minute, hour, rest @ ..] if (3..=5).contains(&rest.len()) => {
                is_field(minute)
                    && is_field(hour)
                    && rest.iter().all(|field| is_field(field) || is_name(field) || *field == "L")
            }
            _ => false,
        }
    }

    /// Returns the next moment that it names.
    pub(crate) fn next_after(&self, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
        let next = |local: civil::DateTime| self.cron.find_next_occurrence(&local, false).ok();
        if self.repeats_through_the_day() {
            next_by_clock(zone, after, next)
        } else {
            next_by_date(zone, after, next)
        }
    }

    /// Tells whether it names times by the clock and not by the day: its hours are all there are, or
    /// every second, third, ….
    fn repeats_through_the_day(&self) -> bool {
        self.fields().nth(1).is_some_and(|hour| hour.starts_with(['*', '?']))
    }

    /// Returns the fields: minute, hour, day, month, weekday.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.text.split(' ')
    }

    /// Describes it in words.
    pub(crate) fn describe(&self) -> String {
        self.cron.describe()
    }
}

impl fmt::Display for CronRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
