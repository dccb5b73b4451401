//! Shares one scanner among all that must not let a value pass.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;
use zeroize::Zeroizing;

use crate::{LeakScanner, LeakStream};

/// Stands in for the name of a value that has none.
const UNNAMED: &str = "value";

/// Replaces known secrets in text. Clones share the values, and learn new ones together.
#[derive(Clone, Default)]
pub struct Scrubber {
    // A lock, because a value that one call stores must not pass in any other from then on. It is
    // held to copy a pointer, or to replace the scanner.
    known: Arc<RwLock<KnownValues>>,
}

#[derive(Default)]
struct KnownValues {
    values: Vec<(String, Zeroizing<Vec<u8>>)>,
    scanner: Arc<LeakScanner>,
}

impl KnownValues {
    fn has(&self, value: &[u8]) -> bool {
        self.values.iter().any(|(_, known)| known.as_slice() == value)
    }

    fn rebuild(&mut self) {
        let values = self.values.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
        self.scanner = Arc::new(LeakScanner::new(values));
    }
}

impl Scrubber {
    /// Creates a scrubber for values without names.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let scrubber = Self::default();
        scrubber
            .add_all(secrets.into_iter().map(|secret| (UNNAMED.to_owned(), secret.into_bytes())));
        scrubber
    }

    /// Adds values with their names. The first name of a value is kept.
    pub fn add_all(&self, values: impl IntoIterator<Item = (String, Vec<u8>)>) {
        let mut known = self.known.write();
        let count = known.values.len();
        for (name, value) in values {
            if !known.has(&value) {
                known.values.push((name, Zeroizing::new(value)));
            }
        }
        if known.values.len() > count {
            known.rebuild();
        }
    }

    /// Adds a value with its name.
    pub fn add(&self, name: &str, value: &[u8]) {
        let is_known = self.known.read().has(value);
        if !is_known {
            self.add_all([(name.to_owned(), value.to_vec())]);
        }
    }

    /// Returns the text with every known secret replaced by its name.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.scanner().scrub(text)
    }

    /// Returns a scanner of text that arrives in pieces.
    pub fn stream(&self) -> LeakStream {
        self.scanner().stream()
    }

    /// Returns the scanner for the values that are known now.
    pub fn scanner(&self) -> Arc<LeakScanner> {
        Arc::clone(&self.known.read().scanner)
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scrubber({} values)", self.known.read().values.len())
    }
}
