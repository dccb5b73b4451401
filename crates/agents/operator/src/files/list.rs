//! Implements `fs_list`, which lists the entries of a directory.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lango_protocol::{CallReport, ReportedFiles};
use lango_text::{code_span, make_visible, plural};
use lango_tool::{ExcludedPaths, Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::preview;
use super::report::FilesReport;
use super::time::format_modified_time;
use crate::OperatorSettings;
use crate::blocking::run_blocking;
use crate::sentence::{count_with_noun, describe_activity};
use crate::workspace::{EntryKind, Workspace, is_git, read_entries};

pub(crate) struct ListFiles {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {
    #[serde(default = "default_path")]
    path: String,
    /// Levels, 1 to 8.
    #[serde(default = "default_depth")]
    depth: u32,
}

fn default_path() -> String {
    ".".to_owned()
}

fn default_depth() -> u32 {
    1
}

#[derive(Debug, Serialize)]
pub(crate) struct Listing {
    path: String,
    entries: Vec<ListedEntry>,
    /// True if there are more entries than were listed.
    cut: bool,
    /// The number of entries that a rule keeps from being listed.
    left_out: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct ListedEntry {
    /// The path relative to the listed directory.
    name: String,
    /// The path relative to the workspace, as a tool takes it.
    #[serde(skip)]
    path: String,
    kind: EntryKind,
    size: u64,
    modified: String,
    /// The target of a link; it is not followed.
    link: Option<String>,
}

/// Reports to programs what was listed.
#[derive(Serialize)]
struct ListingFacts<'a> {
    path: &'a str,
    entries: &'a [ListedEntry],
    cut: bool,
    left_out: usize,
}

impl Listing {
    fn facts(&self) -> FilesReport<ListingFacts<'_>> {
        let Self { path, entries, cut, left_out } = self;
        let files = ReportedFiles::new(entries.iter().map(|entry| entry.path.clone()));
        let entries = &entries[..files.paths.len()];
        let details = ListingFacts { path, entries, cut: *cut, left_out: *left_out };
        FilesReport { files, details }
    }
}

impl ListFiles {
    pub(crate) fn new(workspace: Workspace, settings: Arc<OperatorSettings>) -> Self {
        Self { workspace, settings }
    }
}

impl Tool for ListFiles {
    type Arguments = ListArguments;
    type Output = Listing;
    const NAME: &'static str = "fs_list";
    const DESCRIPTION: &'static str =
        "Lists a directory: kind, size, time of change, name. Links are shown, not followed.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: ListArguments,
        context: ToolContext,
    ) -> Result<Listing, ToolError> {
        let deepest = self.settings.max_list_depth;
        if !(1..=deepest).contains(&arguments.depth) {
            return Err(ToolError::Arguments(format!("depth must be 1 to {deepest}")));
        }
        let (workspace, max_entries) = (self.workspace.clone(), self.settings.max_list_entries);
        let excluded = context.excluded.clone();
        run_blocking(&context, move |token| {
            list_entries(&workspace, &arguments, max_entries, &excluded, token)
        })
        .await
    }

    fn render(&self, output: &Listing) -> String {
        let mut text = format!("{}: {} entries", output.path, output.entries.len());
        if output.cut {
            text.push_str(" shown, there are more; list a subdirectory or use a smaller depth");
        }
        if output.left_out > 0 {
            text.push_str(&format!("; {} left out by a rule", output.left_out));
        }
        for entry in &output.entries {
            let ListedEntry { name, kind, size, modified, link, .. } = entry;
            let slash = if *kind == EntryKind::Directory { "/" } else { "" };
            text.push_str(&format!("\n{kind:9} {size:>9} {modified} {name}{slash}"));
            if let Some(link) = link {
                text.push_str(&format!(" -> {link}"));
            }
        }
        text
    }

    fn describe(&self, arguments: &ListArguments) -> Option<String> {
        match arguments.path.as_str() {
            "." => Some("Listing the workspace".to_owned()),
            path => describe_activity("Listing", path),
        }
    }

    fn report(&self, _: &ListArguments, output: &Listing) -> Option<CallReport> {
        let directory = match output.path.as_str() {
            "." => "the workspace".to_owned(),
            path => code_span(path),
        };
        if output.entries.is_empty() && output.left_out == 0 {
            return Some(
                CallReport::new(format!("There is nothing in {directory}.")).data(&output.facts()),
            );
        }
        let entries = plural(output.entries.len(), "entry", "entries");
        let summary = if output.cut {
            format!("The first {entries} in {directory}; there are more:")
        } else {
            format!("{entries} in {directory}:")
        };
        let items: Vec<String> = output.entries.iter().map(ListedEntry::render_item).collect();
        let mut report = CallReport::new(summary).markdown(items.join("\n"));
        if output.left_out > 0 {
            report = report.note(format!("Left out by a rule: {}.", output.left_out));
        }
        Some(report.data(&output.facts()))
    }

    fn propose(&self, arguments: &ListArguments) -> Option<Proposal> {
        Some(preview::build_reading_proposal(&self.workspace, "List", &arguments.path))
    }
}

