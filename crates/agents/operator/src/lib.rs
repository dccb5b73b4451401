//! The operator's hands: commands and files, confined to one workspace.
//!
//! [`OperatorAgent`] brings the tools; everything they may touch comes in through a [`Workspace`] and
//! an [`OperatorSettings`]. Whether a call may run is not decided here: the
//! runtime asks, and shows a person the tools' summaries.

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
pub use changes::{ChangedTurn, Restored, RestoredState};
pub use records::Records;
pub use settings::OperatorSettings;
pub use shell::{Environment, ListedProcess, Processes};
pub use skills::{Skill, Skills, skill_places};
pub use workspace::{Workspace, WorkspaceError};
