//! Finds the process that holds a lock on a database, for messages.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::connection;
use crate::StoreError;
use crate::error::UNKNOWN_HOLDER;

/// Adds the process that holds the lock to an error about it, where the system says which one it is.
pub(super) fn name_holder(error: StoreError, database: &Path) -> StoreError {
    let StoreError::Busy { location, .. } = error else { return error };
    let holder = find_holder(database).map_or_else(|| UNKNOWN_HOLDER.to_owned(), describe);
    StoreError::Busy { location, holder }
}

/// Returns the id of another process with a lock that keeps others from writing.
fn find_holder(database: &Path) -> Option<u32> {
    // With a write-ahead log, the locks are on its index.
    let files = [connection::beside(database, "-shm"), database.to_owned()];
    let inodes = files.map(|path| fs::metadata(path).map_or(0, |metadata| metadata.ino()));
    let locks = fs::read_to_string("/proc/locks").ok()?;
    locks
        .lines()
        .filter_map(parse_write_lock)
        .find(|(process, inode)| *process != std::process::id() && inodes.contains(inode))
        .map(|(process, _)| process)
}

/// Reads the process and the file of a lock, such as `1: POSIX ADVISORY WRITE 42 fe:00:1234 120 120`.
/// None if it does not exclude others, or is only waited for.
fn parse_write_lock(line: &str) -> Option<(u32, u64)> {
    let mut words = line.split_whitespace().skip(1);
    if words.next() != Some("POSIX") || words.nth(1) != Some("WRITE") {
        return None;
    }
    let process = words.next()?.parse().ok()?;
    let (_, inode) = words.next()?.rsplit_once(':')?;
    Some((process, inode.parse().ok()?))
}

fn describe(process: u32) -> String {
    match fs::read_to_string(format!("/proc/{process}/comm")) {
        Ok(name) => {
            let name = lango_text::make_text_visible(name.trim());
            format!("process {process} ({name})")
        }
        Err(_) => format!("process {process}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_that_exclude_others_are_read() {
        let held = "12: POSIX  ADVISORY  WRITE 4242 fe:00:1835127 120 120";
        assert_eq!(parse_write_lock(held), Some((4242, 1_835_127)));
        for other in [
            "12: POSIX  ADVISORY  READ  4242 fe:00:1835127 123 123",
            "12: -> POSIX  ADVISORY  WRITE 4242 fe:00:1835127 120 120",
            "13: FLOCK  ADVISORY  WRITE 4242 fe:00:1835127 0 EOF",
            "14: OFDLCK ADVISORY  WRITE -1 fe:00:1835127 0 EOF",
            "",
        ] {
            assert_eq!(parse_write_lock(other), None, "{other}");
        }
    }
}
