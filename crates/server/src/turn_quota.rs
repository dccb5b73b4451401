//! Limits the simultaneous turns of one caller.

use std::collections::HashMap;
use std::sync::Arc;

use lango_protocol::Caller;
use parking_lot::Mutex;

/// Limits the simultaneous turns of one caller.
const MAX_TURNS_PER_CALLER: usize = 64;

/// Counts the running turns of callers.
#[derive(Clone, Default)]
pub(crate) struct TurnQuota {
    /// The lock is held only to count.
    counts: Arc<Mutex<HashMap<Caller, usize>>>,
}

impl TurnQuota {
    /// Returns a permit, if one is left. Dropping the permit releases it.
    pub(crate) fn acquire_permit(&self, caller: &Caller) -> Option<TurnPermit> {
        let mut counts = self.counts.lock();
        let count = counts.entry(caller.clone()).or_default();
        if *count >= MAX_TURNS_PER_CALLER {
            return None;
        }
        *count += 1;
        Some(TurnPermit { quota: self.clone(), caller: caller.clone() })
    }
}

/// Holds one running turn of a caller.
pub(crate) struct TurnPermit {
    quota: TurnQuota,
    caller: Caller,
}

impl Drop for TurnPermit {
    fn drop(&mut self) {
        let mut counts = self.quota.counts.lock();
        if let Some(count) = counts.get_mut(&self.caller) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_that_takes_all_its_places_leaves_those_of_others() {
        let quota = TurnQuota::default();
        let (one, other): (Caller, Caller) = ("one".parse().unwrap(), "other".parse().unwrap());
        let mut permits: Vec<TurnPermit> =
            (0..MAX_TURNS_PER_CALLER).map(|_| quota.acquire_permit(&one).unwrap()).collect();
        assert!(quota.acquire_permit(&one).is_none());
        assert!(quota.acquire_permit(&other).is_some());
        permits.pop();
        assert!(quota.acquire_permit(&one).is_some());
    }
}
