//! Throttles clients that guess tokens.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::token::TokenDigest;

/// Limits the wrong tokens in [`WINDOW`] before further ones are refused.
const MAX_FAILURE_COUNT: usize = 10;
/// Sets the period in which wrong tokens are counted.
const WINDOW: Duration = Duration::from_mins(1);
/// Limits the addresses and tokens that are stored, so that a client cannot fill the memory.
const MAX_ENTRY_COUNT: usize = 1024;

/// Counts wrong tokens by address.
#[derive(Default)]
pub(crate) struct TokenThrottle {
    /// The lock is held for one lookup.
    state: Mutex<ThrottleState>,
}

#[derive(Default)]
struct ThrottleState {
    failures: HashMap<IpAddr, Vec<Instant>>,
    /// Tokens that were accepted. Guesses of another process from the same address, which all
    /// processes of one machine share, do not lock their holders out.
    accepted: HashSet<(IpAddr, TokenDigest)>,
}

impl TokenThrottle {
    /// Tells whether this token may be checked. Otherwise returns the time to wait.
    pub(crate) fn check(&self, from: IpAddr, digest: &TokenDigest) -> Result<(), Duration> {
        let now = Instant::now();
        let mut state = self.state.lock();
        if state.accepted.contains(&(from, *digest)) {
            return Ok(());
        }
        let Some(wrong) = state.failures.get_mut(&from) else { return Ok(()) };
        wrong.retain(|at| now.duration_since(*at) < WINDOW);
        match wrong.first() {
            Some(first) if wrong.len() >= MAX_FAILURE_COUNT => {
                Err(WINDOW.saturating_sub(now - *first))
            }
            _ => Ok(()),
        }
    }

    /// Records a wrong token. Returns true if the limit is reached.
    pub(crate) fn record_failure(&self, from: IpAddr) -> bool {
        let mut state = self.state.lock();
        if state.failures.len() >= MAX_ENTRY_COUNT {
            let now = Instant::now();
            state.failures.retain(|_, wrong| wrong.iter().any(|at| now - *at < WINDOW));
        }
        // So many addresses at once cannot be told apart.
        if state.failures.len() >= MAX_ENTRY_COUNT {
            state.failures.clear();
        }
        let wrong = state.failures.entry(from).or_default();
        if wrong.len() < MAX_FAILURE_COUNT {
            wrong.push(Instant::now());
        }
        wrong.len() == MAX_FAILURE_COUNT
    }

    pub(crate) fn record_success(&self, from: IpAddr, digest: TokenDigest) {
        let mut state = self.state.lock();
        if state.accepted.len() >= MAX_ENTRY_COUNT {
            state.accepted.clear();
        }
        state.accepted.insert((from, digest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_ten_wrong_ones_nothing_new_is_tried_and_known_callers_go_on() {
        let throttle = TokenThrottle::default();
        let (from, other): (IpAddr, IpAddr) =
            ("127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap());
        let (known, fresh) = (TokenDigest::of("known"), TokenDigest::of("fresh"));
        throttle.record_success(from, known);
        for _ in 0..MAX_FAILURE_COUNT {
            assert!(throttle.check(from, &fresh).is_ok());
            throttle.record_failure(from);
        }
        let wait = throttle.check(from, &fresh).unwrap_err();
        assert!(wait <= WINDOW && wait > Duration::ZERO, "{wait:?}");
        assert!(throttle.check(from, &known).is_ok());
        assert!(throttle.check(other, &fresh).is_ok());
    }
}
