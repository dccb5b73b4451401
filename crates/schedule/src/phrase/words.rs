//! Reads the words of a phrase that stand on their own.

use super::days::{DayPart, read_month, read_weekday};
use super::parser::Parser;
use super::parts::{MonthEnd, Nth, WEEKEND, WORKING_DAYS};
use super::token::{Token, Unit};
use crate::ScheduleError;

/// Words that add nothing.
const FILLERS: &[&str] = &[
    "a", "about", "again", "an", "and", "around", "at", "by", "coming", "exactly", "is", "it's",
    "its", "it", "oclock", "of", "on", "please", "sharp", "the", "then", "this", "turns", "when",
    "starting",
];

impl Parser {
    pub(super) fn read_word(&mut self, word: &str) -> Result<(), ScheduleError> {
        if let Some((weekday, is_plural)) = read_weekday(word) {
            self.read_weekdays(weekday, is_plural);
            return Ok(());
        }
        if let Some(month) = read_month(word) {
            return self.read_month_first(month);
        }
        match word {
            "every" | "each" | "all" | "any" => self.read_every(),
            "interval" => {
                self.at += 1;
                self.skip_word("of");
                let amount = self.take_amount(true).ok_or_else(|| self.unknown())?;
                self.parts.set_amount(&amount)
            }
            "in" | "after" | "within" => self.read_in(),
            "first" => self.read_nth_word(1),
            "second" => self.read_nth_word(2),
            "third" => self.read_nth_word(3),
            "fourth" => self.read_nth_word(4),
            "last" => self.read_last(),
            "once" | "twice" => self.read_times(word),
            "half" | "quarter" | "couple" => self.read_fraction(),
            "between" | "from" => self.read_hours(),
            "a" | "an" if self.is_amount_here() => self.read_duration(),
            "day" if self.word(1) == Some("after") && self.word(2) == Some("tomorrow") => {
                self.at += 3;
                self.set_days_ahead(2)
            }
            "minute" if matches!(self.token(1), Some(Token::Number(0..=59))) => {
                if let Some(Token::Number(minute)) = self.token(1) {
                    self.parts.minute = Some(*minute);
                }
                self.at += 2;
                Ok(())
            }
            _ => self.read_simple(word),
        }
    }

    /// Reads words that mean one thing each.
    fn read_simple(&mut self, word: &str) -> Result<(), ScheduleError> {
        self.at += 1;
        if let Some((part, is_plural)) = DayPart::read(word) {
            self.parts.set_part(part, is_plural);
            return Ok(());
        }
        let parts = &mut self.parts;
        match word {
            "hourly" => parts.set_interval(3600),
            "daily" => parts.set_repeat(1, Unit::Day),
            "nightly" => {
                parts.set_part(DayPart::Night, true);
                parts.set_repeat(1, Unit::Day)
            }
            "weekly" => parts.set_repeat(1, Unit::Week),
            "fortnightly" | "biweekly" | "alternate" => parts.set_repeat(2, Unit::Week),
            "monthly" => parts.set_repeat(1, Unit::Month),
            "quarterly" => parts.set_repeat(3, Unit::Month),
            "yearly" | "annually" => parts.set_repeat(1, Unit::Year),
            "weekday" | "weekdays" | "workday" | "workdays" => {
                (parts.weekdays, parts.is_recurring) = (parts.weekdays | WORKING_DAYS, true);
                Ok(())
            }
            "weekend" | "weekends" => {
                (parts.weekdays, parts.is_recurring) = (parts.weekdays | WEEKEND, true);
                Ok(())
            }
            "today" => self.set_days_ahead(0),
            "tonight" => {
                parts.part = Some(DayPart::Night);
                self.set_days_ahead(0)
            }
            "tomorrow" | "tomorow" | "tommorow" | "tommorrow" | "tmrw" | "2moro" => {
                self.set_days_ahead(1)
            }
            "next" => {
                parts.is_next = true;
                Ok(())
            }
            "top" => {
                parts.minute = Some(0);
                Ok(())
            }
            "except" | "excluding" => {
                self.skip_any(&["on", "for", "the"]);
                if !(self.skip_word("weekends") || self.skip_word("weekend")) {
                    return Err(ScheduleError::UnknownWord { word: word.to_owned() });
                }
                self.parts.weekdays = WORKING_DAYS;
                self.parts.is_recurring = true;
                Ok(())
            }
            "during" => {
                self.skip_any(&["the", "office", "business", "working"]);
                if !self.skip_word("hours") {
                    return Err(ScheduleError::UnknownWord { word: word.to_owned() });
                }
                (self.parts.hours, self.parts.weekdays) = (Some((9, 16)), WORKING_DAYS);
                Ok(())
            }
            filler if FILLERS.contains(&filler) => Ok(()),
            _ => Err(ScheduleError::UnknownWord { word: word.to_owned() }),
        }
    }

    fn set_days_ahead(&mut self, days: u32) -> Result<(), ScheduleError> {
        if self.parts.days_ahead.replace(days).is_some_and(|said| said != days) {
            return Err(ScheduleError::Unclear("there are two days. Say one".to_owned()));
        }
        Ok(())
    }

    fn read_nth_word(&mut self, number: u8) -> Result<(), ScheduleError> {
        if let Some((weekday, _)) = self.word(1).and_then(read_weekday) {
            self.at += 2;
            self.set_nth(number, weekday)?;
            self.read_of_month();
            return Ok(());
        }
        self.read_day_of_month(u32::from(number))
    }

    fn read_last(&mut self) -> Result<(), ScheduleError> {
        self.at += 1;
        if let Some((weekday, _)) = self.word(0).and_then(read_weekday) {
            self.at += 1;
            self.parts.nth_weekday = Some((Nth::Last, weekday));
        } else if matches!(self.word(0), Some("working" | "business"))
            && self.word(1) == Some("day")
        {
            self.at += 2;
            self.parts.month_end = Some(MonthEnd::LastWorkingDay);
        } else if self.word(0) == Some("weekday") || self.word(0) == Some("workday") {
            self.at += 1;
            self.parts.month_end = Some(MonthEnd::LastWorkingDay);
        } else if self.skip_word("day") {
            self.parts.month_end = Some(MonthEnd::LastDay);
        } else {
            return Err(ScheduleError::UnknownWord { word: "last".to_owned() });
        }
        self.parts.is_recurring = true;
        self.read_of_month();
        Ok(())
    }

    /// Reads "once a day" and refuses "twice a day".
    fn read_times(&mut self, word: &str) -> Result<(), ScheduleError> {
        self.at += 1;
        let is_rate = matches!(self.word(0), Some("a" | "an" | "per" | "each" | "every"));
        match (word, is_rate) {
            ("once", false) => Ok(()),
            ("once", true) => {
                self.at += 1;
                let amount = self.take_amount(true).ok_or_else(|| self.unknown())?;
                self.parts.set_amount(&amount)
            }
            _ => Err(ask_for_times()),
        }
    }

    /// Reads "half past two", "half an hour", "quarter hourly".
    fn read_fraction(&mut self) -> Result<(), ScheduleError> {
        if self.word(1) == Some("hourly") {
            let minutes = if self.word(0) == Some("half") { 30 } else { 15 };
            self.at += 2;
            return self.parts.set_interval(minutes * 60);
        }
        if self.is_amount_here() {
            return self.read_duration();
        }
        self.read_time()
    }
}

pub(super) fn ask_for_times() -> ScheduleError {
    let reason = "say at which times, such as \"every day at 9:00 and 18:00\"";
    ScheduleError::Unclear(reason.to_owned())
}
