//! Holds the parts of a phrase, before they are put together.

use jiff::{Timestamp, civil};

use super::days::DayPart;
use super::token::{SpokenTime, Unit};
use crate::ScheduleError;

/// A weekday of a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nth {
    First(u8),
    Last,
}

/// The end of a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MonthEnd {
    LastDay,
    LastWorkingDay,
}

/// A date that was said, perhaps without its year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpokenDate {
    pub(super) day: u32,
    pub(super) month: u8,
    pub(super) year: Option<i16>,
}

/// The parts of a phrase.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    /// True after "every", and with words such as "Mondays".
    pub(super) is_recurring: bool,
    /// How often: so many of this unit.
    pub(super) repeat: Option<(u32, Unit)>,
    /// How often, in seconds.
    pub(super) interval: Option<u64>,
    /// After how long, once.
    pub(super) delay: Vec<(u32, Unit)>,
    /// The days of the week, one bit each; bit 0 is Sunday.
    pub(super) weekdays: u8,
    /// True after "next".
    pub(super) is_next: bool,
    pub(super) nth_weekday: Option<(Nth, u8)>,
    pub(super) month_days: Vec<u32>,
    pub(super) month_end: Option<MonthEnd>,
    pub(super) date: Option<SpokenDate>,
    pub(super) exact_date: Option<civil::Date>,
    pub(super) moment: Option<Timestamp>,
    /// So many days from today.
    pub(super) days_ahead: Option<u32>,
    pub(super) times: Vec<SpokenTime>,
    pub(super) exact_time: Option<civil::Time>,
    pub(super) part: Option<DayPart>,
    /// The minute of every hour.
    pub(super) minute: Option<u32>,
    /// The first and the last hour.
    pub(super) hours: Option<(u32, u32)>,
}

/// Monday to Friday.
pub(super) const WORKING_DAYS: u8 = 0b011_1110;
/// Saturday and Sunday.
pub(super) const WEEKEND: u8 = 0b100_0001;

impl Parts {
    /// Sets how often.
    pub(super) fn set_repeat(&mut self, count: u32, unit: Unit) -> Result<(), ScheduleError> {
        self.is_recurring = true;
        if count == 0 {
            return Err(ScheduleError::Never("an interval of nothing".to_owned()));
        }
        match unit.seconds() {
            Some(seconds) => self.set_interval(seconds * u64::from(count)),
            None if self.repeat.is_some_and(|said| said != (count, unit)) => Err(two_frequencies()),
            None => {
                self.repeat = Some((count, unit));
                Ok(())
            }
        }
    }

    /// Sets how often, in seconds.
    pub(super) fn set_interval(&mut self, seconds: u64) -> Result<(), ScheduleError> {
        self.is_recurring = true;
        if self.interval.replace(seconds).is_some_and(|said| said != seconds) {
            return Err(two_frequencies());
        }
        Ok(())
    }

    /// Sets an amount of time after which it happens again.
    pub(super) fn set_amount(&mut self, amount: &[(u32, Unit)]) -> Result<(), ScheduleError> {
        if let [(count, unit)] = amount {
            return self.set_repeat(*count, *unit);
        }
        let seconds = amount.iter().map(|(count, unit)| {
            let seconds = unit.seconds().or((*unit == Unit::Day).then_some(86_400));
            seconds.map(|seconds| seconds * u64::from(*count))
        });
        let seconds: Option<u64> = seconds.sum();
        let unclear =
            || ScheduleError::Unclear("the interval has units of unequal length".to_owned());
        self.set_interval(seconds.ok_or_else(unclear)?)
    }

    pub(super) fn add_weekday(&mut self, weekday: u8) {
        self.weekdays |= 1 << weekday;
    }

    /// Sets the date.
    pub(super) fn set_date(&mut self, date: SpokenDate) -> Result<(), ScheduleError> {
        if self.date.replace(date).is_some_and(|said| said != date) {
            return Err(ScheduleError::Unclear(
                "there are two dates. Add a job for each".to_owned(),
            ));
        }
        Ok(())
    }

    /// Sets the part of the day.
    pub(super) fn set_part(&mut self, part: DayPart, is_plural: bool) {
        self.part = Some(part);
        self.is_recurring |= is_plural;
    }
}

fn two_frequencies() -> ScheduleError {
    ScheduleError::Unclear("there are two frequencies. Say one".to_owned())
}
