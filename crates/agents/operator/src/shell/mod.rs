//! Commands: how they are started, what is kept of their output, how they end.

mod capture;
mod environment;
mod exec;
mod launch;
mod preview;

pub use environment::Environment;
pub(crate) use exec::RunShell;
