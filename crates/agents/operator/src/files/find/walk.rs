//! Walks through directories and collects what is asked for.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use cap_std::fs::Metadata;
use lango_tool::{ExcludedPaths, ToolError};
use tokio_util::sync::CancellationToken;

use super::kind::FindKind;
use super::{FindArguments, FindResult, FoundEntry, SortKey};
use crate::files::glob::PathGlob;
use crate::files::ignore_rules::IgnoreRules;
use crate::files::time::read_modified_time;
use crate::workspace::{EntryKind, Workspace, is_git, read_entries};

pub(super) struct RunningFind<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) token: &'a CancellationToken,
    pub(super) excluded: ExcludedPaths,
    /// The most entries that are looked at.
    pub(super) max_entries: usize,
    /// The directory that the walk begins in, without links, relative to the workspace.
    pub(super) start: PathBuf,
    pub(super) glob: Option<PathGlob>,
    pub(super) kind: FindKind,
    pub(super) arguments: &'a FindArguments,
    pub(super) walked: usize,
    pub(super) found: Vec<FoundEntry>,
    pub(super) total: usize,
    pub(super) total_bytes: u64,
    pub(super) left_out: usize,
    pub(super) ended: Option<String>,
}

impl RunningFind<'_> {
    pub(super) fn run(&mut self) -> Result<(), ToolError> {
        let location = self.workspace.check_path(&self.arguments.path)?;
        // What cannot be opened here is told; further down it has nothing to show.
        self.workspace.open_directory(&location)?;
        self.start = self.workspace.canonicalize(&location)?;
        let rules = IgnoreRules::above(self.workspace, &self.start);
        let start = self.start.clone();
        self.walk_directory(&start, &rules, false).map(drop)
    }

    /// Walks through a directory. Returns the size of all files in it. What is in an ignored directory
    /// only counts.
    fn walk_directory(
        &mut self,
        path: &Path,
        above: &IgnoreRules,
        is_ignored: bool,
    ) -> Result<u64, ToolError> {
        if self.token.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let opened = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let Ok(directory) = self.workspace.open_walked(opened) else { return Ok(0) };
        let Ok(names) = read_entries(&directory) else { return Ok(0) };
        let rules = if is_ignored { above.clone() } else { above.with_directory(&directory, path) };
        let mut bytes = 0;
        for (name, kind) in names {
            let path = path.join(&name);
            if self.excluded.contains(&path) {
                self.left_out += 1;
                continue;
            }
            if self.workspace.is_hidden(&path) {
                continue;
            }
            if self.walked == self.max_entries {
                let limit = self.max_entries;
                self.ended = Some(format!("stopped after {limit} entries; name a subdirectory"));
                break;
            }
            self.walked += 1;
            let is_directory = kind == EntryKind::Directory;
            let is_skipped = is_ignored || is_git(&name) || rules.is_ignored(&path, is_directory);
            // Which directory is the largest is asked about all of them.
            if is_skipped && self.kind != FindKind::Directory {
                continue;
            }
            let Ok(metadata) = directory.symlink_metadata(&name) else { continue };
            let size = if is_directory {
                self.walk_directory(&path, &rules, is_skipped)?
            } else {
                metadata.len()
            };
            bytes += size;
            if !is_ignored {
                self.consider(path, kind, size, &metadata);
            }
            if self.ended.is_some() {
                break;
            }
        }
        Ok(bytes)
    }

    fn consider(&mut self, path: PathBuf, kind: EntryKind, size: u64, metadata: &Metadata) {
        let FindArguments { min_size, max_size, changed_after, changed_before, count, .. } =
            self.arguments;
        let changed = read_modified_time(metadata);
        // A time that is not known is neither before nor after another one.
        let is_wanted = self.kind.includes(kind, &path)
            && self.glob.as_ref().is_none_or(|glob| glob.is_match(&path, &self.start))
            && min_size.is_none_or(|least| size >= least.0)
            && max_size.is_none_or(|most| size <= most.0)
            && changed_after.is_none_or(|after| changed.is_some_and(|time| time >= after.0))
            && changed_before.is_none_or(|before| changed.is_some_and(|time| time < before.0));
        if !is_wanted {
            return;
        }
        self.total += 1;
        if kind != EntryKind::Directory {
            self.total_bytes += size;
        }
        if !*count {
            self.found.push(FoundEntry { path, kind, size, changed });
        }
    }

    /// Returns what was found, in order, as far as it is to be shown.
    pub(super) fn finish(self, limit: usize) -> FindResult {
        let Self { mut found, total, total_bytes, left_out, ended, kind, arguments, .. } = self;
        let FindArguments { sort, reverse, path, .. } = arguments;
        let order = |one: &FoundEntry, other: &FoundEntry| -> Ordering {
            let by_key = match sort {
                SortKey::Name => Ordering::Equal,
                SortKey::Size => other.size.cmp(&one.size),
                SortKey::Changed => other.changed.cmp(&one.changed),
            };
            let order = by_key.then_with(|| one.path.cmp(&other.path));
            if *reverse { order.reverse() } else { order }
        };
        found.sort_by(order);
        found.truncate(limit);
        FindResult {
            path: path.clone(),
            kind,
            sort: *sort,
            entries: found,
            total,
            total_bytes: (kind != FindKind::Directory).then_some(total_bytes),
            left_out,
            ended,
        }
    }
}
