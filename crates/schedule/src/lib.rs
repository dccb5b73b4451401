//! Says when work happens: reads schedules as people and programs write them, and returns the
//! moments that they mean. It does no I/O but to read the time zones of the machine; what happens at
//! these moments is not its business.
//!
//! The rules for clocks that are set forward or back are in `wall_clock.rs`.

mod cron;
mod describe;
mod error;
mod phrase;
mod rule;
mod schedule;
mod wall_clock;
mod zone;

pub use error::ScheduleError;
pub use schedule::{MissedMoments, Schedule};
pub use zone::Zone;
