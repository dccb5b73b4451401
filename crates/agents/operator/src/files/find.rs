//! Implements `fs_find`, which finds files and directories by name, kind, size and time of change.

mod kind;
mod report;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use lango_protocol::CallReport;
use lango_text::make_visible;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::kind::FindKind;
use self::walk::RunningFind;
use super::glob::PathGlob;
use super::preview;
use super::size::ByteSize;
use super::time::{PointInTime, format_time};
use crate::OperatorSettings;
use crate::blocking::run_blocking;
use crate::sentence::describe_activity;
use crate::workspace::{EntryKind, Workspace};

/// The number of entries that are shown if the call names no limit.
const DEFAULT_FOUND_ENTRIES: usize = 100;

pub(crate) struct FindFiles {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindArguments {
    /// "*.pdf", "src/**/*.md", or a part of the name.
    #[serde(default)]
    glob: Option<String>,
    #[serde(default)]
    kind: Option<FindKind>,
    #[serde(default = "default_path")]
    path: String,
    /// As "500 KB" or "1GiB".
    #[serde(default)]
    #[schemars(with = "String")]
    min_size: Option<ByteSize>,
    #[serde(default)]
    #[schemars(with = "String")]
    max_size: Option<ByteSize>,
    /// Date, or age as "7d".
    #[serde(default)]
    #[schemars(with = "String")]
    changed_after: Option<PointInTime>,
    #[serde(default)]
    #[schemars(with = "String")]
    changed_before: Option<PointInTime>,
    /// Largest or latest first.
    #[serde(default)]
    sort: SortKey,
    #[serde(default)]
    reverse: bool,
    #[serde(default)]
    limit: Option<usize>,
    /// Only number and total size.
    #[serde(default)]
    count: bool,
}

fn default_path() -> String {
    ".".to_owned()
}

// No description: the parameter has one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SortKey {
    #[default]
    Name,
    Size,
    Changed,
}

impl FindArguments {
    /// Returns what is found if the call does not say: by name anything, otherwise files.
    fn kind(&self) -> FindKind {
        let named = if self.glob.is_some() { FindKind::Any } else { FindKind::File };
        self.kind.unwrap_or(named)
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct FindResult {
    path: String,
    kind: FindKind,
    sort: SortKey,
    /// The entries that are shown.
    entries: Vec<FoundEntry>,
    /// The number of all that were found.
    total: usize,
    /// The size of all files that were found; none if directories were.
    total_bytes: Option<u64>,
    /// The number of entries that a rule keeps from being found.
    left_out: usize,
    /// The reason why the search ended early.
    ended: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct FoundEntry {
    #[serde(serialize_with = "serialize_path")]
    path: PathBuf,
    kind: EntryKind,
    /// The size; of a directory, that of all in it.
    size: u64,
    #[serde(serialize_with = "serialize_time")]
    changed: Option<Timestamp>,
}

fn serialize_path<S: serde::Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

#[expect(clippy::ref_option, reason = "serde calls it with a reference")]
fn serialize_time<S: serde::Serializer>(
    time: &Option<Timestamp>,
    to: S,
) -> Result<S::Ok, S::Error> {
    time.map(format_time).serialize(to)
}

impl FindFiles {
    pub(crate) fn new(workspace: Workspace, settings: Arc<OperatorSettings>) -> Self {
        Self { workspace, settings }
    }
}

impl Tool for FindFiles {
    type Arguments = FindArguments;
    type Output = FindResult;
    const NAME: &'static str = "fs_find";
    const DESCRIPTION: &'static str = "Finds files, also in subdirectories. A directory's size is that \
        of all in it.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: FindArguments,
        context: ToolContext,
    ) -> Result<FindResult, ToolError> {
        let (workspace, settings) = (self.workspace.clone(), Arc::clone(&self.settings));
        let excluded = context.excluded.clone();
        run_blocking(&context, move |token| {
            let limit = match arguments.limit {
                _ if arguments.count => 0,
                Some(limit) => limit.clamp(1, settings.max_list_entries),
                None => DEFAULT_FOUND_ENTRIES.min(settings.max_list_entries),
            };
            let glob = arguments.glob.as_deref().map(PathGlob::ignoring_case).transpose()?;
            let mut find = RunningFind {
                workspace: &workspace,
                token,
                excluded,
                max_entries: settings.max_find_entries,
                start: PathBuf::new(),
                glob,
                kind: arguments.kind(),
                arguments: &arguments,
                walked: 0,
                found: Vec::new(),
                total: 0,
                total_bytes: 0,
                left_out: 0,
                ended: None,
            };
            find.run()?;
            Ok(find.finish(limit))
        })
        .await
    }

    fn render(&self, output: &FindResult) -> String {
        let mut text = output.describe_total();
        for FoundEntry { path, kind, size, changed } in &output.entries {
            let slash = if *kind == EntryKind::Directory { "/" } else { "" };
            let changed = changed.map(format_time).unwrap_or_default();
            let path = make_visible(&path.to_string_lossy());
            text.push_str(&format!("\n{kind:9} {size:>9} {changed} {path}{slash}"));
        }
        text
    }

    fn describe(&self, arguments: &FindArguments) -> Option<String> {
        match &arguments.glob {
            Some(glob) => describe_activity("Finding", glob),
            None => Some(format!("Finding {}", arguments.kind().nouns().1)),
        }
    }

    fn report(&self, _: &FindArguments, output: &FindResult) -> Option<CallReport> {
        Some(output.report())
    }

    fn propose(&self, arguments: &FindArguments) -> Option<Proposal> {
        Some(preview::build_reading_proposal(&self.workspace, "Find files in", &arguments.path))
    }
}
