//! The Chromium program: where it is, how it is started, how it ends. What it shows is not known
//! here.

mod arguments;
mod find;
mod process;

pub(crate) use arguments::{Start, arguments};
pub use find::{ChromiumError, find, runs_without_sandbox};
pub(crate) use process::Process;
