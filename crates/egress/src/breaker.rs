//! Stops asking what keeps failing: a circuit breaker.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::backoff::{Backoff, BackoffPolicy};

/// Says when a circuit breaker opens, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct BreakerPolicy {
    /// The number of consecutive failures that begins the first pause.
    pub pause_threshold: u32,
    /// The lengths of the pauses: the next one with each further failure.
    pub pauses: BackoffPolicy,
    /// The number of consecutive failures after which no time is enough.
    pub isolation_threshold: Option<u32>,
}

/// Describes whether requests may be sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// They may.
    Closed,
    /// They may when this much time has passed.
    Paused(Duration),
    /// They may not, until a success is recorded all the same.
    Isolated,
}

/// Counts the consecutive failures of one destination.
///
/// It is used in one of two ways. [`CircuitBreaker::admit`] lets a single request try after a
/// pause, and its outcome decides for all. [`CircuitBreaker::state`] and the two `record` functions
/// let every request try; that is for requests that take too long to wait for one of them.
#[derive(Debug)]
pub struct CircuitBreaker {
    policy: BreakerPolicy,
    /// The lock is held for a few instructions; concurrent requests count together.
    record: Mutex<Record>,
}

#[derive(Debug)]
struct Record {
    failures: u32,
    pauses: Backoff,
    pause: Option<Pause>,
}

#[derive(Debug, Clone, Copy)]
struct Pause {
    until: Instant,
    /// True while a request finds out whether the destination works again.
    probing: bool,
}

impl CircuitBreaker {
    /// Makes a closed circuit breaker.
    pub fn new(policy: BreakerPolicy) -> Self {
        let record = Record { failures: 0, pauses: policy.pauses.waits(), pause: None };
        Self { policy, record: Mutex::new(record) }
    }

    /// Returns whether requests may be sent now.
    pub fn state(&self) -> BreakerState {
        let record = self.record();
        if self.is_isolated(record.failures) {
            return BreakerState::Isolated;
        }
        match record.pause.map(Pause::left) {
            Some(left) if !left.is_zero() => BreakerState::Paused(left),
            _ => BreakerState::Closed,
        }
    }

    /// Returns the number of consecutive failures.
    pub fn failures(&self) -> u32 {
        self.record().failures
    }

    /// Permits a request, or returns the time that is left until one is permitted. That is zero
    /// while another request tries.
    pub fn admit(self: &Arc<Self>) -> Result<Permit, Duration> {
        let mut record = self.record();
        let is_isolated = self.is_isolated(record.failures);
        let mut is_probe = false;
        if let Some(pause) = &mut record.pause {
            let left = pause.left();
            if !left.is_zero() || pause.probing || is_isolated {
                return Err(left);
            }
            pause.probing = true;
            is_probe = true;
        }
        drop(record);
        Ok(Permit { breaker: Arc::clone(self), is_probe, decided: false })
    }

    /// Tells whether [`CircuitBreaker::admit`] would refuse a request now.
    pub fn is_open(&self) -> bool {
        let record = self.record();
        let is_paused = record.pause.is_some_and(|pause| pause.probing || !pause.left().is_zero());
        is_paused || self.is_isolated(record.failures)
    }

    /// Records that the destination works.
    pub fn record_success(&self) {
        let mut record = self.record();
        (record.failures, record.pause) = (0, None);
        record.pauses.reset();
    }

    /// Records a failure of the destination. Returns the pause that it begins.
    pub fn record_failure(&self) -> Option<Duration> {
        let mut record = self.record();
        record.failures = record.failures.saturating_add(1);
        (record.failures >= self.policy.pause_threshold).then(|| record.begin_pause())
    }

    /// Records a failure after which the destination is not asked again.
    pub fn isolate(&self) {
        let mut record = self.record();
        record.failures = self.policy.isolation_threshold.unwrap_or(u32::MAX);
        record.begin_pause();
    }

    fn is_isolated(&self, failures: u32) -> bool {
        failures >= self.policy.isolation_threshold.unwrap_or(u32::MAX)
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock()
    }
}

impl Record {
    fn begin_pause(&mut self) -> Duration {
        let length = self.pauses.next_wait();
        self.pause = Some(Pause { until: Instant::now() + length, probing: false });
        length
    }
}

