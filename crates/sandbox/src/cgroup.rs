//! Manages control groups: limits for all processes of a job together.
//!
//! Version 2 is used if it has the controllers, otherwise version 1. `limits.rs` decides which
//! limits fall back to single processes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::capabilities::can_open_for_writing;
use crate::job::JobLimits;
use crate::owner::{self, JobOwner};

/// Limits how long a group may take to become empty after its processes were killed.
const GROUP_EMPTY_TIMEOUT: Duration = Duration::from_secs(2);

/// The purpose of a directory of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Controller {
    /// Version 2: processes, and memory if the flag is set.
    Unified { memory: bool },
    /// Processes, in version 1.
    Processes,
    /// Memory, in version 1.
    Memory,
}

/// The directories in which groups can be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchies {
    parents: Vec<(PathBuf, Controller)>,
}

impl Hierarchies {
    /// Finds the directories in which a group can really be created.
    pub(crate) fn find() -> Result<Self, String> {
        let read = |path| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
        let (own, mounts) = (read("/proc/self/cgroup")?, read("/proc/self/mountinfo")?);
        let mut parents = Vec::new();
        if let Some(found) = find_unified_group(&own, &mounts) {
            parents.push(found);
        } else if let Some(processes) = find_version_one_group(&own, &mounts, "pids") {
            parents.push((processes, Controller::Processes));
            parents.extend(
                find_version_one_group(&own, &mounts, "memory").map(|p| (p, Controller::Memory)),
            );
        }
        if parents.is_empty() {
            owner::end_orphans();
            return Err("no control group may be made here. With systemd this gives one: \
                        systemd-run --user --scope lango"
                .to_owned());
        }
        let mut is_any_stale = false;
        for (parent, _) in &parents {
            is_any_stale |= remove_stale(parent);
        }
        if is_any_stale {
            owner::end_orphans();
        }
        Ok(Self { parents })
    }

    /// Tells whether memory is limited for all processes together.
    pub(crate) fn limits_memory(&self) -> bool {
        self.parents.iter().any(|(_, controller)| {
            matches!(controller, Controller::Memory | Controller::Unified { memory: true })
        })
    }

    /// Creates an empty group with these limits.
    pub(crate) fn create_group(&self, limits: &JobLimits) -> io::Result<CgroupGroup> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lango-{}-{number}", JobOwner::current());
        let mut group = CgroupGroup { directories: Vec::new() };
        for (parent, controller) in &self.parents {
            let directory = parent.join(&name);
            fs::create_dir(&directory)?;
            group.directories.push(directory.clone());
            let set = |file: &str, value: u64| fs::write(directory.join(file), value.to_string());
            match controller {
                Controller::Unified { memory } => {
                    set("pids.max", limits.processes)?;
                    if *memory {
                        set("memory.max", limits.memory_bytes)?;
                        // Kernels without swap do not have the file.
                        let _ = set("memory.swap.max", 0);
                    }
                }
                Controller::Processes => set("pids.max", limits.processes)?,
                Controller::Memory => set("memory.limit_in_bytes", limits.memory_bytes)?,
            }
        }
        Ok(group)
    }
}

/// Returns the nearest group of version 2 whose children can have a limit on processes.
fn find_unified_group(own: &str, mounts: &str) -> Option<(PathBuf, Controller)> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount =
        mounts.lines().filter_map(CgroupMount::parse).find(|mount| mount.kind == "cgroup2")?;
    let directory = mount.directory(path)?;
    directory.ancestors().take_while(|directory| directory.starts_with(mount.point)).find_map(
        |directory| {
            // A group that cannot be read is not ours to use.
            let given = fs::read_to_string(directory.join("cgroup.subtree_control")).ok()?;
            let has = |controller: &str| given.split_whitespace().any(|given| given == controller);
            (has("pids") && accepts_groups(directory))
                .then(|| (directory.to_owned(), Controller::Unified { memory: has("memory") }))
        },
    )
}

fn find_version_one_group(own: &str, mounts: &str, controller: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|one| one == controller).then_some(path)
    })?;
    let mount = mounts.lines().filter_map(CgroupMount::parse).find(|mount| {
        mount.kind == "cgroup" && mount.options.split(',').any(|one| one == controller)
    })?;
    mount.directory(path).filter(|directory| accepts_groups(directory))
}

/// The relevant fields of a line of `mountinfo`.
struct CgroupMount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> CgroupMount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut after = after.split(' ');
        let (root, point, kind) = (before.next()?, before.next()?, after.next()?);
        Some(Self { root, point, kind, options: after.nth(1)? })
    }

    /// Returns the directory of a group below this mount.
    fn directory(&self, group: &str) -> Option<PathBuf> {
        let below = Path::new(group).strip_prefix(self.root).ok()?;
        Some(Path::new(self.point).join(below))
    }
}

/// Tries to create a group: permissions alone do not tell.
fn accepts_groups(parent: &Path) -> bool {
    let tried = parent.join(format!("lango-probe-{}", std::process::id()));
    if fs::create_dir(&tried).is_err() {
        return false;
    }
    // Moving a process requires write access to the processes of the parent group.
    let usable = can_open_for_writing(&tried.join("cgroup.procs"))
        && can_open_for_writing(&parent.join("cgroup.procs"));
    fs::remove_dir(&tried).is_ok() && usable
}

/// Ends the members of groups whose owners were killed, and removes the groups. Tells whether there
/// was one.
fn remove_stale(parent: &Path) -> bool {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let stale = entries.filter(|entry| {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix("lango-")?.rsplit_once('-'));
        let owner = owner.and_then(|(owner, _number)| JobOwner::parse(owner));
        owner.is_some_and(|owner| owner.has_ended())
    });
    let directories: Vec<PathBuf> = stale.map(|entry| entry.path()).collect();
    let is_any_stale = !directories.is_empty();
    CgroupGroup { directories }.remove();
    is_any_stale
}

/// The group of one job. [`CgroupGroup::remove`] must remove it.
#[derive(Debug)]
pub(crate) struct CgroupGroup {
    directories: Vec<PathBuf>,
}

impl CgroupGroup {
    /// Opens the files that a process writes to in order to join.
    pub(crate) fn open_entrances(&self) -> io::Result<Vec<File>> {
        let open =
            |directory: &PathBuf| File::options().write(true).open(directory.join("cgroup.procs"));
        self.directories.iter().map(open).collect()
    }

    /// Kills all members and removes the group.
    pub(crate) fn remove(self) {
        let begun = Instant::now();
        for directory in &self.directories {
            while fs::remove_dir(directory).is_err() && begun.elapsed() < GROUP_EMPTY_TIMEOUT {
                kill_all(directory);
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

fn kill_all(directory: &Path) {
    if fs::write(directory.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    // A group that is gone has no members.
    let members = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    for member in members.lines().filter_map(|id| id.parse().ok()).filter_map(Pid::from_raw) {
        // A process that is already gone need not be killed.
        let _ = kill_process(member, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_through_its_mount() {
        let line = "33 32 0:30 /user.slice /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";
        let mount = CgroupMount::parse(line).unwrap();
        let found = mount.directory("/user.slice/app.slice/lango.scope");
        assert_eq!(found.unwrap(), Path::new("/sys/fs/cgroup/app.slice/lango.scope"));
        assert_eq!(mount.directory("/system.slice"), None);
    }
}
