//! Slowing down those who guess tokens.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::token::TokenDigest;

/// Wrong tokens in [`WINDOW`] before nothing more is tried.
const TRIES: usize = 10;
const WINDOW: Duration = Duration::from_mins(1);
/// Addresses and tokens that are remembered; more of them are somebody who wants to fill the memory.
const REMEMBERED: usize = 1024;

/// What is known about who guessed.
#[derive(Default)]
pub(crate) struct Guesses {
    /// A lock that is held for one look-up.
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    wrong: HashMap<IpAddr, Vec<Instant>>,
    /// Tokens that were right. Somebody else's guesses from the same address, which on one machine
    /// is everybody's, do not lock their holders out.
    right: HashSet<(IpAddr, TokenDigest)>,
}

impl Guesses {
    /// Whether this token may be looked at. Otherwise: after how long the next one is.
    pub(crate) fn may_try(&self, from: IpAddr, digest: &TokenDigest) -> Result<(), Duration> {
        let now = Instant::now();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.right.contains(&(from, *digest)) {
            return Ok(());
        }
        let Some(wrong) = known.wrong.get_mut(&from) else { return Ok(()) };
        wrong.retain(|at| now.duration_since(*at) < WINDOW);
        match wrong.first() {
            Some(first) if wrong.len() >= TRIES => Err(WINDOW.saturating_sub(now - *first)),
            _ => Ok(()),
        }
    }

    /// Notes a wrong one; whether it was the last that is tried for now.
    pub(crate) fn was_wrong(&self, from: IpAddr) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.wrong.len() >= REMEMBERED {
            let now = Instant::now();
            known.wrong.retain(|_, wrong| wrong.iter().any(|at| now - *at < WINDOW));
        }
        // With so many addresses at once there is no way to tell them apart.
        if known.wrong.len() >= REMEMBERED {
            known.wrong.clear();
        }
        let wrong = known.wrong.entry(from).or_default();
        if wrong.len() < TRIES {
            wrong.push(Instant::now());
        }
        wrong.len() == TRIES
    }

    pub(crate) fn was_right(&self, from: IpAddr, digest: TokenDigest) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.right.len() >= REMEMBERED {
            known.right.clear();
        }
        known.right.insert((from, digest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_ten_wrong_ones_nothing_new_is_tried_and_known_callers_go_on() {
        let guesses = Guesses::default();
        let (from, other): (IpAddr, IpAddr) =
            ("127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap());
        let (known, fresh) = (TokenDigest::of("known"), TokenDigest::of("fresh"));
        guesses.was_right(from, known);
        for _ in 0..TRIES {
            assert!(guesses.may_try(from, &fresh).is_ok());
            guesses.was_wrong(from);
        }
        let wait = guesses.may_try(from, &fresh).unwrap_err();
        assert!(wait <= WINDOW && wait > Duration::ZERO, "{wait:?}");
        assert!(guesses.may_try(from, &known).is_ok());
        assert!(guesses.may_try(other, &fresh).is_ok());
    }
}
