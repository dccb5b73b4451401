//! Tells the time that leases are measured with. It is the same for all processes that share a
//! database, and a step of a wall clock does not change it where that can be avoided.

use rustix::time::{ClockId, clock_gettime};

use crate::{SqlDialect, Statement};

/// The clock of the leases of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseClock {
    /// The time since the machine was started, in microseconds. All processes of a SQLite database
    /// run on one machine.
    Machine,
    /// The time of the PostgreSQL server, in microseconds since the epoch.
    Server,
}

impl LeaseClock {
    pub(super) fn of(dialect: SqlDialect) -> Self {
        match dialect {
            SqlDialect::Sqlite => Self::Machine,
            SqlDialect::Postgres => Self::Server,
        }
    }

    /// Binds the time as the last value, if this process and not the server tells it.
    pub(super) fn bind_now(self, statement: Statement) -> Statement {
        match self {
            Self::Machine => statement.bind(since_boot()),
            Self::Server => statement,
        }
    }
}

/// Returns the microseconds since the machine was started, including the time that it slept.
fn since_boot() -> i64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let clock = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let clock = ClockId::Monotonic;
    let now = clock_gettime(clock);
    now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1_000)
}

/// Writes a statement for both clocks: `$now` stands for the time, which is the placeholder with
/// this number where the process binds it.
macro_rules! timed {
    ($clock:expr, $before:literal, $now:literal, $after:literal) => {
        $crate::Statement::new(match $clock {
            $crate::journal::clock::LeaseClock::Machine => concat!($before, $now, $after),
            $crate::journal::clock::LeaseClock::Server => concat!(
                $before,
                "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
                $after
            ),
        })
    };
}

pub(super) use timed;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_since_the_start_goes_forward() {
        let first = since_boot();
        assert!(first > 0 && since_boot() >= first);
    }
}
