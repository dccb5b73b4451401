//! Leaving an agent alone that does not work.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row after which it is left alone.
const FAILURES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_mins(10);

/// Counts how often an agent failed in a row.
#[derive(Debug, Default)]
pub(crate) struct Circuit {
    /// A lock that is held to change two numbers: several hand-overs count together.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    until: Option<Instant>,
}

impl Circuit {
    /// How long it is still left alone, if it is.
    pub(crate) fn pause(&self) -> Option<Duration> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.until?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    pub(crate) fn worked(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::default();
    }

    pub(crate) fn failed(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures = state.failures.saturating_add(1);
        if let Some(more) = state.failures.checked_sub(FAILURES) {
            let pause = FIRST_PAUSE.saturating_mul(1 << more.min(10)).min(LONGEST_PAUSE);
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
        circuit.failed();
        circuit.failed();
        circuit.worked();
        circuit.failed();
        circuit.failed();
        assert_eq!(circuit.pause(), None);
        circuit.failed();
        assert_eq!(circuit.pause(), Some(FIRST_PAUSE));
        tokio::time::advance(FIRST_PAUSE).await;
        assert_eq!(circuit.pause(), None);
        circuit.failed();
        assert_eq!(circuit.pause(), Some(FIRST_PAUSE * 2));
        for _ in 0..100 {
            circuit.failed();
        }
        assert_eq!(circuit.pause(), Some(LONGEST_PAUSE));
        circuit.worked();
        assert_eq!(circuit.pause(), None);
    }
}
