//! Computes the waits between attempts.
//!
//! The arithmetic is that of `backon`. Its loop around a closure is not used: callers have to say
//! more between two attempts than whether there is another one, such as which part of a reply is
//! void.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

/// Describes waits that grow by a factor up to a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackoffPolicy {
    first: Duration,
    factor: f32,
    max: Duration,
    jitter: bool,
}

impl BackoffPolicy {
    /// Makes a policy whose waits double.
    pub const fn doubling(first: Duration, max: Duration) -> Self {
        Self { first, factor: 2.0, max, jitter: false }
    }

    /// Sets the factor between two waits.
    #[must_use]
    pub const fn with_factor(self, factor: f32) -> Self {
        Self { factor, ..self }
    }

    /// Makes the second half of each wait random, so that many refused clients do not come back at
    /// the same time.
    #[must_use]
    pub const fn with_jitter(self) -> Self {
        Self { jitter: true, ..self }
    }

    /// Begins a series of waits.
    pub fn waits(self) -> Backoff {
        Backoff { policy: self, series: self.series() }
    }

    fn series(self) -> ExponentialBackoff {
        // `backon` adds up to the whole of a wait as jitter, and does not limit the first wait.
        let share = if self.jitter { 2 } else { 1 };
        let series = ExponentialBuilder::new()
            .with_min_delay(self.first.min(self.max) / share)
            .with_max_delay(self.max / share)
            .with_factor(self.factor)
            .without_max_times();
        if self.jitter { series.with_jitter().build() } else { series.build() }
    }
}

/// Holds the place in a series of waits. It has no end: the owner counts the attempts.
#[derive(Debug)]
pub struct Backoff {
    policy: BackoffPolicy,
    series: ExponentialBackoff,
}

impl Backoff {
    /// Returns the next wait.
    pub fn next_wait(&mut self) -> Duration {
        self.series.next().unwrap_or(self.policy.max)
    }

    /// Goes back to the first wait.
    pub fn reset(&mut self) {
        self.series = self.policy.series();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(policy: BackoffPolicy, count: usize) -> Vec<u128> {
        let mut waits = policy.waits();
        (0..count).map(|_| waits.next_wait().as_millis()).collect()
    }

    #[test]
    fn waits_grow_by_their_factor_up_to_the_limit() {
        let (first, max) = (Duration::from_millis(200), Duration::from_secs(5));
        let doubling = BackoffPolicy::doubling(first, max);
        assert_eq!(waits(doubling, 7), [200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(waits(doubling.with_factor(3.0), 5), [200, 600, 1800, 5000, 5000]);
        let fourfold = BackoffPolicy::doubling(Duration::from_millis(500), Duration::from_secs(8));
        assert_eq!(waits(fourfold.with_factor(4.0), 4), [500, 2000, 8000, 8000]);
        assert_eq!(waits(BackoffPolicy::doubling(max, first), 2), [200, 200]);
        assert_eq!(waits(doubling, 1000).last(), Some(&5000));
    }

    #[test]
    fn a_reset_begins_with_the_first_wait() {
        let policy = BackoffPolicy::doubling(Duration::from_secs(1), Duration::from_mins(1));
        let mut waits = policy.waits();
        waits.next_wait();
        assert_eq!(waits.next_wait(), Duration::from_secs(2));
        waits.reset();
        assert_eq!(waits.next_wait(), Duration::from_secs(1));
    }

    #[test]
    fn half_of_a_wait_with_jitter_is_random() {
        let (first, max) = (Duration::from_millis(500), Duration::from_secs(3));
        let policy = BackoffPolicy::doubling(first, max).with_jitter();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..100 {
            let waits = waits(policy, 5);
            for (wait, whole) in waits.iter().zip([500, 1000, 2000, 3000, 3000]) {
                assert!((whole / 2..=whole).contains(wait), "{waits:?}");
            }
            seen.insert(waits[4]);
        }
        assert!(seen.len() > 10, "{seen:?}");
    }
}
