//! Keeps the memory of the process from other programs and from the disk.

#[cfg(target_os = "linux")]
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::process::{Resource, Rlimit, setrlimit};

/// Forbids core dumps of this process, and lets no other program of the same user read its memory.
/// A system that does not support it is not worse off than before.
pub fn protect_process_memory() {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    if let Err(error) = setrlimit(Resource::Core, none) {
        tracing::debug!(%error, "core dumps could not be forbidden");
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::debug!(%error, "the memory of the process could not be protected");
    }
}
