//! Child processes with as few rights as they need.
//!
//! Use this for every process that runs what a model, a skill or a peer asked for: [`Sandbox`]
//! takes a [`Job`] and gives a [`Confined`] process. Whether a job may run at all is not decided
//! here, nor what is kept of its output.
//!
//! A binary that starts jobs must call [`helper_requested`] first thing in `main`.

mod bubblewrap;
mod capabilities;
mod cgroup;
mod confined;
mod error;
mod grants;
mod helper;
mod job;
mod launch;
mod level;
mod plan;
mod policy;
mod report;
mod residue;
mod sandbox;
mod vacancy;

pub use capabilities::{Capabilities, LANDLOCK_NEEDED, Part};
pub use cgroup::Hierarchies;
pub use confined::Confined;
pub use error::SandboxError;
pub use helper::{HELPER_ARGUMENT, helper_requested};
pub use job::{Bounds, Job, Kind, Limits, Network, Protected};
pub use level::{Level, Requirement};
pub use policy::{NESTED_DEPTH, NESTED_ENTRIES, Policy};
pub use report::Report;
pub use sandbox::Sandbox;
