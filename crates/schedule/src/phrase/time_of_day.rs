//! Reads times of day: "9:30", "half past two", "ten to nine", "six thirty", "5 pm".

use super::parser::Parser;
use super::token::{Half, SpokenTime, Token, check_time};
use crate::ScheduleError;

impl Parser {
    /// Reads a time of day at the cursor and moves behind it.
    pub(super) fn take_time(&mut self) -> Result<Option<SpokenTime>, ScheduleError> {
        let Some(time) = self.take_time_without_half()? else { return Ok(None) };
        let half = match self.word(0) {
            Some("am") => Half::Am,
            Some("pm") => Half::Pm,
            _ => {
                self.skip_word("oclock");
                return Ok(Some(time));
            }
        };
        self.at += 1;
        let said = format!("{}:{:02}", time.hour, time.minute);
        check_time(time.hour, time.minute, Some(half), &said).map(Some)
    }

    fn take_time_without_half(&mut self) -> Result<Option<SpokenTime>, ScheduleError> {
        if let Some(time) = self.take_relative_minutes()? {
            return Ok(Some(time));
        }
        match self.token(0) {
            Some(Token::Clock(time)) => {
                let time = *time;
                self.at += 1;
                Ok(Some(time))
            }
            Some(Token::Number(hour)) => {
                let hour = *hour;
                self.at += 1;
                // "six thirty"
                let is_amount = self.is_amount_here();
                let minute = match self.token(0) {
                    Some(Token::Number(minute @ 10..=59)) if !is_amount => *minute,
                    _ => return check_time(hour, 0, None, &hour.to_string()).map(Some),
                };
                self.at += 1;
                check_time(hour, minute, None, &format!("{hour}:{minute}")).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Reads "half past two", "quarter to three", "ten past nine", "half eight".
    fn take_relative_minutes(&mut self) -> Result<Option<SpokenTime>, ScheduleError> {
        let article = usize::from(self.word(0) == Some("a"));
        let (minutes, width) = match self.token(article) {
            Some(Token::Word(word)) if word == "half" => (30, article + 1),
            Some(Token::Word(word)) if word == "quarter" => (15, article + 1),
            Some(Token::Number(minutes @ 1..=59)) => {
                let has_unit = matches!(self.word(article + 1), Some("minutes" | "minute" | "min"));
                (*minutes, article + 1 + usize::from(has_unit))
            }
            _ => return Ok(None),
        };
        let (is_before, width) = match self.word(width) {
            Some("past" | "after") => (false, width + 1),
            Some("to" | "before") => (true, width + 1),
            // British: half eight is half past eight.
            _ if minutes == 30 && self.word(article) == Some("half") => (false, width),
            _ => return Ok(None),
        };
        let hour = match self.token(width) {
            Some(
                Token::Number(hour) | Token::Clock(SpokenTime { hour, minute: 0, half: None }),
            ) => *hour,
            Some(Token::Word(word)) if word == "midnight" => 0,
            Some(Token::Word(word)) if word == "noon" || word == "midday" => 12,
            _ => return Ok(None),
        };
        self.at += width + 1;
        let said = format!("{minutes} minutes {} {hour}", if is_before { "to" } else { "past" });
        let time = check_time(hour, 0, None, &said)?;
        Ok(Some(if is_before {
            // Before one it is twelve.
            let hour = if time.hour == 1 { 12 } else { (time.hour + 23) % 24 };
            SpokenTime { hour, minute: 60 - minutes, half: None }
        } else {
            SpokenTime { minute: minutes, ..time }
        }))
    }

    /// Tells whether an amount of time begins at the cursor.
    pub(super) fn is_amount_here(&mut self) -> bool {
        let at = self.at;
        let is_amount = self.take_amount(false).is_some();
        self.at = at;
        is_amount
    }
}
