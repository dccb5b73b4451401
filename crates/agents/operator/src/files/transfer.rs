//! Finds out where the files of a move or a copy go, and says so in questions and reports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lango_protocol::{CallReport, ReportedFiles};
use lango_text::{code_span, make_visible, plural};
use lango_tool::{Proposal, ProposedStep, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decided_effect::DecidedEffect;
use super::path_list::{ListedPath, PathList};
use super::preview;
use super::report::FilesReport;
use super::size::format_size;
use crate::changes::PreviousFile;
use crate::sentence::{code, report_change};
use crate::workspace::{EntryKind, PathUse, Workspace, WorkspacePath, is_git, permission_bits};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransferArguments {
    /// Paths or globs.
    pub(super) from: PathList,
    /// New path, or directory to put them in.
    pub(super) to: String,
    /// Replace files.
    #[serde(default)]
    pub(super) overwrite: bool,
    #[serde(skip)]
    pub(super) decided: DecidedEffect,
}

/// Holds where files go.
pub(super) struct Transfer {
    pub(super) items: Vec<TransferItem>,
    /// The directories that are missing on the way, the outermost first.
    pub(super) made: Vec<PathBuf>,
    /// The directory that the files are put in; none if one file gets a new name.
    directory: Option<PathBuf>,
    /// True if one path was named, without a glob.
    is_single: bool,
}

pub(super) struct TransferItem {
    pub(super) from: ListedPath,
    /// The new path without links, relative to the workspace.
    pub(super) to: PathBuf,
    /// The size of the file that is replaced.
    pub(super) replaced: Option<u64>,
}

impl Transfer {
    /// Finds out where the files of a call go. Nothing is changed.
    pub(super) fn find(
        workspace: &Workspace,
        arguments: &TransferArguments,
    ) -> Result<Self, ToolError> {
        let TransferArguments { from, to, overwrite, .. } = arguments;
        let sources = from.resolve(workspace)?;
        let location = workspace.check_path(to)?;
        let resolved = workspace.resolve_for_writing(&location)?;
        let found = WorkspacePath::from_workspace_path(root_or(&resolved));
        let is_directory = workspace.read_metadata(&found).is_ok_and(|metadata| metadata.is_dir());
        let (directory, parent) = if !sources.is_single || to.ends_with('/') || is_directory {
            (Some(resolved.clone()), resolved.clone())
        } else {
            (None, resolved.parent().unwrap_or(Path::new("")).to_owned())
        };
        let made = workspace.find_missing_directories(&parent)?;
        let mut items = Vec::new();
        let mut sources_by_target: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
        for source in sources.paths {
            let target = match &directory {
                Some(directory) => directory.join(source.resolved.file_name().unwrap_or_default()),
                None if workspace.has_entry(&location) => workspace.resolve_entry(&location)?,
                None => resolved.clone(),
            };
            if let Some(other) = sources_by_target.insert(target.clone(), source.resolved.clone()) {
                return Err(ToolError::Failed(format!(
                    "{} and {} would both become {}; nothing was done",
                    visible(&other),
                    visible(&source.resolved),
                    visible(&target)
                )));
            }
            let is_new_parent = !made.is_empty();
            let replaced = check_target(workspace, &source, &target, *overwrite, is_new_parent)?;
            items.push(TransferItem { from: source, to: target, replaced });
        }
        Ok(Self { items, made, directory, is_single: sources.is_single })
    }

    /// Describes the effect of a call for a question. `extents` tells of each source how much it is,
    /// if that is known.
    pub(super) fn describe(&self, verb: &str, to: &str, extents: &[Option<String>]) -> String {
        let extent = |at: usize| {
            let extent = extents.get(at).and_then(Option::as_ref);
            extent.map(|extent| format!(" ({extent})")).unwrap_or_default()
        };
        let replaces = |item: &TransferItem| {
            let size = item.replaced?;
            Some(format!("replaces {}, {}", visible(&item.to), format_size(size)))
        };
        let made: Vec<String> = self.made.iter().map(|path| visible(path)).collect();
        if let ([item], true) = (self.items.as_slice(), self.is_single) {
            let from = make_visible(&item.from.location.to_argument());
            let target = visible(&item.to);
            let given = make_visible(to);
            let target = if self.directory.is_none() && given != target {
                format!("{given} (which is {target})")
            } else {
                target
            };
            let mut summary = format!("{verb} {from}{} to {target}", extent(0));
            if !made.is_empty() {
                summary.push_str(&format!("\nThis makes the directory {}", made.join(", ")));
            }
            if let Some(replaces) = replaces(item) {
                summary.push_str(&format!("\nThis {replaces}"));
            }
            return summary;
        }
        let count = plural(self.items.len(), "entry", "entries");
        let directory = self.directory.as_deref().map(|path| visible(root_or(path)));
        let state = if made.is_empty() { "which exists" } else { "which this makes" };
        let directory = directory.unwrap_or_default();
        let mut summary = format!("{verb} {count} to the directory {directory}, {state}:");
        for (at, item) in self.items.iter().enumerate() {
            let from = make_visible(&item.from.location.to_argument());
            summary.push_str(&format!("\n  - {from}{}", extent(at)));
            if let Some(replaces) = replaces(item) {
                summary.push_str(&format!(", {replaces}"));
            }
        }
        summary
    }

    /// Returns the steps for rules: of each file both names.
    fn propose_steps(
        &self,
        workspace: &Workspace,
        arguments: &TransferArguments,
    ) -> Vec<ProposedStep> {
        let propose = |item: &TransferItem| {
            let target = WorkspacePath::from_workspace_path(&item.to);
            let mut from = workspace.propose_location(&item.from.location, PathUse::Entry);
            // A directory that is yet to be made cannot be resolved, but the path is resolved.
            let mut to = workspace.propose_location(&target, PathUse::Entry);
            if self.is_single {
                let given = arguments.from.given().iter();
                from = given.fold(from, |step, given| step.with_spelling(vec![given.clone()]));
            }
            to = to.with_spelling(vec![arguments.to.clone()]);
            build_step(from, to, arguments.overwrite)
        };
        self.items.iter().map(propose).collect()
    }

    fn find_warning(&self, workspace: &Workspace) -> Option<String> {
        let paths = self.items.iter().flat_map(|item| [&item.from.resolved, &item.to]);
        let mut paths = paths.chain(&self.made);
        paths.find_map(|path| workspace.find_resolved_warning(path))
    }
}

/// Builds a step with two names. Each is a spelling of its own, so that a rule about one path holds
/// for either.
fn build_step(from: ProposedStep, to: ProposedStep, overwrite: bool) -> ProposedStep {
    let words: Vec<String> = [&from, &to].iter().flat_map(|step| step.words.clone()).collect();
    let mut step = ProposedStep { words, ..ProposedStep::default() };
    for one in [from, to] {
        step = step.with_spelling(one.words);
        step = one.spellings.into_iter().fold(step, ProposedStep::with_spelling);
    }
    if overwrite {
        step.spellings.push(step.words.clone());
        step.words.push("--overwrite".to_owned());
    }
    step
}

/// Builds the proposal of a call. `describe` adds what only the tool knows, and may refuse.
pub(super) fn propose_transfer(
    workspace: &Workspace,
    arguments: &TransferArguments,
    verb: &str,
    describe: impl FnOnce(&Transfer) -> Result<String, ToolError>,
) -> Proposal {
    let TransferArguments { from, to, overwrite, .. } = arguments;
    let transfer = Transfer::find(workspace, arguments);
    let described = match &transfer {
        Ok(transfer) => describe(transfer),
        Err(error) => Err(error.clone()),
    };
    let summary = described.unwrap_or_else(|error| {
        arguments.decided.remember_refusal();
        let from = make_visible(&from.given().join(", "));
        format!("{verb} {from} to {} (will be refused: {error})", make_visible(to))
    });
    let (steps, always_ask) = if let Ok(transfer) = &transfer {
        (transfer.propose_steps(workspace, arguments), transfer.find_warning(workspace))
    } else {
        let usage = PathUse::Entry;
        let target = || workspace.propose_path(to, usage);
        let step =
            |from: &String| build_step(workspace.propose_path(from, usage), target(), *overwrite);
        let mut paths = from.given().iter().chain([to]);
        let warning = paths.find_map(|path| workspace.find_change_warning(path, usage));
        (from.given().iter().map(step).collect(), warning)
    };
    preview::build_list_proposal(summary, steps, always_ask)
}

/// Refuses a target that cannot be made, or that exists and may not be replaced. Returns the size of
/// the file that is replaced.
fn check_target(
    workspace: &Workspace,
    source: &ListedPath,
    target: &Path,
    overwrite: bool,
    is_new_parent: bool,
) -> Result<Option<u64>, ToolError> {
    let (from, to) = (visible(&source.resolved), visible(target));
    if target.iter().any(is_git) {
        return Err(ToolError::Forbidden(format!(
            "{to} belongs to git, which is not changed by hand; use git commands"
        )));
    }
    if workspace.is_hidden(target) {
        return Err(ToolError::Forbidden(format!("{to} is hidden from agents")));
    }
    if target == source.resolved {
        return Err(ToolError::Failed(format!("{from} is there already; nothing was done")));
    }
    if target.starts_with(&source.resolved) {
        return Err(ToolError::Failed(format!("{to} lies in {from} itself; nothing was done")));
    }
    if is_new_parent {
        return Ok(None);
    }
    let problem = |error: std::io::Error| source.location.describe_error("look at", &error);
    let entry = workspace.find_resolved_entry(target)?;
    let Some(existing) = entry.read_metadata().map_err(problem)? else { return Ok(None) };
    if !overwrite {
        return Err(ToolError::Failed(format!(
            "{to} is there already and was left alone; use another name, or set overwrite to \
             replace it"
        )));
    }
    let kind = EntryKind::of_file_type(existing.file_type());
    let found =
        workspace.find_entry_to_change(&source.location)?.read_metadata().map_err(problem)?;
    if kind != EntryKind::File || !found.is_none_or(|metadata| metadata.is_file()) {
        return Err(ToolError::Failed(format!(
            "{to} is a {kind} that is there already; only a file is replaced, and only by a file"
        )));
    }
    Ok(Some(existing.len()))
}

/// Reads the file that is replaced, so that it can be brought back.
pub(super) fn read_replaced(
    workspace: &Workspace,
    path: &Path,
    max_bytes: u64,
) -> Result<PreviousFile, ToolError> {
    let location = WorkspacePath::from_workspace_path(path);
    let problem = |error: std::io::Error| location.describe_error("replace", &error);
    let entry = workspace.find_resolved_entry(path)?;
    let metadata = entry.read_metadata().map_err(problem)?;
    let content = entry.read_content(max_bytes).map_err(problem)?;
    match (metadata, content) {
        (Some(metadata), Some(content)) => {
            Ok(PreviousFile { content: Some(content), mode: permission_bits(&metadata) })
        }
        _ => Err(ToolError::Failed(format!(
            "{} is too large to be brought back if it is replaced; nothing was done",
            location.shown()
        ))),
    }
}

/// Is the result of a move or a copy.
#[derive(Debug, Serialize)]
pub(crate) struct TransferResult {
    /// Where the files came from, and where they are, as a tool takes the paths.
    from: Vec<String>,
    to: Vec<String>,
    /// The directory, if several were put in one.
    directory: Option<String>,
}

/// Reports a move or a copy to programs.
#[derive(Serialize)]
struct TransferFacts<'a> {
    from: &'a [String],
}

