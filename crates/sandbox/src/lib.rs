//! Runs child processes with as few rights as they need.
//!
//! Use this for every process that runs on behalf of a model, a skill or a peer: [`Sandbox`] takes
//! a [`Job`] and returns a [`ConfinedProcess`]. Whether a job may run at all, and what is kept of
//! its output, is decided by the caller.
//!
//! A binary that starts jobs must call [`run_helper_if_requested`] first thing in `main`, and
//! [`end_all_jobs`] last.

mod bubblewrap;
mod capabilities;
mod cgroup;
mod config_file;
mod confined;
mod directory_walk;
mod entry_stamp;
mod error;
mod grants;
mod helper;
mod index_file;
mod job;
mod launch;
mod level;
mod opened_repository;
mod owner;
mod plain_repository;
mod plan;
mod planted;
mod policy;
mod report;
mod repositories;
mod residue;
mod rights;
mod running;
mod sandbox;
mod vacancy;

pub use capabilities::{Capabilities, MIN_LANDLOCK_ABI, SandboxPart};
pub use cgroup::Hierarchies;
pub use confined::ConfinedProcess;
pub use error::SandboxError;
pub use helper::{HELPER_ARGUMENT, run_helper_if_requested};
pub use job::{DescriptorFile, Job, JobBounds, JobLimits, NetworkAccess, ProtectedPath};
pub use level::{ConfinementLevel, LevelRequirement};
pub use opened_repository::{OpenedRepository, has_submodules};
pub use plain_repository::is_plain_repository;
pub use planted::{PlantedKind, PlantedRepository};
pub use policy::{SandboxPolicy, is_system_program};
pub use report::SandboxReport;
pub use repositories::DirectorySnapshot;
pub use rights::GrantedRight;
pub use running::end_all_jobs;
pub use sandbox::Sandbox;
