//! Implements `fs_mkdir`, which creates a directory with its parents.

use lango_protocol::CallReport;
use lango_text::code_span;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::preview;
use super::report::FilesReport;
use crate::Records;
use crate::blocking::run_blocking;
use crate::changes::FileChange;
use crate::sentence::{describe_activity, report_change};
use crate::workspace::{PathUse, Workspace, WorkspacePath};

pub(crate) struct MakeDirectory {
    workspace: Workspace,
    records: Records,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MakeArguments {
    path: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct MakeResult {
    path: String,
    created: bool,
}

impl MakeDirectory {
    pub(crate) fn new(workspace: Workspace, records: Records) -> Self {
        Self { workspace, records }
    }
}

impl Tool for MakeDirectory {
    type Arguments = MakeArguments;
    type Output = MakeResult;
    const NAME: &'static str = "fs_mkdir";
    const DESCRIPTION: &'static str = "Makes a directory, with its missing parents.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: MakeArguments,
        context: ToolContext,
    ) -> Result<MakeResult, ToolError> {
        let location = self.workspace.check_path(&arguments.path)?;
        let path = location.shown().to_owned();
        let workspace = self.workspace.clone();
        let missing = run_blocking(&context, move |_| {
            workspace.find_missing_directories(&workspace.resolve_for_writing(&location)?)
        })
        .await?;
        let changes: Vec<FileChange> =
            missing.iter().map(|path| FileChange::make_directory(path)).collect();
        self.records.record_changes(&context, &self.workspace, &changes).await?;
        let created = !missing.is_empty();
        let workspace = self.workspace.clone();
        run_blocking(&context, move |_| {
            missing.iter().try_for_each(|path| {
                let location = WorkspacePath::from_workspace_path(path);
                let made = workspace.find_entry_to_change(&location)?.make_directory(0o777);
                made.map_err(|error| location.describe_error("make", &error))
            })
        })
        .await?;
        Ok(MakeResult { path, created })
    }

    fn render(&self, output: &MakeResult) -> String {
        let MakeResult { path, created } = output;
        if *created { format!("made {path}") } else { format!("{path} was there already") }
    }

    fn describe(&self, arguments: &MakeArguments) -> Option<String> {
        describe_activity("Making the directory", &arguments.path)
    }

    fn report(&self, arguments: &MakeArguments, output: &MakeResult) -> Option<CallReport> {
        let name = code_span(&output.path);
        let report = if output.created {
            report_change(format!("Made the directory {name}."))
        } else {
            CallReport::new(format!("{name} was there already; nothing was changed."))
        };
        Some(
            report.data(&FilesReport::about(self.workspace.relative_path(&arguments.path), output)),
        )
    }

    fn propose(&self, arguments: &MakeArguments) -> Option<Proposal> {
        let place = preview::describe_destination(&self.workspace, &arguments.path);
        let summary = format!("Make the directory {place}");
        let (path, usage) = (&arguments.path, PathUse::Target);
        Some(preview::build_change_proposal(&self.workspace, summary, path, usage, &[]))
    }
}
