//! Measures the time that decisions take.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// A clock that is started before a decision.
pub(crate) struct DecisionClock {
    wall: Instant,
    processor: Duration,
}

/// The time that something took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ElapsedTime {
    pub(crate) wall: Duration,
    /// The processor time of all threads of the process.
    pub(crate) processor: Duration,
}

impl DecisionClock {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), processor: processor_time() }
    }

    pub(crate) fn stop(&self) -> ElapsedTime {
        let processor = processor_time().saturating_sub(self.processor);
        ElapsedTime { wall: self.wall.elapsed(), processor }
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Collects the times of many decisions.
#[derive(Debug, Clone, Default)]
pub(crate) struct DecisionTimes {
    all: Vec<ElapsedTime>,
}

/// Holds figures of times: half of the decisions took no longer than `median`, 95 of 100 no longer
/// than `p95`.
#[derive(Debug, Clone, Serialize)]
pub struct TimeFigures {
    /// The number of timed decisions.
    pub decisions: usize,
    /// The median of the wall time.
    pub median_milliseconds: Option<f64>,
    /// The wall time that 95 of 100 stay within.
    pub p95_milliseconds: Option<f64>,
    /// The median of the processor time; `None` if the model runs in another process.
    pub median_cpu_milliseconds: Option<f64>,
    /// The processor time that 95 of 100 stay within.
    pub p95_cpu_milliseconds: Option<f64>,
}

impl DecisionTimes {
    pub(crate) fn add(&mut self, spent: ElapsedTime) {
        self.all.push(spent);
    }

    /// Returns the figures. `runs_here` says that this process does the work, so that its processor
    /// time counts.
    pub(crate) fn figures(&self, runs_here: bool) -> TimeFigures {
        let wall = sort_times(self.all.iter().map(|spent| spent.wall));
        let here = self.all.iter().filter(|_| runs_here);
        let processor = sort_times(here.map(|spent| spent.processor));
        TimeFigures {
            decisions: self.all.len(),
            median_milliseconds: percentile(&wall, 50),
            p95_milliseconds: percentile(&wall, 95),
            median_cpu_milliseconds: percentile(&processor, 50),
            p95_cpu_milliseconds: percentile(&processor, 95),
        }
    }
}

fn sort_times(times: impl Iterator<Item = Duration>) -> Vec<Duration> {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times
}

/// Returns the time that this percentage of the values does not exceed.
fn percentile(sorted: &[Duration], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).map(|time| milliseconds(*time))
}

/// Converts to milliseconds, rounded to a microsecond.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_p95_are_times_that_were_measured() {
        let mut times = DecisionTimes::default();
        assert_eq!(times.figures(true).median_milliseconds, None);
        for milliseconds in (1..=100).rev() {
            let wall = Duration::from_millis(milliseconds);
            times.add(ElapsedTime { wall, processor: wall / 2 });
        }
        let figures = times.figures(true);
        assert_eq!(
            (figures.median_milliseconds, figures.p95_milliseconds),
            (Some(50.0), Some(95.0))
        );
        assert_eq!(figures.median_cpu_milliseconds, Some(25.0));
        assert_eq!(times.figures(false).median_cpu_milliseconds, None);
    }
}
