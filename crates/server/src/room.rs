//! How much one caller may have under way at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lango_protocol::Caller;

/// Turns of one caller at the same time.
const PER_CALLER: usize = 64;

/// Counts what callers have under way.
#[derive(Clone, Default)]
pub(crate) struct Room {
    /// A lock that is held to count.
    taken: Arc<Mutex<HashMap<Caller, usize>>>,
}

impl Room {
    /// A place, if there is one left; it is free again when it is dropped.
    pub(crate) fn enter(&self, caller: &Caller) -> Option<Place> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(caller.clone()).or_default();
        if *count >= PER_CALLER {
            return None;
        }
        *count += 1;
        Some(Place { room: self.clone(), caller: caller.clone() })
    }
}

/// One place of a caller.
pub(crate) struct Place {
    room: Room,
    caller: Caller,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.room.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.caller) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_that_takes_all_its_places_leaves_those_of_others() {
        let room = Room::default();
        let (one, other): (Caller, Caller) = ("one".parse().unwrap(), "other".parse().unwrap());
        let mut places: Vec<Place> = (0..PER_CALLER).map(|_| room.enter(&one).unwrap()).collect();
        assert!(room.enter(&one).is_none());
        assert!(room.enter(&other).is_some());
        places.pop();
        assert!(room.enter(&one).is_some());
    }
}
