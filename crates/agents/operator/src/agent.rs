//! Defines the operator agent: the resources that it needs and the tools that it provides.

use std::sync::Arc;

use lango_keystore::KeyStoreError;
use lango_runtime::AgentParts;
use lango_store::Database;
use lango_tool::RegisteredTool;

use crate::files::{
    AppendFile, CopyFile, DeleteFile, EditFile, FindFiles, ListFiles, MakeDirectory, MoveFile,
    ReadFile, SearchFiles, StatFile, WriteFile,
};
use crate::shell::{ProcessStatus, RunShell, StartProcess, StopProcess};
use crate::skills::{SkillRun, SkillTool};
use crate::{OperatorSettings, Processes, Records, Workspace};

/// Holds the resources that the operator works on.
pub struct OperatorResources {
    /// The directory that all of its tools are confined to.
    pub workspace: Workspace,
    /// The database that changes, processes and allowed skills are recorded in.
    pub database: Database,
}

/// Runs commands and changes files, confined to one workspace.
pub struct OperatorAgent {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    records: Records,
    processes: Processes,
}

impl OperatorAgent {
    /// Opens the operator's records in the database.
    pub async fn open(
        settings: OperatorSettings,
        resources: OperatorResources,
    ) -> Result<Self, KeyStoreError> {
        let OperatorResources { workspace, database } = resources;
        let mut records = Records::open(database).await?;
        if let Some(store) = settings.key_store.clone() {
            records = records.with_key_store(store)?;
        }
        Ok(Self {
            workspace,
            settings: Arc::new(settings),
            records,
            processes: Processes::default(),
        })
    }

    /// Returns what the operator contributes to turns.
    pub fn parts(&self) -> AgentParts {
        AgentParts { tools: self.tools(), ..AgentParts::default() }
    }

    /// Returns the records of changes, processes and allowed skills.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Returns the commands that run in the background of this process.
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    fn tools(&self) -> Vec<RegisteredTool> {
        let workspace = || self.workspace.clone();
        let settings = || Arc::clone(&self.settings);
        let (records, processes) = (|| self.records.clone(), || self.processes.clone());
        let mut tools = vec![
            RegisteredTool::new(RunShell::new(workspace(), settings())),
            RegisteredTool::new(StartProcess::new(workspace(), settings(), records(), processes())),
            RegisteredTool::new(ProcessStatus::new(processes())),
            RegisteredTool::new(StopProcess::new(processes())),
            RegisteredTool::new(ReadFile::new(workspace(), settings())),
            RegisteredTool::new(ListFiles::new(workspace(), settings())),
            RegisteredTool::new(SearchFiles::new(workspace(), settings())),
            RegisteredTool::new(FindFiles::new(workspace(), settings())),
            RegisteredTool::new(StatFile::new(workspace(), settings())),
            RegisteredTool::new(WriteFile::new(workspace(), settings(), records())),
            RegisteredTool::new(AppendFile::new(workspace(), settings(), records())),
            RegisteredTool::new(EditFile::new(workspace(), settings(), records())),
            RegisteredTool::new(MakeDirectory::new(workspace(), records())),
            RegisteredTool::new(MoveFile::new(workspace(), settings(), records())),
            RegisteredTool::new(CopyFile::new(workspace(), settings(), records())),
            RegisteredTool::new(DeleteFile::new(workspace(), settings(), records())),
        ];
        let Self { workspace, settings, records, .. } = self;
        let skills = &settings.skills;
        let each = skills.found.iter();
        tools.extend(each.map(|skill| SkillTool::register(skill, workspace, settings, records)));
        tools.extend(SkillRun::register(skills, workspace, settings, records));
        tools
    }
}
