//! Implements `fs_move`, which renames a file or a directory and replaces nothing.

use lango_protocol::CallReport;
use lango_text::{code_span, visible};
use lango_tool::{Proposal, SafetyLevel, Step, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::preview;
use crate::Records;
use crate::blocking::blocking;
use crate::changes::{Change, ChangeKind};
use crate::sentence::{activity, change, code};
use crate::workspace::{Entry, Location, Workspace};

pub(crate) struct MoveFile {
    workspace: Workspace,
    records: Records,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoveArguments {
    /// File or directory in the workspace.
    from: String,
    /// Its new name, in a directory that is there.
    to: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct MoveResult {
    from: String,
    to: String,
}

impl MoveFile {
    pub(crate) fn new(workspace: Workspace, records: Records) -> Self {
        Self { workspace, records }
    }
}

impl Tool for MoveFile {
    type Arguments = MoveArguments;
    type Output = MoveResult;
    const NAME: &'static str = "fs_move";
    const DESCRIPTION: &'static str = "Moves or renames a file or directory. Nothing is replaced.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: MoveArguments,
        context: ToolContext,
    ) -> Result<MoveResult, ToolError> {
        let from = self.workspace.locate(&arguments.from)?;
        let to = self.workspace.locate(&arguments.to)?;
        let result = MoveResult { from: from.shown().to_owned(), to: to.shown().to_owned() };
        let workspace = self.workspace.clone();
        let shown = to.clone();
        let (old, new) = blocking(&context, move |_| plan(&workspace, &from, &to)).await?;
        let change =
            Change { path: old.path.clone(), kind: ChangeKind::Move { to: new.path.clone() } };
        self.records.record(&context, &self.workspace, &[change]).await?;
        blocking(&context, move |_| {
            old.rename_to(&new).map_err(|error| shown.problem("move to", &error))
        })
        .await?;
        Ok(result)
    }

    fn render(&self, output: &MoveResult) -> String {
        format!("moved {} to {}", output.from, output.to)
    }

    fn describe(&self, arguments: &MoveArguments) -> Option<String> {
        let moving = activity("Moving", &arguments.from)?;
        Some(format!("{moving} to {}", code(&arguments.to)))
    }

    fn report(&self, _: &MoveArguments, output: &MoveResult) -> Option<CallReport> {
        let (from, to) = (code_span(&output.from), code_span(&output.to));
        Some(change(format!("Moved {from} to {to}.")).data(output))
    }

    fn propose(&self, arguments: &MoveArguments) -> Option<Proposal> {
        let MoveArguments { from, to } = arguments;
        let summary =
            format!("Move {} to {}", visible(from), preview::destination(&self.workspace, to));
        let words = vec![from.clone(), to.clone()];
        let steps = vec![Step { words, exact_only: None }];
        Some(Proposal { summary, steps, ..Proposal::default() })
    }
}

fn plan(
    workspace: &Workspace,
    from: &Location,
    to: &Location,
) -> Result<(Entry, Entry), ToolError> {
    let old = workspace.entry(from)?;
    if old.metadata().map_err(|error| from.problem("look at", &error))?.is_none() {
        return Err(from.problem("move", &std::io::ErrorKind::NotFound.into()));
    }
    let new = workspace.entry(to)?;
    if new.metadata().map_err(|error| to.problem("look at", &error))?.is_some() {
        return Err(ToolError::Failed(format!(
            "{} is there already and was left alone; move to a name inside it, or delete it first",
            to.shown()
        )));
    }
    Ok((old, new))
}
