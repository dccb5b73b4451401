//! Translates a plan into rules of Landlock, which can grant access but not revoke a part of it.
//!
//! Around a protected path, every sibling is granted separately. So at this level no new entry can
//! be created in a directory that directly contains something protected.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::helper::LandlockRules;
use crate::plan::{PathPlan, PathTreatment};

/// Devices without content or side effects. Others, such as the user's terminals, are not readable.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Files about the machine as a whole. Others of that directory are about processes.
const MACHINE_FACTS: [&str; 5] =
    ["/proc/cpuinfo", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime"];

/// Directories with processes, sockets and temporary files of others. A job that only reads does not
/// see them, wherever the temporary directory of this process is.
const DIRECTORIES_OF_OTHERS: [&str; 3] = ["/proc", "/run", "/tmp"];

/// Returns the rules for a job that mounts already confine: a second barrier.
pub(crate) fn build_rules_behind_mounts(plan: &PathPlan) -> LandlockRules {
    let writable = plan.writable_paths().map(|path| path.as_os_str().to_owned());
    LandlockRules {
        readable: vec!["/".into()],
        writable: ["/tmp", "/dev"].map(OsString::from).into_iter().chain(writable).collect(),
    }
}

/// Returns the rules for a job that nothing else confines.
pub(crate) fn build_rules_without_mounts(plan: &PathPlan, temporary: &Path) -> LandlockRules {
    let of = |wanted: fn(PathTreatment) -> bool| -> Vec<PathBuf> {
        let paths = plan.paths().filter(|(_, treatment)| wanted(*treatment));
        paths.map(|(path, _)| path.to_owned()).collect()
    };
    let mut unreadable = of(|treatment| treatment == PathTreatment::Hidden);
    unreadable.push(PathBuf::from("/dev"));
    if plan.reading().is_some() {
        unreadable.extend(temporary.parent().map(Path::to_owned));
        unreadable.extend(DIRECTORIES_OF_OTHERS.map(PathBuf::from));
    }
    let mut protected = of(|treatment| treatment >= PathTreatment::Protected);
    // A missing name prevents granting its whole directory, and so does a link.
    let frozen = of(|treatment| treatment == PathTreatment::Frozen);
    protected.extend(frozen.iter().map(|directory| directory.join("\u{1}")));
    let mut rules = LandlockRules::default();
    grant_path(Path::new("/"), &unreadable, &mut rules.readable);
    if let Some(shown) = plan.reading() {
        unreadable.retain(|avoided| avoided.starts_with(shown));
        grant_path(shown, &unreadable, &mut rules.readable);
        rules.readable.extend(MACHINE_FACTS.map(OsString::from));
    }
    for root in plan.writable_paths() {
        let mut avoided = protected.clone();
        if plan.is_private(root) {
            // The hidden directory that it lies in is no reason to avoid it.
            avoided.retain(|avoided| avoided.starts_with(root));
        }
        grant_path(root, &avoided, &mut rules.writable);
    }
    rules.writable.push(temporary.into());
    rules.writable.extend(DEVICES.map(OsString::from));
    rules
}

/// Grants `path`, or the parts of it that do not touch the avoided paths.
fn grant_path(path: &Path, avoided: &[PathBuf], granted: &mut Vec<OsString>) {
    if avoided.iter().any(|avoided| path.starts_with(avoided)) {
        return;
    }
    if !avoided.iter().any(|avoided| avoided.starts_with(path)) {
        granted.push(path.into());
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // The target of a link is granted, or not, at its own path.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            grant_path(&entry.path(), avoided, granted);
        }
    }
}
