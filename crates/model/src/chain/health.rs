//! Tracks the health of a provider: a circuit breaker.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

/// Limits the failures in a row; after these the provider is not asked for a while.
const MAX_FAILURE_COUNT: u32 = 5;
/// The length of the first pause; it doubles with each attempt that fails.
const FIRST_PAUSE: Duration = Duration::from_secs(15);
const MAX_PAUSE: Duration = Duration::from_mins(2);

/// Tracks the health of one provider. After a few failures in a row the provider is not asked for a
/// while; then one request may try, and its outcome decides for all.
#[derive(Debug, Default)]
pub struct Health {
    /// Held for a few instructions at a time.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    pause: Option<Pause>,
}

#[derive(Debug)]
struct Pause {
    until: Instant,
    length: Duration,
    /// True while a request finds out whether the provider works again.
    probing: bool,
}

impl Health {
    /// Permits a request, or returns the time that is left until one is permitted.
    pub(super) fn admit(self: &Arc<Self>) -> Result<Permit, Duration> {
        let mut state = self.state();
        if let Some(pause) = &mut state.pause {
            let left = pause.until.saturating_duration_since(Instant::now());
            if !left.is_zero() || pause.probing {
                return Err(left);
            }
            pause.probing = true;
        }
        drop(state);
        Ok(Permit { health: Arc::clone(self), decided: false })
    }

    /// Tells whether a request would be refused now.
    pub fn is_paused(&self) -> bool {
        let now = Instant::now();
        self.state().pause.as_ref().is_some_and(|pause| pause.probing || pause.until > now)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// Permits one request to be sent, and records how it went.
#[derive(Debug)]
pub(super) struct Permit {
    health: Arc<Health>,
    decided: bool,
}

impl Permit {
    /// Records that the provider answered, with a success or with a refusal.
    pub(super) fn record_success(&mut self) {
        self.decided = true;
        *self.health.state() = State::default();
    }

    /// Records that the provider failed.
    pub(super) fn record_failure(&mut self) {
        self.decided = true;
        let mut state = self.health.state();
        state.failures += 1;
        let length = match &state.pause {
            // The request that tried after a pause. An earlier one changes nothing.
            Some(pause) if pause.probing => pause.length.saturating_mul(2).min(MAX_PAUSE),
            None if state.failures >= MAX_FAILURE_COUNT => FIRST_PAUSE,
            _ => return,
        };
        state.pause = Some(Pause { until: Instant::now() + length, length, probing: false });
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        // Cancelled before the outcome was known: the next request may try.
        if !self.decided
            && let Some(pause) = &mut self.health.state().pause
        {
            pause.probing = false;
        }
    }
}
