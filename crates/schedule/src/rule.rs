//! Holds a schedule in the form that is stored: without words that depend on the day on which they
//! were said.

use std::fmt;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, civil};

use crate::ScheduleError;
use crate::cron::CronRule;
use crate::wall_clock::next_by_date;

/// The shortest interval, in seconds.
pub(crate) const MIN_INTERVAL_SECONDS: u64 = 10;

/// The longest interval, in seconds: about ten years.
const MAX_INTERVAL_SECONDS: u64 = 10 * 366 * 86_400;

/// The rule behind a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Once.
    Once(Timestamp),
    /// Again and again after so many seconds of real time, whatever clocks show.
    Every { seconds: u64, from: Timestamp },
    /// At the times that any of several cron expressions name.
    Cron(Vec<CronRule>),
    /// At times of day on every so many-th day.
    Days { days: u32, first: civil::Date, times: Vec<civil::Time> },
}

impl Rule {
    /// Makes an interval, if it is neither too short nor too long.
    pub(crate) fn every(seconds: u64, from: Timestamp) -> Result<Self, ScheduleError> {
        if seconds < MIN_INTERVAL_SECONDS {
            return Err(ScheduleError::TooOften { seconds, shortest: MIN_INTERVAL_SECONDS });
        }
        if seconds > MAX_INTERVAL_SECONDS {
            let reason = "the interval is longer than ten years".to_owned();
            return Err(ScheduleError::Unclear(reason));
        }
        Ok(Self::Every { seconds, from })
    }

    /// Returns the next moment after another.
    pub(crate) fn next_after(&self, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Once(at) => (*at > after).then_some(*at),
            Self::Every { seconds, from } => next_of_interval(*seconds, *from, after),
            Self::Cron(rules) => rules.iter().filter_map(|rule| rule.next_after(zone, after)).min(),
            Self::Days { days, first, times } => next_by_date(zone, after, |local| {
                times.iter().filter_map(|time| next_day(*days, *first, *time, local)).min()
            }),
        }
    }
}

fn next_of_interval(seconds: u64, from: Timestamp, after: Timestamp) -> Option<Timestamp> {
    let seconds = i64::try_from(seconds).ok()?;
    let passed = after.duration_since(from).as_secs();
    // The first moment is one interval after the beginning.
    let count = if after < from { 1 } else { passed.checked_div(seconds)?.checked_add(1)? };
    from.checked_add(SignedDuration::from_secs(seconds.checked_mul(count)?)).ok()
}

/// Returns the first such day and time after a time on the wall clock.
fn next_day(
    days: u32,
    first: civil::Date,
    time: civil::Time,
    after: civil::DateTime,
) -> Option<civil::DateTime> {
    let days = i64::from(days.max(1));
    let passed = first.until(after.date()).ok()?.get_days();
    let count = i64::from(passed).div_euclid(days).max(0);
    [count, count + 1].into_iter().find_map(|count| {
        let span = Span::new().try_days(count.checked_mul(days)?).ok()?;
        let local = first.checked_add(span).ok()?.to_datetime(time);
        (local > after).then_some(local)
    })
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once(at) => write!(f, "once {at}"),
            Self::Every { seconds, from } => write!(f, "every {seconds} {from}"),
            Self::Cron(rules) => {
                let texts: Vec<String> = rules.iter().map(ToString::to_string).collect();
                write!(f, "cron {}", texts.join(" | "))
            }
            Self::Days { days, first, times } => {
                let times: Vec<String> = times.iter().map(ToString::to_string).collect();
                write!(f, "days {days} {first} {}", times.join(","))
            }
        }
    }
}

impl Rule {
    /// Reads a stored rule.
    pub(crate) fn read(text: &str) -> Result<Self, ScheduleError> {
        Self::read_parts(text).ok_or_else(|| ScheduleError::Stored(text.to_owned()))
    }

    fn read_parts(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(' ')?;
        match kind {
            "once" => rest.parse().ok().map(Self::Once),
            "every" => {
                let (seconds, from) = rest.split_once(' ')?;
                Self::every(seconds.parse().ok()?, from.parse().ok()?).ok()
            }
            "cron" => {
                let rules: Result<Vec<_>, _> = rest.split(" | ").map(CronRule::parse).collect();
                rules.ok().map(Self::Cron)
            }
            "days" => {
                let mut parts = rest.split(' ');
                let days = parts.next()?.parse().ok().filter(|days| *days > 0)?;
                let first = parts.next()?.parse().ok()?;
                let times: Result<Vec<_>, _> = parts.next()?.split(',').map(str::parse).collect();
                Some(Self::Days { days, first, times: times.ok()? })
            }
            _ => None,
        }
    }
}