impl Pause {
    fn left(self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

/// Permits one request to be sent, and records how it went.
#[derive(Debug)]
pub struct Permit {
    breaker: Arc<CircuitBreaker>,
    /// True for the request that tries after a pause.
    is_probe: bool,
    decided: bool,
}

impl Permit {
    /// Records that the destination works.
    pub fn record_success(&mut self) {
        self.decided = true;
        self.breaker.record_success();
    }

    /// Records that the destination failed. Returns the pause that begins.
    pub fn record_failure(&mut self) -> Option<Duration> {
        self.decided = true;
        // A request that was sent before the pause says nothing new.
        if !self.is_probe && self.breaker.record().pause.is_some() {
            return None;
        }
        self.breaker.record_failure()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        // Cancelled before the outcome was known: the next request may try.
        if self.is_probe
            && !self.decided
            && let Some(pause) = &mut self.breaker.record().pause
        {
            pause.probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST_PAUSE: Duration = Duration::from_secs(30);
    const MAX_PAUSE: Duration = Duration::from_mins(10);
    const POLICY: BreakerPolicy = BreakerPolicy {
        pause_threshold: 3,
        pauses: BackoffPolicy::doubling(FIRST_PAUSE, MAX_PAUSE),
        isolation_threshold: None,
    };

    #[tokio::test(start_paused = true)]
    async fn three_failures_in_a_row_are_enough_and_pauses_grow() {
        let breaker = CircuitBreaker::new(POLICY);
        breaker.record_failure();
        breaker.record_failure();
        breaker.record_success();
        breaker.record_failure();
        assert_eq!(breaker.record_failure(), None);
        assert_eq!(breaker.state(), BreakerState::Closed);
        assert_eq!(breaker.record_failure(), Some(FIRST_PAUSE));
        assert_eq!(breaker.state(), BreakerState::Paused(FIRST_PAUSE));
        tokio::time::advance(FIRST_PAUSE).await;
        assert_eq!(breaker.state(), BreakerState::Closed);
        breaker.record_failure();
        assert_eq!(breaker.state(), BreakerState::Paused(FIRST_PAUSE * 2));
        for _ in 0..100 {
            breaker.record_failure();
        }
        assert_eq!(breaker.state(), BreakerState::Paused(MAX_PAUSE));
        breaker.record_success();
        assert_eq!(breaker.state(), BreakerState::Closed);
        assert_eq!(breaker.failures(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_pause_one_request_tries_and_decides_for_all() {
        let breaker = Arc::new(CircuitBreaker::new(POLICY));
        let mut late = breaker.admit().unwrap();
        for _ in 0..3 {
            breaker.admit().unwrap().record_failure();
        }
        assert!(breaker.is_open());
        assert_eq!(breaker.admit().unwrap_err(), FIRST_PAUSE);
        // The failure of a request from before the pause does not make it longer.
        assert_eq!(late.record_failure(), None);
        assert_eq!(breaker.admit().unwrap_err(), FIRST_PAUSE);
        tokio::time::advance(FIRST_PAUSE).await;
        assert!(!breaker.is_open());
        let mut probe = breaker.admit().unwrap();
        assert!(breaker.is_open());
        assert_eq!(breaker.admit().unwrap_err(), Duration::ZERO);
        assert_eq!(probe.record_failure(), Some(FIRST_PAUSE * 2));
        tokio::time::advance(FIRST_PAUSE * 2).await;
        breaker.admit().unwrap().record_success();
        assert!(!breaker.is_open());
        let (one, other) = (breaker.admit(), breaker.admit());
        assert!(one.is_ok() && other.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_trial_that_is_cancelled_lets_the_next_request_try() {
        let breaker = Arc::new(CircuitBreaker::new(POLICY));
        let earlier = breaker.admit().unwrap();
        for _ in 0..3 {
            breaker.record_failure();
        }
        tokio::time::advance(FIRST_PAUSE).await;
        let probe = breaker.admit().unwrap();
        drop(earlier);
        assert!(breaker.admit().is_err(), "an older request is not the one that tries");
        drop(probe);
        assert!(breaker.admit().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn too_many_failures_isolate_until_a_success() {
        let policy = BreakerPolicy { pause_threshold: 1, isolation_threshold: Some(3), ..POLICY };
        let breaker = Arc::new(CircuitBreaker::new(policy));
        assert_eq!(breaker.record_failure(), Some(FIRST_PAUSE));
        assert_eq!(breaker.record_failure(), Some(FIRST_PAUSE * 2));
        assert_eq!(breaker.state(), BreakerState::Paused(FIRST_PAUSE * 2));
        breaker.record_failure();
        tokio::time::advance(MAX_PAUSE).await;
        assert_eq!(breaker.state(), BreakerState::Isolated);
        assert!(breaker.is_open() && breaker.admit().is_err());
        breaker.record_success();
        assert_eq!(breaker.state(), BreakerState::Closed);
        breaker.isolate();
        assert_eq!((breaker.state(), breaker.failures()), (BreakerState::Isolated, 3));
    }
}