impl ListedEntry {
    /// Returns the entry as an item of a Markdown list.
    fn render_item(&self) -> String {
        let Self { name, kind, size, link, .. } = self;
        match (kind, link) {
            (EntryKind::File, _) => {
                format!("- {}, {}", code_span(name), count_with_noun(*size, "byte", "bytes"))
            }
            (EntryKind::Directory, _) => format!("- {}", code_span(&format!("{name}/"))),
            (kind, None) => format!("- {} ({kind})", code_span(name)),
            (kind, Some(link)) => format!("- {} ({kind})", code_span(&format!("{name} -> {link}"))),
        }
    }
}

fn list_entries(
    workspace: &Workspace,
    arguments: &ListArguments,
    max_entries: usize,
    excluded: &ExcludedPaths,
    token: &CancellationToken,
) -> Result<Listing, ToolError> {
    let location = workspace.check_path(&arguments.path)?;
    let start = workspace.open_directory(&location)?;
    let top = workspace.canonicalize(&location)?;
    let mut found: Vec<(PathBuf, ListedEntry)> = Vec::new();
    let (mut cut, mut left_out) = (false, 0);
    // Walks level by level, so that a limit costs the deepest entries and not the last directories.
    let mut pending = VecDeque::from([(PathBuf::new(), 1)]);
    'walk: while let Some((path, depth)) = pending.pop_front() {
        if token.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let opened = if depth == 1 { start.try_clone() } else { start.open_dir(&path) };
        let directory = match opened {
            Ok(directory) => directory,
            Err(error) if depth == 1 => return Err(location.describe_error("list", &error)),
            // The directory itself is listed already; its content cannot be read.
            Err(_) => continue,
        };
        let names = match read_entries(&directory) {
            Ok(names) => names,
            Err(error) if depth == 1 => return Err(location.describe_error("list", &error)),
            Err(_) => continue,
        };
        for (name, kind) in names {
            if excluded.contains(&top.join(&path).join(&name)) {
                left_out += 1;
                continue;
            }
            if found.len() == max_entries {
                cut = true;
                break 'walk;
            }
            let Ok(metadata) = directory.symlink_metadata(&name) else { continue };
            let path = path.join(&name);
            let link = (kind == EntryKind::Link)
                .then(|| directory.read_link_contents(&name).ok())
                .flatten()
                .map(|target| visible_path(&target));
            let entry = ListedEntry {
                name: visible_path(&path),
                path: top.join(&path).to_string_lossy().into_owned(),
                kind,
                size: metadata.len(),
                modified: format_modified_time(&metadata),
                link,
            };
            let is_open = !is_git(&name) && !workspace.is_hidden(&top.join(&path));
            if kind == EntryKind::Directory && depth < arguments.depth && is_open {
                pending.push_back((path.clone(), depth + 1));
            }
            found.push((path, entry));
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let entries = found.into_iter().map(|(_, entry)| entry).collect();
    Ok(Listing { path: location.shown().to_owned(), entries, cut, left_out })
}

fn visible_path(path: &Path) -> String {
    make_visible(&path.to_string_lossy())
}
