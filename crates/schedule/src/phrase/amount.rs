//! Reads amounts of time: "40 minutes", "an hour", "half an hour", "1 hour and 30 minutes".

use super::parser::Parser;
use super::token::{Token, Unit};

impl Parser {
    /// Reads an amount of time at the cursor and moves behind it. `is_unit_enough` takes "hour" for
    /// "one hour".
    pub(super) fn take_amount(&mut self, is_unit_enough: bool) -> Option<Vec<(u32, Unit)>> {
        let start = self.at;
        let mut amount = Vec::new();
        loop {
            let before = self.at;
            if !amount.is_empty() {
                self.skip_word("and");
            }
            let Some(parts) = self.take_one_amount(is_unit_enough && amount.is_empty()) else {
                self.at = before;
                break;
            };
            amount.extend(parts);
        }
        if amount.is_empty() {
            self.at = start;
            return None;
        }
        Some(amount)
    }

    fn take_one_amount(&mut self, is_unit_enough: bool) -> Option<Vec<(u32, Unit)>> {
        if let Some(Token::Span(parts)) = self.token(0) {
            let parts = parts.clone();
            self.at += 1;
            return Some(parts);
        }
        // "a quarter of an hour", "half an hour", "half hour"
        let article = usize::from(matches!(self.word(0), Some("a" | "an")));
        let minutes = match self.word(article) {
            Some("half") => 30,
            Some("quarter") => 15,
            _ => 0,
        };
        if minutes > 0 {
            let mut next = article + 1;
            while matches!(self.word(next), Some("of" | "an" | "a")) {
                next += 1;
            }
            if self.word(next) == Some("hour") {
                self.at += next + 1;
                return Some(vec![(minutes, Unit::Minute)]);
            }
        }
        let (count, width) = match self.token(0)? {
            Token::Number(number) => (*number, 1),
            Token::Word(word) if word == "a" || word == "an" => match self.word(1) {
                Some("couple") => (2, if self.word(2) == Some("of") { 3 } else { 2 }),
                _ => (1, 1),
            },
            Token::Word(word) if word == "couple" => {
                (2, if self.word(1) == Some("of") { 2 } else { 1 })
            }
            Token::Word(_) if is_unit_enough => (1, 0),
            _ => return None,
        };
        let unit = self.word(width)?;
        let part = match unit {
            "fortnight" | "fortnights" => (count.checked_mul(2)?, Unit::Week),
            _ => (count, Unit::read(unit)?),
        };
        self.at += width + 1;
        Some(vec![part])
    }
}
