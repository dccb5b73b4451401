//! Finds, starts and ends the Chromium program. This module knows nothing about pages.

mod arguments;
mod find;
mod process;

pub(crate) use arguments::{StartOptions, build_arguments};
pub use find::{ChromiumError, find, runs_without_sandbox};
pub(crate) use process::ChromiumProcess;
