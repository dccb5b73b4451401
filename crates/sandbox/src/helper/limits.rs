//! Sets limits of single processes, if no control group limits all of them.

use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};

use super::order::LimitedResource;
use crate::cgroup::Hierarchies;
use crate::job::JobLimits;
use crate::level::ConfinementLevel;

/// Returns the limits that the helper sets.
pub(crate) fn choose_limits(
    limits: &JobLimits,
    level: ConfinementLevel,
    group: Option<&Hierarchies>,
) -> Vec<(LimitedResource, u64, u64)> {
    let mut set = vec![
        // At the soft limit a process gets a signal, one second later it is killed.
        (LimitedResource::Cpu, limits.cpu_seconds, limits.cpu_seconds.saturating_add(1)),
        (LimitedResource::FileSize, limits.file_bytes, limits.file_bytes),
        (LimitedResource::OpenFiles, limits.open_files, limits.open_files),
        (LimitedResource::Core, 0, 0),
    ];
    if !group.is_some_and(Hierarchies::limits_memory) {
        // Not the address space, which many programs reserve without using it.
        set.push((LimitedResource::Data, limits.memory_bytes, limits.memory_bytes));
    }
    if group.is_none() {
        // A user namespace counts its own processes; otherwise all processes of the user count.
        let others = if level == ConfinementLevel::Bubblewrap { 0 } else { count_user_threads() };
        let most = limits.processes.saturating_add(others);
        set.push((LimitedResource::Processes, most, most));
    }
    set
}

/// Returns the number of processes and threads of this user.
fn count_user_threads() -> u64 {
    let user = getuid().as_raw();
    let of_user = |path: &std::path::Path| {
        std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(path).ok()?)
            .eq(&user)
            .then(|| std::fs::read_dir(path.join("task")).map_or(1, Iterator::count))
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| of_user(&entry.path())).map(|count| count as u64).sum()
}

/// Sets the limits for this process and its children. A stricter existing limit stays.
pub(super) fn apply_limits(limits: &[(LimitedResource, u64, u64)]) -> Result<(), String> {
    for (limited, soft, hard) in limits {
        let resource = match limited {
            LimitedResource::Cpu => Resource::Cpu,
            LimitedResource::Data => Resource::Data,
            LimitedResource::Processes => Resource::Nproc,
            LimitedResource::FileSize => Resource::Fsize,
            LimitedResource::OpenFiles => Resource::Nofile,
            LimitedResource::Core => Resource::Core,
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