impl TransferResult {
    pub(super) fn of(transfer: &Transfer) -> Self {
        let text = |path: &Path| root_or(path).to_string_lossy().into_owned();
        let directory = transfer.directory.as_deref().filter(|_| !transfer.is_single).map(text);
        let items = &transfer.items;
        Self {
            from: items.iter().map(|item| item.from.location.to_argument()).collect(),
            to: items.iter().map(|item| text(&item.to)).collect(),
            directory,
        }
    }

    /// Returns the result for a model: "moved a to b".
    pub(super) fn render(&self, done: &str) -> String {
        let directory = self.directory.as_ref().or(self.to.first());
        let directory = directory.map(|path| make_visible(path)).unwrap_or_default();
        let from: Vec<String> = self.from.iter().map(|path| make_visible(path)).collect();
        format!("{done} {} to {directory}", from.join(", "))
    }

    /// Returns the report for users: "Moved `a` to `b`."
    pub(super) fn report(&self, done: &str) -> CallReport {
        let report = match &self.directory {
            None => {
                let [from, to] = [&self.from, &self.to].map(|paths| {
                    paths.first().map(|path| code_span(&make_visible(path))).unwrap_or_default()
                });
                report_change(format!("{done} {from} to {to}."))
            }
            Some(directory) => {
                let count = plural(self.to.len(), "entry", "entries");
                let item = |path: &String| format!("- {}", code_span(&make_visible(path)));
                let items: Vec<String> = self.to.iter().map(item).collect();
                let directory = code_span(&make_visible(directory));
                report_change(format!("{done} {count} to {directory}:")).markdown(items.join("\n"))
            }
        };
        let files = ReportedFiles::new(self.to.iter().cloned());
        let from = &self.from[..files.paths.len()];
        report.data(&FilesReport { files, details: TransferFacts { from } })
    }
}

/// Describes a call: "Moving `a` to `b`".
pub(super) fn describe_transfer(verb: &str, arguments: &TransferArguments) -> Option<String> {
    let activity = arguments.from.describe_activity(verb)?;
    Some(format!("{activity} to {}", code(&arguments.to)))
}

fn visible(path: &Path) -> String {
    make_visible(&path.to_string_lossy())
}

/// Returns the path, or "." for the workspace itself.
fn root_or(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
