//! Makes ids that are known before they are written, so that one batch can hold everything.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use lango_protocol::Space;

use crate::{EntryKey, EntryKind};

static LAST: AtomicI64 = AtomicI64::new(0);

/// Returns a unique number for a passage or an entry: microseconds, then ten bits of this process.
/// The numbers ascend within a process, which suits the full-text index.
pub(crate) fn new_id() -> i64 {
    // A clock before 1970 counts as 1970; the numbers ascend all the same.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since.as_micros()).unwrap_or(i64::MAX >> 11);
    let floor = (now << 10) | i64::from(std::process::id() & 0x3ff);
    // The closure always returns a value, so both arms hold the number before.
    let before = match LAST
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, |last| Some(floor.max(last + 1)))
    {
        Ok(before) | Err(before) => before,
    };
    floor.max(before + 1)
}

/// Returns the number of a collection in a space, the same in every process. No kind is named
/// `client`, so a client's number is never the owner's.
pub(crate) fn scope_number(space: &Space, kind: EntryKind, collection: &str) -> i64 {
    match space {
        Space::Owner => hash_parts(&[kind.as_str(), collection]),
        Space::Client(caller) => {
            hash_parts(&["client", caller.as_str(), kind.as_str(), collection])
        }
    }
}

/// Returns the scope of an entry.
pub(crate) fn entry_scope(space: &Space, key: &EntryKey) -> i64 {
    scope_number(space, key.kind, &key.collection)
}

/// Returns the number of an embedding model.
pub(crate) fn model_number(name: &str) -> i64 {
    hash_parts(&["model", name])
}

fn hash_parts(parts: &[&str]) -> i64 {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update([0]);
    }
    let digest = hasher.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    // 62 bits, so that it is never negative.
    i64::from_be_bytes(first) & (i64::MAX >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ascend_and_scopes_differ() {
        let numbers: Vec<i64> = (0..10_000).map(|_| new_id()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
        let client = |name: &str| Space::Client(name.parse().unwrap());
        let mut scopes = std::collections::BTreeSet::new();
        for space in [Space::Owner, client("a"), client("b"), client("documents")] {
            for kind in [EntryKind::Documents, EntryKind::Knowledge] {
                for collection in ["a", "b"] {
                    let scope = scope_number(&space, kind, collection);
                    assert_eq!(scope, scope_number(&space, kind, collection));
                    assert!(scopes.insert(scope), "{space} {kind} {collection}");
                }
            }
        }
    }
}
