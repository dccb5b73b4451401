//! The tools of the agent `sample`: notes.
//!
//! [`SampleAgent`] brings the tools; everything that it works on comes in through [`SampleResources`].
//! Whether a call may run is decided by the runtime.

mod agent;
mod notes;
mod tools;

pub use agent::{SampleAgent, SampleResources, SampleSettings};
