//! Which tools the operator brings.

use std::sync::Arc;

use lango_tool::{DuplicateTool, ToolRegistry};

use crate::files::{
    DeleteFile, EditFile, ListFiles, MakeDirectory, MoveFile, ReadFile, SearchFiles, StatFile,
    WriteFile,
};
use crate::shell::{ProcessStatus, RunShell, StartProcess, StopProcess};
use crate::skills::{SkillRun, SkillTool};
use crate::{OperatorSettings, Workspace};

/// Adds the operator's tools, all confined to `workspace`.
pub fn register(
    registry: &mut ToolRegistry,
    workspace: Workspace,
    settings: OperatorSettings,
) -> Result<(), DuplicateTool> {
    let settings = Arc::new(settings);
    registry.add(RunShell::new(workspace.clone(), Arc::clone(&settings)))?;
    registry.add(StartProcess::new(workspace.clone(), Arc::clone(&settings)))?;
    registry.add(ProcessStatus::new(settings.processes.clone()))?;
    registry.add(StopProcess::new(settings.processes.clone()))?;
    registry.add(ReadFile::new(workspace.clone(), Arc::clone(&settings)))?;
    registry.add(ListFiles::new(workspace.clone(), Arc::clone(&settings)))?;
    registry.add(SearchFiles::new(workspace.clone(), Arc::clone(&settings)))?;
    registry.add(StatFile::new(workspace.clone(), Arc::clone(&settings)))?;
    registry.add(WriteFile::new(workspace.clone(), Arc::clone(&settings)))?;
    registry.add(EditFile::new(workspace.clone(), Arc::clone(&settings)))?;
    registry.add(MakeDirectory::new(workspace.clone(), Arc::clone(&settings)))?;
    registry.add(MoveFile::new(workspace.clone(), Arc::clone(&settings)))?;
    for skill in &settings.skills.found {
        registry.add_registered(SkillTool::register(skill, &workspace, &settings))?;
    }
    if let Some(tool) = SkillRun::register(&settings.skills, &workspace, &settings) {
        registry.add_registered(tool)?;
    }
    registry.add(DeleteFile::new(workspace, settings))
}
