//! Collects the parts of a phrase from its tokens, from left to right.

use super::days::{DayPart, read_month, read_weekday};
use super::parts::{Nth, Parts, SpokenDate};
use super::token::{Token, Unit};
use crate::ScheduleError;

/// Reads the parts of a phrase.
pub(super) fn read_parts(tokens: Vec<Token>) -> Result<Parts, ScheduleError> {
    let mut parser = Parser { tokens, at: 0, parts: Parts::default() };
    while parser.at < parser.tokens.len() {
        parser.step()?;
    }
    Ok(parser.parts)
}

/// Reads tokens; the cursor `at` moves forward only.
pub(super) struct Parser {
    tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) parts: Parts,
}

impl Parser {
    /// Returns a token after the cursor.
    pub(super) fn token(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    /// Returns a token after the cursor, if it is a word.
    pub(super) fn word(&self, ahead: usize) -> Option<&str> {
        match self.token(ahead) {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    pub(super) fn skip_word(&mut self, word: &str) -> bool {
        let is_there = self.word(0) == Some(word);
        self.at += usize::from(is_there);
        is_there
    }

    pub(super) fn skip_any(&mut self, words: &[&str]) {
        while self.word(0).is_some_and(|word| words.contains(&word)) {
            self.at += 1;
        }
    }

    fn step(&mut self) -> Result<(), ScheduleError> {
        match self.token(0).cloned() {
            None => Ok(()),
            Some(Token::Moment(moment)) => {
                self.parts.moment = Some(moment);
                self.at += 1;
                Ok(())
            }
            Some(Token::DateTime(time)) => {
                (self.parts.exact_date, self.parts.exact_time) =
                    (Some(time.date()), Some(time.time()));
                self.at += 1;
                Ok(())
            }
            Some(Token::Date(date)) => {
                self.parts.exact_date = Some(date);
                self.at += 1;
                Ok(())
            }
            Some(Token::Ordinal(day)) => self.read_day_of_month(day),
            Some(Token::Span(amount)) => self.read_span(&amount),
            Some(Token::Number(number)) => self.read_number(number),
            Some(Token::Clock(_)) => self.read_time(),
            Some(Token::Word(word)) => self.read_word(&word),
        }
    }

    pub(super) fn read_time(&mut self) -> Result<(), ScheduleError> {
        match self.take_time()? {
            Some(time) => self.parts.times.push(time),
            None => return Err(self.unknown()),
        }
        Ok(())
    }

    pub(super) fn unknown(&self) -> ScheduleError {
        let word = match self.token(0) {
            Some(Token::Word(word)) => word.clone(),
            Some(Token::Number(number) | Token::Ordinal(number)) => number.to_string(),
            _ => String::new(),
        };
        ScheduleError::UnknownWord { word }
    }

    fn read_number(&mut self, number: u32) -> Result<(), ScheduleError> {
        if let Some(month) = self.word(1).and_then(read_month) {
            self.at += 2;
            return self.read_year(number, month);
        }
        if self.word(1) == Some("times") {
            return Err(super::words::ask_for_times());
        }
        if self.is_amount_here() {
            return self.read_duration();
        }
        self.read_time()
    }

    /// Reads an amount that no word introduces: "25 minutes", "2 hours from now", "5 minute intervals".
    pub(super) fn read_duration(&mut self) -> Result<(), ScheduleError> {
        let amount = self.take_amount(false).unwrap_or_default();
        if self.skip_word("intervals") || self.skip_word("interval") {
            return self.parts.set_amount(&amount);
        }
        self.read_delay_end();
        self.parts.delay = amount;
        Ok(())
    }

    /// Reads the words after a delay: "from now", "later".
    fn read_delay_end(&mut self) {
        self.skip_any(&["from", "now", "later", "after", "hence", "today"]);
    }

    fn read_span(&mut self, amount: &[(u32, Unit)]) -> Result<(), ScheduleError> {
        let follows_at = self.at > 0 && self.tokens[self.at - 1] == Token::Word("at".to_owned());
        let has_day = self.parts.weekdays != 0 || self.parts.days_ahead.is_some();
        match amount {
            // "at 17h"
            [(hour, Unit::Hour)] if *hour <= 24 && (follows_at || has_day) => {
                let time = super::token::check_time(*hour, 0, None, &format!("{hour}h"))?;
                self.parts.times.push(time);
                self.at += 1;
                Ok(())
            }
            _ => self.read_duration(),
        }
    }

    /// Reads "1st", with the month that it belongs to.
    pub(super) fn read_day_of_month(&mut self, day: u32) -> Result<(), ScheduleError> {
        if let Some((weekday, _)) = self.word(1).and_then(read_weekday) {
            self.at += 2;
            self.set_nth(u8::try_from(day).unwrap_or(u8::MAX), weekday)?;
            self.read_of_month();
            return Ok(());
        }
        self.at += 1;
        self.skip_word("of");
        if let Some(month) = self.word(0).and_then(read_month) {
            self.at += 1;
            return self.read_year(day, month);
        }
        if !(1..=31).contains(&day) {
            return Err(ScheduleError::Never(format!("no month has a day {day}")));
        }
        self.parts.month_days.push(day);
        self.read_of_month();
        Ok(())
    }

    /// Reads "of each month".
    pub(super) fn read_of_month(&mut self) {
        let mut next = 0;
        while matches!(self.word(next), Some("of" | "in" | "the" | "each" | "every" | "a")) {
            next += 1;
        }
        if self.word(next) == Some("month") {
            self.at += next + 1;
            self.parts.is_recurring = true;
        }
    }

    fn read_year(&mut self, day: u32, month: u8) -> Result<(), ScheduleError> {
        let year = match self.token(0) {
            Some(Token::Number(year @ 1900..=9999)) => i16::try_from(*year).ok(),
            _ => None,
        };
        self.at += usize::from(year.is_some());
        self.parts.set_date(SpokenDate { day, month, year })
    }

    pub(super) fn set_nth(&mut self, number: u8, weekday: u8) -> Result<(), ScheduleError> {
        if !(1..=5).contains(&number) {
            return Err(ScheduleError::Never(format!("no month has {number} such weekdays")));
        }
        self.parts.nth_weekday = Some((Nth::First(number), weekday));
        Ok(())
    }

    /// Reads "every …".
    pub(super) fn read_every(&mut self) -> Result<(), ScheduleError> {
        self.parts.is_recurring = true;
        self.at += 1;
        self.skip_any(&["single", "the"]);
        let is_alternate = matches!(self.word(0), Some("other" | "second"))
            || self.token(0) == Some(&Token::Ordinal(2));
        if is_alternate {
            if let Some((weekday, _)) = self.word(1).and_then(read_weekday) {
                self.at += 2;
                let before = self.at;
                self.read_of_month();
                if self.at > before {
                    return self.set_nth(2, weekday);
                }
                self.parts.add_weekday(weekday);
                return self.parts.set_repeat(2, Unit::Week);
            }
            if let Some(unit) = self.word(1).and_then(Unit::read) {
                self.at += 2;
                return self.parts.set_repeat(2, unit);
            }
        }
        if let Some(Token::Number(count)) = self.token(0)
            && let Some((weekday, _)) = self.word(1).and_then(read_weekday)
        {
            let count = *count;
            self.at += 2;
            self.parts.add_weekday(weekday);
            return self.parts.set_repeat(count, Unit::Week);
        }
        if let Some(amount) = self.take_amount(true) {
            return self.parts.set_amount(&amount);
        }
        match self.word(0) {
            Some("quarter") => {
                self.at += 1;
                self.parts.set_repeat(3, Unit::Month)
            }
            Some(word) if DayPart::read(word).is_some() => self.parts.set_repeat(1, Unit::Day),
            // The main loop reads what comes every time.
            _ => Ok(()),
        }
    }

    /// Reads "in 40 minutes" and "in the morning".
    pub(super) fn read_in(&mut self) -> Result<(), ScheduleError> {
        let word = self.word(0).unwrap_or_default().to_owned();
        self.at += 1;
        if let Some(amount) = self.take_amount(false) {
            self.read_delay_end();
            self.parts.delay = amount;
            return Ok(());
        }
        if word == "in" {
            return Ok(());
        }
        Err(ScheduleError::UnknownWord { word })
    }

    /// Reads "between 9 and 17", "from 9 to 17", "from Monday to Friday".
    pub(super) fn read_hours(&mut self) -> Result<(), ScheduleError> {
        let word = self.word(0).unwrap_or_default().to_owned();
        self.at += 1;
        if self.word(0).and_then(read_weekday).is_some() {
            return Ok(());
        }
        let unknown = ScheduleError::UnknownWord { word };
        let Some(first) = self.take_time()? else { return Err(unknown) };
        if !(self.skip_word("and")
            || self.skip_word("to")
            || self.skip_word("till")
            || self.skip_word("until"))
        {
            return Err(unknown);
        }
        let Some(last) = self.take_time()? else { return Err(unknown) };
        let (first, last) = (first.resolve(None), last.resolve(None));
        let hour = |time: jiff::civil::Time| u32::try_from(time.hour()).unwrap_or(0);
        if first.minute() != 0 || last.minute() != 0 || hour(first) >= hour(last) {
            let reason =
                "give the first and the last hour of one day, such as \"between 9 and 17\"";
            return Err(ScheduleError::Unclear(reason.to_owned()));
        }
        self.parts.hours = Some((hour(first), hour(last)));
        Ok(())
    }

    /// Reads days of the week: one, or the first and the last.
    pub(super) fn read_weekdays(&mut self, first: u8, is_plural: bool) {
        self.at += 1;
        self.parts.is_recurring |= is_plural;
        let reaches = matches!(self.word(0), Some("to" | "till" | "until" | "through"));
        if reaches && let Some((last, _)) = self.word(1).and_then(read_weekday) {
            self.at += 2;
            self.parts.is_recurring = true;
            let mut day = first;
            self.parts.add_weekday(day);
            while day != last {
                day = (day + 1) % 7;
                self.parts.add_weekday(day);
            }
            return;
        }
        self.parts.add_weekday(first);
    }

    /// Reads "December 24".
    pub(super) fn read_month_first(&mut self, month: u8) -> Result<(), ScheduleError> {
        let day = match self.token(1) {
            Some(Token::Number(day @ 1..=31) | Token::Ordinal(day)) => *day,
            _ => return Err(self.unknown()),
        };
        self.at += 2;
        self.read_year(day, month)
    }
}
