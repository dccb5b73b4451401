//! Applies Landlock: which files can be read and written.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, PathBeneath, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};

use super::order::LandlockRules;

/// Restricts this thread and all processes that it starts.
pub(super) fn apply_rules(rules: &LandlockRules) -> Result<(), String> {
    let status = build_ruleset(rules).and_then(RulesetCreated::restrict_self);
    match status.map_err(|error| format!("Landlock: {error}"))?.ruleset {
        RulesetStatus::NotEnforced => Err("Landlock is not enforced".to_owned()),
        RulesetStatus::PartiallyEnforced | RulesetStatus::FullyEnforced => Ok(()),
    }
}

fn build_ruleset(rules: &LandlockRules) -> Result<RulesetCreated, RulesetError> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V5))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?;
    let ruleset = add_paths(ruleset, &rules.readable, AccessFs::from_read(ABI::V5))?;
    add_paths(ruleset, &rules.writable, AccessFs::from_all(ABI::V5))
}

fn add_paths(
    mut ruleset: RulesetCreated,
    paths: &[OsString],
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    for path in paths {
        // A path that is gone, or has become a link since the check, is not granted.
        let Some((place, is_directory)) = open(Path::new(path)) else { continue };
        let access = if is_directory { access } else { access & AccessFs::from_file(ABI::V5) };
        ruleset = ruleset.add_rule(PathBeneath::new(place, access))?;
    }
    Ok(ruleset)
}

/// Opens a path to grant rights on, and tells whether it is a directory. Returns none for what is not
/// there or is a link: nothing is granted on it.
fn open(path: &Path) -> Option<(OwnedFd, bool)> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let place = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
    let kind = FileType::from_raw_mode(fstat(&place).ok()?.st_mode);
    (kind != FileType::Symlink).then_some((place, kind == FileType::Directory))
}
