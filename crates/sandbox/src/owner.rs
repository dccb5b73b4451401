//! Identifies the process that owns a job, and ends what an owner left that was killed.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::OnceLock;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The beginning of the name of the file that a starting job holds open.
const ORDER_NAME: &str = "lango-order-";

/// A process, told apart from others that have the same number earlier, later or in another
/// namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobOwner {
    id: u32,
    /// The namespace in which the number is valid.
    namespace: u64,
    /// The start of the process, in ticks since that of the machine.
    start: u64,
}

impl JobOwner {
    /// Returns this process.
    pub(crate) fn current() -> Self {
        static CURRENT: OnceLock<JobOwner> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            let id = std::process::id();
            Self { id, namespace: own_namespace(), start: read_start(id).unwrap_or_default() }
        })
    }

    /// Reads an owner from its text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let (id, namespace, start) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            id: id.parse().ok()?,
            namespace: namespace.parse().ok()?,
            start: start.parse().ok()?,
        })
    }

    /// Tells whether the process has surely ended. One in another namespace cannot be seen.
    pub(crate) fn has_ended(&self) -> bool {
        self.namespace != 0
            && self.namespace == own_namespace()
            && read_start(self.id) != Some(self.start)
    }

    /// Returns the name of the file that a starting job holds open.
    pub(crate) fn order_name(&self) -> String {
        format!("{ORDER_NAME}{self}")
    }
}

impl fmt::Display for JobOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.id, self.namespace, self.start)
    }
}

/// Returns the number of the process namespace, or 0 if it is not known.
fn own_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map(|found| found.ino()).unwrap_or_default()
}

/// Returns when a process was started, or none if there is no such process.
fn read_start(id: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The program's name comes before, in parentheses, and can contain anything.
    stat.rsplit(')').next()?.split_whitespace().nth(19)?.parse().ok()
}

/// Ends processes that were starting a job when their owner was killed.
///
/// The first process of bubblewrap waits for its parent, which is gone, and is in no control group
/// yet; it is recognized by the order that it would pass on.
pub(crate) fn end_orphans() {
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        let Some(id) = id.filter(|_| is_orphan(&entry.path())) else { continue };
        // Checked again, once the number cannot become that of another process.
        if let Ok(process) = pidfd_open(id, PidfdFlags::empty())
            && is_orphan(&entry.path())
        {
            // It fails if the process is gone, as intended.
            let _ = pidfd_send_signal(&process, Signal::KILL);
        }
    }
}

/// Tells whether a process holds the order of an owner that has ended.
fn is_orphan(process: &Path) -> bool {
    // A process of another user cannot be looked at, and is none of ours.
    if !fs::read(process.join("comm")).is_ok_and(|name| name.starts_with(b"bwrap")) {
        return false;
    }
    let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    let mut targets = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
    targets.any(|target| {
        let name = target.to_str().and_then(|target| target.strip_prefix("/memfd:"));
        let name = name.and_then(|name| name.strip_suffix(" (deleted)"));
        let owner = name.and_then(|name| JobOwner::parse(name.strip_prefix(ORDER_NAME)?));
        owner.is_some_and(|owner| owner.has_ended())
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;

    /// Starts a process with the name of bubblewrap that holds the order of an owner, and waits.
    fn start_waiting(directory: &Path, owner: JobOwner) -> Child {
        // It is inherited, because it is not closed when a program starts.
        let order = memfd_create(owner.order_name(), MemfdFlags::empty()).unwrap();
        let child = Command::new(directory.join("bwrap")).arg("1000").spawn().unwrap();
        drop(order);
        child
    }

    #[test]
    fn what_a_killed_owner_was_starting_is_ended_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        fs::copy("/bin/sleep", directory.path().join("bwrap")).unwrap();
        let own = JobOwner::current();
        let mut alive = start_waiting(directory.path(), own);
        let mut orphan = start_waiting(directory.path(), JobOwner { start: own.start + 1, ..own });
        end_orphans();
        assert!(!orphan.wait().unwrap().success());
        assert!(alive.try_wait().unwrap().is_none());
        alive.kill().unwrap();
        alive.wait().unwrap();
    }

    #[test]
    fn an_owner_is_told_apart_from_a_process_with_its_number() {
        let own = JobOwner::current();
        assert!(!own.has_ended());
        assert_eq!(JobOwner::parse(&own.to_string()), Some(own));
        assert!(JobOwner { start: own.start + 1, ..own }.has_ended());
        // In another namespace the number means nothing.
        assert!(!JobOwner { namespace: own.namespace + 1, start: 0, ..own }.has_ended());
        assert_eq!(JobOwner::parse("12-3"), None);
    }
}
