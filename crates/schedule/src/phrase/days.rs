//! Names days of the week, months and parts of a day.

use jiff::civil;

use super::token::{Half, SpokenTime};

/// The days of the week, as cron counts them: 0 is Sunday.
const WEEKDAYS: [(&str, &[&str]); 7] = [
    ("sunday", &["sun"]),
    ("monday", &["mon"]),
    ("tuesday", &["tue", "tues"]),
    ("wednesday", &["wed", "weds"]),
    ("thursday", &["thu", "thur", "thurs"]),
    ("friday", &["fri"]),
    ("saturday", &["sat"]),
];

const MONTHS: [&str; 12] = [
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

/// Reads a day of the week: its number, and whether it is in the plural.
pub(super) fn read_weekday(word: &str) -> Option<(u8, bool)> {
    let position = |word: &str| {
        WEEKDAYS.iter().position(|(name, short)| *name == word || short.contains(&word))
    };
    let (found, is_plural) = match position(word) {
        Some(found) => (found, false),
        None => (position(word.strip_suffix('s')?)?, true),
    };
    Some((u8::try_from(found).ok()?, is_plural))
}

/// Returns the number of a date's weekday, as cron counts them.
pub(super) fn weekday_of(date: civil::Date) -> u8 {
    u8::try_from(date.weekday().to_sunday_zero_offset()).unwrap_or(0)
}

/// Reads the name of a month.
pub(super) fn read_month(word: &str) -> Option<u8> {
    let is_it =
        |name: &str| name == word || ((3..=4).contains(&word.len()) && name.starts_with(word));
    let position = MONTHS.iter().position(|name| is_it(name))?;
    u8::try_from(position + 1).ok()
}

/// Returns the name of a month.
pub(crate) fn month_name(month: u8) -> String {
    let name = MONTHS.get(usize::from(month).wrapping_sub(1)).copied().unwrap_or_default();
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the days that a month can have at most.
pub(crate) fn longest_month(month: u8) -> u8 {
    match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A part of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DayPart {
    Morning,
    Noon,
    Afternoon,
    Evening,
    Night,
    Midnight,
}

impl DayPart {
    /// Reads a part of the day, and whether it is in the plural.
    pub(super) fn read(word: &str) -> Option<(Self, bool)> {
        let singular = |word: &str| {
            Some(match word {
                "morning" => Self::Morning,
                "noon" | "midday" | "lunchtime" => Self::Noon,
                "afternoon" => Self::Afternoon,
                "evening" => Self::Evening,
                "night" => Self::Night,
                "midnight" => Self::Midnight,
                _ => return None,
            })
        };
        match singular(word) {
            Some(part) => Some((part, false)),
            None => Some((singular(word.strip_suffix('s')?)?, true)),
        }
    }

    /// Returns the time that is meant when none is said.
    pub(super) fn usual_time(self) -> civil::Time {
        let hour = match self {
            Self::Morning => 8,
            Self::Noon => 12,
            Self::Afternoon => 15,
            Self::Evening => 19,
            Self::Night => 22,
            Self::Midnight => 0,
        };
        civil::time(hour, 0, 0, 0)
    }

    /// Returns the half of the day that an hour from 1 to 12 is in.
    fn half_of(self, hour: u32) -> Half {
        match self {
            Self::Noon | Self::Afternoon | Self::Evening => Half::Pm,
            Self::Night if (6..12).contains(&hour) => Half::Pm,
            Self::Morning | Self::Night | Self::Midnight => Half::Am,
        }
    }
}

impl SpokenTime {
    /// Returns the time of day. Without "am", "pm" or a part of the day, the clock has 24 hours.
    pub(super) fn resolve(self, part: Option<DayPart>) -> civil::Time {
        let half = self.half.or_else(|| {
            part.filter(|_| (1..=12).contains(&self.hour)).map(|part| part.half_of(self.hour))
        });
        let hour = match half {
            None => self.hour,
            Some(Half::Am) => self.hour % 12,
            Some(Half::Pm) => self.hour % 12 + 12,
        };
        let part = |number: u32| i8::try_from(number).unwrap_or(0);
        civil::time(part(hour % 24), part(self.minute % 60), 0, 0)
    }
}
