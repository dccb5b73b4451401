//! The operator's tools, as assembly opens them.

use std::path::Path;

use anyhow::Result;
use lango_operator::{OperatorAgent, OperatorResources, OperatorSettings, Workspace};
use lango_store::{Database, DatabaseLocation};
use lango_tool::ToolRegistry;

/// Opens the operator in a workspace, with a database of its own beside it.
pub(crate) async fn tools(directory: &Path, workspace: &Path) -> Result<ToolRegistry> {
    let location = DatabaseLocation::Sqlite(directory.join("operator.db"));
    let resources = OperatorResources {
        workspace: Workspace::open(workspace)?,
        database: Database::open(&location).await?,
    };
    let operator = OperatorAgent::open(OperatorSettings::default(), resources).await?;
    let mut tools = ToolRegistry::new();
    for tool in operator.parts().tools {
        tools.add_registered(tool)?;
    }
    Ok(tools)
}
