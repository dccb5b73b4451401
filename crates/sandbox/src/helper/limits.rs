//! Limits of single processes, where no control group does it for all of them.

use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};

use super::order::Limited;
use crate::cgroup::Hierarchies;
use crate::job::Limits;
use crate::level::Level;

/// What the helper is to set.
pub(crate) fn limits_for(
    limits: &Limits,
    level: Level,
    group: Option<&Hierarchies>,
) -> Vec<(Limited, u64, u64)> {
    let mut set = vec![
        // At the first limit a process is told, one second later it is killed.
        (Limited::Cpu, limits.cpu_seconds, limits.cpu_seconds.saturating_add(1)),
        (Limited::FileSize, limits.file_bytes, limits.file_bytes),
        (Limited::OpenFiles, limits.open_files, limits.open_files),
        (Limited::Core, 0, 0),
    ];
    if !group.is_some_and(Hierarchies::limits_memory) {
        // Not the address space, which many programs reserve and do not use.
        set.push((Limited::Data, limits.memory_bytes, limits.memory_bytes));
    }
    if group.is_none() {
        // A user namespace counts its own processes; otherwise all of the user's count.
        let others = if level == Level::Bubblewrap { 0 } else { threads_of_user() };
        let most = limits.processes.saturating_add(others);
        set.push((Limited::Processes, most, most));
    }
    set
}

/// Processes and threads of this user.
fn threads_of_user() -> u64 {
    let user = getuid().as_raw();
    let of_user = |path: &std::path::Path| {
        std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(path).ok()?)
            .eq(&user)
            .then(|| std::fs::read_dir(path.join("task")).map_or(1, Iterator::count))
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| of_user(&entry.path())).map(|count| count as u64).sum()
}

/// Sets them for this process and those it starts. A stricter limit that is there stays.
pub(super) fn apply(limits: &[(Limited, u64, u64)]) -> Result<(), String> {
    for (limited, soft, hard) in limits {
        let resource = match limited {
            Limited::Cpu => Resource::Cpu,
            Limited::Data => Resource::Data,
            Limited::Processes => Resource::Nproc,
            Limited::FileSize => Resource::Fsize,
            Limited::OpenFiles => Resource::Nofile,
            Limited::Core => Resource::Core,
        };
        let now = getrlimit(resource);
        let least = |wanted: u64, found: Option<u64>| Some(wanted.min(found.unwrap_or(u64::MAX)));
        let maximum = least(*hard, now.maximum);
        let current = least(*soft, maximum);
        setrlimit(resource, Rlimit { current, maximum })
            .map_err(|error| format!("limit of {limited:?}: {error}"))?;
    }
    Ok(())
}
