//! Implements `fs_delete`, which deletes files, links, and directories with their content.

use std::sync::Arc;

use lango_protocol::{CallReport, ReportedFiles};
use lango_text::{code_span, make_visible, plural};
use lango_tool::{
    ExcludedPaths, Proposal, ProposedStep, SafetyLevel, Tool, ToolContext, ToolError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::change_plan::{ChangeAction, ChangePlan};
use super::decided_effect::DecidedEffect;
use super::path_list::{ListedPath, PathList, ResolvedPaths};
use super::preview;
use super::report::FilesReport;
use super::tree::{Tree, TreeKind, too_much_error};
use crate::blocking::run_blocking;
use crate::changes::{ChangeKind, FileChange, PreviousFile};
use crate::sentence::report_change;
use crate::workspace::{PathUse, Workspace, WorkspacePath};
use crate::{OperatorSettings, Records};

pub(crate) struct DeleteFile {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    records: Records,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteArguments {
    /// Paths or globs.
    path: PathList,
    /// Also what is in directories.
    #[serde(default)]
    recursive: bool,
    #[serde(skip)]
    decided: DecidedEffect,
}

#[derive(Debug, Serialize)]
pub(crate) struct DeleteResult {
    /// The paths that were named or matched, for messages.
    shown: Vec<String>,
    /// The number of entries that are gone, with all that was in them.
    entries: usize,
    /// The paths as a tool takes them.
    #[serde(skip)]
    files: Vec<String>,
}

/// Reports a deletion to programs.
#[derive(Serialize)]
struct DeleteFacts {
    entries: usize,
}

impl DeleteFile {
    pub(crate) fn new(
        workspace: Workspace,
        settings: Arc<OperatorSettings>,
        records: Records,
    ) -> Self {
        Self { workspace, settings, records }
    }

    /// Describes the deletion of these paths, or says why it will be refused.
    fn describe_paths(&self, arguments: &DeleteArguments, resolved: &ResolvedPaths) -> String {
        let excluded = ExcludedPaths::default();
        let mut tree = Tree::new(&self.workspace, &excluded, "deleted");
        let mut added = resolved.paths.iter().enumerate();
        let added = added
            .try_for_each(|(at, path)| tree.add_path(path, arguments.recursive, at))
            .map(|()| arguments.decided.remember(tree.digest()));
        let refused = match added {
            Ok(()) => String::new(),
            Err(error) => {
                arguments.decided.remember_refusal();
                format!(" (will be refused: {error})")
            }
        };
        let all = if arguments.recursive { " and all that is in it" } else { "" };
        if let ([path], true) = (resolved.paths.as_slice(), resolved.is_single) {
            let content = tree
                .describe_content(0)
                .map(|content| format!(": {}{}", content.extent, content.render_names("  ")));
            let content = content.filter(|_| refused.is_empty()).unwrap_or_default();
            return format!("Delete {}{all}{refused}{content}", path.location.shown());
        }
        let count = plural(resolved.paths.len(), "entry", "entries");
        let mut summary = format!("Delete {count}{refused}:");
        for (at, path) in resolved.paths.iter().enumerate() {
            summary.push_str(&format!("\n  - {}", make_visible(&path.location.to_argument())));
            if let Some(content) = tree.describe_content(at) {
                let names = content.render_names("      ");
                summary.push_str(&format!("{all}: {}{names}", content.extent));
            }
        }
        summary
    }
}

impl Tool for DeleteFile {
    type Arguments = DeleteArguments;
    type Output = DeleteResult;
    const NAME: &'static str = "fs_delete";
    const DESCRIPTION: &'static str = "Deletes files, links and directories. The user can undo it.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: DeleteArguments,
        context: ToolContext,
    ) -> Result<DeleteResult, ToolError> {
        let (workspace, max_bytes) = (self.workspace.clone(), self.settings.max_file_bytes);
        let excluded = context.excluded.clone();
        let (plan, result) = run_blocking(&context, move |_| {
            plan_deletion(&workspace, &arguments, &excluded, max_bytes)
        })
        .await?;
        self.records.record_changes(&context, &self.workspace, &plan.changes).await?;
        let workspace = self.workspace.clone();
        run_blocking(&context, move |_| plan.carry_out(&workspace)).await?;
        Ok(result)
    }

    fn render(&self, output: &DeleteResult) -> String {
        let DeleteResult { shown, entries, .. } = output;
        let within = entries - shown.len();
        let with = if within == 0 { String::new() } else { format!(" with {within} entries") };
        format!("deleted {}{with}", shown.join(", "))
    }

    fn describe(&self, arguments: &DeleteArguments) -> Option<String> {
        arguments.path.describe_activity("Deleting")
    }

    fn report(&self, _: &DeleteArguments, output: &DeleteResult) -> Option<CallReport> {
        let DeleteResult { shown, entries, files } = output;
        let name = match shown.as_slice() {
            [path] => code_span(path),
            paths => plural(paths.len(), "entry", "entries"),
        };
        let it = if shown.len() == 1 { "it" } else { "them" };
        let summary = match entries - shown.len() {
            0 => format!("Deleted {name}"),
            1 => format!("Deleted {name} with the one entry in {it}"),
            within => format!("Deleted {name} with the {within} entries in {it}"),
        };
        let report = if shown.len() == 1 {
            report_change(format!("{summary}."))
        } else {
            let items: Vec<String> =
                shown.iter().map(|path| format!("- {}", code_span(path))).collect();
            report_change(format!("{summary}:")).markdown(items.join("\n"))
        };
        let files = ReportedFiles::new(files.iter().cloned());
        Some(report.data(&FilesReport { files, details: DeleteFacts { entries: *entries } }))
    }

    fn propose(&self, arguments: &DeleteArguments) -> Option<Proposal> {
        let DeleteArguments { path, recursive, .. } = arguments;
        let resolved = path.resolve(&self.workspace);
        let summary = match &resolved {
            Ok(resolved) => self.describe_paths(arguments, resolved),
            Err(error) => {
                arguments.decided.remember_refusal();
                let paths = make_visible(&path.given().join(", "));
                format!("Delete {paths} (will be refused: {error})")
            }
        };
        let mark = |mut step: ProposedStep| {
            if *recursive {
                step.spellings.push(step.words.clone());
                step.words.push("--recursive".to_owned());
                step.exact_only = Some("it deletes everything in a directory".to_owned());
            }
            step
        };
        let usage = PathUse::Entry;
        let (steps, always_ask) = if let Ok(ResolvedPaths { paths, is_single }) = &resolved {
            let given = path.given().first().filter(|_| *is_single);
            let step = |path: &ListedPath| match given {
                Some(given) => self.workspace.propose_path(given, usage),
                None => self.workspace.propose_location(&path.location, usage),
            };
            let steps = paths.iter().map(step).map(mark).collect();
            let mut warnings =
                paths.iter().map(|path| self.workspace.find_resolved_warning(&path.resolved));
            (steps, warnings.find_map(|warning| warning))
        } else {
            let step = |path: &String| mark(self.workspace.propose_path(path, usage));
            (path.given().iter().map(step).collect(), None)
        };
        Some(preview::build_list_proposal(summary, steps, always_ask))
    }
}

fn plan_deletion(
    workspace: &Workspace,
    arguments: &DeleteArguments,
    excluded: &ExcludedPaths,
    max_bytes: u64,
) -> Result<(ChangePlan, DeleteResult), ToolError> {
    let resolved = arguments.path.resolve(workspace)?;
    let mut tree = Tree::new(workspace, excluded, "deleted");
    for (at, path) in resolved.paths.iter().enumerate() {
        tree.add_path(path, arguments.recursive, at)?;
    }
    arguments.decided.check(&tree.digest())?;
    let mut plan = ChangePlan::default();
    let entries = tree.entries.len();
    // What is in a directory comes before the directory.
    for found in tree.entries.into_iter().rev() {
        let location = WorkspacePath::from_workspace_path(&found.entry.path);
        let path = found.entry.path.clone();
        let (kind, action) = match found.kind {
            TreeKind::Directory { mode } => {
                (ChangeKind::DeleteDirectory { mode }, ChangeAction::RemoveDirectory(found.entry))
            }
            TreeKind::Link { target } => {
                (ChangeKind::DeleteLink { target }, ChangeAction::RemoveFile(found.entry))
            }
            TreeKind::File { mode, .. } => {
                let content = found
                    .entry
                    .read_content(max_bytes)
                    .map_err(|error| location.describe_error("delete", &error))?;
                if content.is_none() {
                    return Err(too_much_error(location.shown(), "deleted"));
                }
                let before = PreviousFile { content, mode };
                (ChangeKind::DeleteFile(before), ChangeAction::RemoveFile(found.entry))
            }
        };
        plan.push(action, [FileChange { path, kind }]);
    }
    let shown = resolved.paths.iter().map(|path| path.location.shown().to_owned()).collect();
    let files = resolved.paths.iter().map(|path| path.location.to_argument()).collect();
    Ok((plan, DeleteResult { shown, entries, files }))
}
