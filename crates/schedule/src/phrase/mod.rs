//! Reads phrases. Words are taken from left to right, each with a fixed meaning; a word without one
//! is an error, so that nothing is left out in silence.
//!
//! `token.rs` cuts the phrase, `parser.rs` and `words.rs` collect its parts, `compile.rs` makes a rule of them.

mod amount;
mod compile;
pub(crate) mod days;
mod parser;
mod parts;
mod time_of_day;
mod token;
mod words;

use jiff::Timestamp;

use crate::cron::CronRule;
use crate::rule::Rule;
use crate::{ScheduleError, Zone};

/// Reads a schedule.
pub(crate) fn parse(text: &str, zone: &Zone, now: Timestamp) -> Result<Rule, ScheduleError> {
    let expression = text.strip_prefix("cron ").unwrap_or(text).trim();
    if CronRule::is_expression(expression) {
        return Ok(Rule::Cron(vec![CronRule::parse(expression)?]));
    }
    let parts = parser::read_parts(token::cut(text)?)?;
    compile::compile(parts, zone, now)
}
