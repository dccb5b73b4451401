//! Commands: how they are started, what is kept of their output, how they end.

mod attend;
mod background;
mod capture;
mod environment;
mod exec;
mod launch;
mod preview;
mod process_log;
mod processes;
mod program;
mod scripts;
mod tail;

pub(crate) use background::{ProcessStatus, StartProcess, StopProcess};
pub use environment::Environment;
pub(crate) use exec::RunShell;
pub(crate) use process_log::COMPONENT as PROCESSES;
pub use process_log::ListedProcess;
pub use processes::Processes;
pub(crate) use program::{Program, ProgramRunner};
