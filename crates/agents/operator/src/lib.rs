//! Implements the operator agent: commands and files, confined to one workspace.
//!
//! [`OperatorAgent`] provides the tools; everything they may touch comes in through a [`Workspace`]
//! and an [`OperatorSettings`]. Whether a call may run is not decided here: the runtime asks the
//! user and shows the tools' summaries.

mod agent;
mod blocking;
mod changes;
mod digest;
mod files;
mod records;
mod sentence;
mod settings;
mod shell;
mod skills;
mod workspace;

pub use agent::{OperatorAgent, OperatorResources};
pub use changes::{ChangedTurn, RestoreResult, RestoreState};
pub use records::Records;
pub use settings::OperatorSettings;
pub use shell::{Environment, ListedProcess, Processes};
pub use skills::{Skill, Skills, skill_directories};
pub use workspace::{Workspace, WorkspaceError, WorkspaceName};

/// The parts of the database's schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[lango_store::SchemaComponent] =
    &[skills::COMPONENT, changes::COMPONENT, shell::PROCESSES];
