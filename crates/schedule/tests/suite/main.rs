//! Tests of the public interface: a text in, moments out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clocks;
mod phrases;
mod properties;
mod refusals;

use jiff::Timestamp;
use lango_schedule::{Schedule, ScheduleError, Zone};

/// Wednesday, 18 November 2026, 10:20 in Berlin.
fn now() -> Timestamp {
    "2026-11-18T09:20:00Z".parse().unwrap()
}

fn parse(text: &str) -> Result<Schedule, ScheduleError> {
    Schedule::parse(text, &zone("Europe/Berlin"), now())
}

fn zone(name: &str) -> Zone {
    Zone::find(name).unwrap()
}

/// The next moments, as a clock in Berlin shows them.
fn next(text: &str, count: usize) -> Vec<String> {
    let schedule = parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    schedule.upcoming(now()).take(count).map(|moment| schedule.show_moment(moment)).collect()
}
