//! The operator's hands: commands and files, confined to one workspace.
//!
//! [`register`] puts the tools into a registry; everything they may touch comes in through a
//! [`Workspace`] and an [`OperatorSettings`]. Whether a call may run is not decided here: the
//! runtime asks, and shows a person the tools' summaries.

mod blocking;
mod digest;
mod files;
mod register;
mod settings;
mod shell;
mod workspace;

pub use register::register;
pub use settings::OperatorSettings;
pub use shell::Environment;
pub use workspace::{Workspace, WorkspaceError};
