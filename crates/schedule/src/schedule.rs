//! A schedule: a rule in a time zone, and the moments that it means.

use jiff::Timestamp;

use crate::phrase;
use crate::rule::Rule;
use crate::{ScheduleError, Zone, describe};

/// Limits the characters of a schedule.
const MAX_TEXT_CHARACTERS: usize = 200;

/// Limits how many missed moments are counted one by one.
const MAX_MISSED_COUNT: u32 = 10_000;

/// Says when something happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    rule: Rule,
    zone: Zone,
}

/// The moments of a schedule that passed without being acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissedMoments {
    /// The last of them.
    pub last: Timestamp,
    /// How many there are, up to a limit.
    pub count: u32,
}

impl Schedule {
    /// Reads a schedule as a person or a program writes it: a cron expression, an interval, a moment,
    /// or a phrase. `now` is the moment that words such as "tomorrow" refer to.
    pub fn parse(text: &str, zone: &Zone, now: Timestamp) -> Result<Self, ScheduleError> {
        let text = text.trim().trim_matches(['"', '\'', '`', '“', '”']).trim();
        if text.is_empty() {
            return Err(ScheduleError::Empty);
        }
        if text.chars().count() > MAX_TEXT_CHARACTERS {
            return Err(ScheduleError::TooLong { limit: MAX_TEXT_CHARACTERS });
        }
        let rule = phrase::parse(text, zone, now)?;
        let schedule = Self { rule, zone: zone.clone() };
        match schedule.next_after(now) {
            Some(_) => Ok(schedule),
            None => Err(schedule.explain_absence(text)),
        }
    }

    /// Reads a schedule from its stored form.
    pub fn read(stored: &str, zone: &str) -> Result<Self, ScheduleError> {
        Ok(Self { rule: Rule::read(stored)?, zone: Zone::find(zone)? })
    }

    /// Returns the form to store. Together with the zone's name it says everything.
    pub fn to_stored(&self) -> String {
        self.rule.to_string()
    }

    /// Returns the time zone.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Returns the first moment after another; none if there is none.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        self.rule.next_after(self.zone.rules(), after)
    }

    /// Returns the moments after another, in order.
    pub fn upcoming(&self, after: Timestamp) -> impl Iterator<Item = Timestamp> + '_ {
        std::iter::successors(self.next_after(after), |last| self.next_after(*last))
    }

    /// Returns what was missed from one moment of the schedule on, up to and including `now`.
    pub fn missed(&self, first: Timestamp, now: Timestamp) -> MissedMoments {
        let mut missed = MissedMoments { last: first, count: 1 };
        while missed.count < MAX_MISSED_COUNT
            && let Some(next) = self.next_after(missed.last).filter(|next| *next <= now)
        {
            missed = MissedMoments { last: next, count: missed.count + 1 };
        }
        missed
    }

    /// Tells whether it happens once only.
    pub fn is_once(&self) -> bool {
        matches!(self.rule, Rule::Once(_))
    }

    /// Describes the schedule in words, without its zone.
    pub fn describe(&self) -> String {
        describe::describe(&self.rule, self.zone.rules())
    }

    /// Returns a moment as a clock in the schedule's zone shows it: `Fri 2026-11-20 17:00`.
    pub fn show_moment(&self, moment: Timestamp) -> String {
        moment.to_zoned(self.zone.rules().clone()).strftime("%a %Y-%m-%d %H:%M").to_string()
    }

    fn explain_absence(&self, text: &str) -> ScheduleError {
        match &self.rule {
            Rule::Once(at) => ScheduleError::Past(self.show_moment(*at)),
            Rule::Cron(rules) => {
                let months = rules.iter().find_map(|rule| {
                    let fields: Vec<&str> = rule.fields().collect();
                    describe::missing_date(fields.get(2)?, fields.get(3)?)
                });
                ScheduleError::Never(months.unwrap_or_else(|| format!("no date fits {text:?}")))
            }
            Rule::Every { .. } | Rule::Days { .. } => {
                ScheduleError::Never(format!("no date fits {text:?}"))
            }
        }
    }
}
