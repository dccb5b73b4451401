//! Defines the command line: commands and their options. Help texts are the reference, and each command
//! has examples. What a command does is in `lango`.

#![expect(
    missing_docs,
    reason = "an option is described by its help text, and a group by its name"
)]

mod a2a;
mod approvals;
mod automation;
mod backup;
mod command_line;
mod eval;
mod graph;
mod ingest;
mod knowledge;
mod mcp;
mod memory;
mod reading;
mod serve;
mod space;
mod turns;
mod vault;
mod views;
mod wallet;
mod workflow;

pub use a2a::A2aCommand;
pub use approvals::{
    ApprovalsCommand, RuleArguments, RuleEffect, SkillsCommand, TrustArguments, UndoArguments,
};
pub use automation::{
    BgCommand, CatchUpName, CronAddArguments, CronCommand, CronSetArguments, DaemonCommand,
    JobSettingArguments, NotifyCommand, OverlapName, WorkerArguments,
};
pub use backup::BackupCommand;
pub use command_line::{Arguments, Command};
pub use eval::{CallsArguments, EvalCommand};
pub use graph::{
    ExportFormat, GraphCommand, QueryArguments as GraphQueryArguments, RelationArguments,
};
pub use ingest::{DocumentsCommand, IngestArguments, SearchArguments, SearchMode};
pub use knowledge::{CategoryName, KnowledgeCommand};
pub use mcp::{McpAddArguments, McpCommand};
pub use memory::{MemoryCommand, MemoryFormat};
pub use serve::{CallersCommand, McpServeArguments, ServeArguments, ServeCommand};
pub use space::SpaceArguments;
pub use turns::{
    ApproveArguments, ChatArguments, DemoArguments, ResumeArguments, RunArguments, SessionChoice,
    TeamArguments,
};
pub use vault::{AuditArguments, KeyKindName, KeysCommand, SecretsCommand, VaultCommand};
pub use views::{
    AgentsCommand, ConfigCommand, ModelsCommand, PromptCommand, SessionsCommand, TeamViewArguments,
    ToolsCommand, UsageArguments, UsageGrouping,
};
pub use wallet::WalletCommand;
pub use workflow::{WorkflowCommand, WorkflowRunArguments};
