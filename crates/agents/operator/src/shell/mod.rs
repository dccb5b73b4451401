//! Runs commands: starts them, captures their output and ends them.

mod background;
mod capture;
mod command_secrets;
mod environment;
mod exec;
mod launch;
mod preview;
mod process_log;
mod processes;
mod program;
mod run_to_end;
mod script_preview;
mod scripts;
mod tail;

pub(crate) use background::{ProcessStatus, StartProcess, StopProcess};
pub use environment::Environment;
pub(crate) use exec::RunShell;
pub(crate) use process_log::COMPONENT as PROCESSES;
pub use process_log::ListedProcess;
pub use processes::Processes;
pub(crate) use program::{ProgramCall, ProgramRunner};
