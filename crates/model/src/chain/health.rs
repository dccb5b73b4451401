//! Whether a provider is worth asking: a circuit breaker.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row after which a provider is left alone.
const PATIENCE: u32 = 5;
/// For how long at first; it doubles with each try that fails.
const FIRST_REST: Duration = Duration::from_secs(15);
const LONGEST_REST: Duration = Duration::from_mins(2);

/// The health of one provider. After a few failures in a row it rests, and nobody asks it; then
/// one request may try, and its outcome decides for all.
#[derive(Debug, Default)]
pub struct Health {
    /// Held for a few instructions at a time.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    rest: Option<Rest>,
}

#[derive(Debug)]
struct Rest {
    until: Instant,
    length: Duration,
    /// Somebody is finding out whether it is over.
    probing: bool,
}

impl Health {
    /// Asks to send a request; refused with the time that is left.
    pub(super) fn admit(self: &Arc<Self>) -> Result<Permit, Duration> {
        let mut state = self.state();
        if let Some(rest) = &mut state.rest {
            let left = rest.until.saturating_duration_since(Instant::now());
            if !left.is_zero() || rest.probing {
                return Err(left);
            }
            rest.probing = true;
        }
        drop(state);
        Ok(Permit { health: Arc::clone(self), decided: false })
    }

    /// Whether a request would be refused now.
    pub fn is_resting(&self) -> bool {
        let now = Instant::now();
        self.state().rest.as_ref().is_some_and(|rest| rest.probing || rest.until > now)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request's leave to be sent. Says how it went.
#[derive(Debug)]
pub(super) struct Permit {
    health: Arc<Health>,
    decided: bool,
}

impl Permit {
    /// The provider answered, whatever it said.
    pub(super) fn well(&mut self) {
        self.decided = true;
        *self.health.state() = State::default();
    }

    /// The provider failed.
    pub(super) fn sick(&mut self) {
        self.decided = true;
        let mut state = self.health.state();
        state.failures += 1;
        let length = match &state.rest {
            // The request that tried after a rest. One that was sent before it changes nothing.
            Some(rest) if rest.probing => rest.length.saturating_mul(2).min(LONGEST_REST),
            None if state.failures >= PATIENCE => FIRST_REST,
            _ => return,
        };
        state.rest = Some(Rest { until: Instant::now() + length, length, probing: false });
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        // Cancelled before it was known: the next one may try.
        if !self.decided
            && let Some(rest) = &mut self.health.state().rest
        {
            rest.probing = false;
        }
    }
}
