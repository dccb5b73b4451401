//! Pauses requests to an agent that keeps failing.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The number of consecutive failures after which requests are paused.
const FAILURE_THRESHOLD: u32 = 3;
const MIN_PAUSE: Duration = Duration::from_secs(30);
const MAX_PAUSE: Duration = Duration::from_mins(10);

/// Counts consecutive failures of an agent.
#[derive(Debug, Default)]
pub(crate) struct Circuit {
    /// The lock is held to change two numbers; concurrent delegations count together.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    until: Option<Instant>,
}

impl Circuit {
    /// Returns the remaining pause, if there is one.
    pub(crate) fn pause(&self) -> Option<Duration> {
        let state = self.state.lock();
        state.until?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    pub(crate) fn record_success(&self) {
        *self.state.lock() = State::default();
    }

    pub(crate) fn record_failure(&self) {
        let mut state = self.state.lock();
        state.failures = state.failures.saturating_add(1);
        if let Some(more) = state.failures.checked_sub(FAILURE_THRESHOLD) {
            let pause = MIN_PAUSE.saturating_mul(1 << more.min(10)).min(MAX_PAUSE);
            state.until = Some(Instant::now() + pause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn three_failures_in_a_row_are_enough_and_pauses_grow() {
        let circuit = Circuit::default();
        circuit.record_failure();
        circuit.record_failure();
        circuit.record_success();
        circuit.record_failure();
        circuit.record_failure();
        assert_eq!(circuit.pause(), None);
        circuit.record_failure();
        assert_eq!(circuit.pause(), Some(MIN_PAUSE));
        tokio::time::advance(MIN_PAUSE).await;
        assert_eq!(circuit.pause(), None);
        circuit.record_failure();
        assert_eq!(circuit.pause(), Some(MIN_PAUSE * 2));
        for _ in 0..100 {
            circuit.record_failure();
        }
        assert_eq!(circuit.pause(), Some(MAX_PAUSE));
        circuit.record_success();
        assert_eq!(circuit.pause(), None);
    }
}
