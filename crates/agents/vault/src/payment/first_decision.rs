//! Remembers what a call would pay when it was proposed for the first time: that is what a person sees
//! and what is paid, whatever other calls learn meanwhile.

use std::sync::{Arc, OnceLock};

/// Holds what a call was decided on. The copies of a call's arguments share it.
#[derive(Debug)]
pub(super) struct FirstDecision<T>(Arc<OnceLock<T>>);

impl<T: Clone> FirstDecision<T> {
    /// Returns what was decided on; at the first time, what it is now.
    pub(super) fn get_or_decide(&self, now: impl FnOnce() -> T) -> T {
        self.0.get_or_init(now).clone()
    }
}

impl<T> Clone for FirstDecision<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for FirstDecision<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}
