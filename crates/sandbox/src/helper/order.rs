//! What the helper is told, through a file that only it and its parent have.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

/// All that the helper does before it becomes the program.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) directory: OsString,
    /// Soft and hard limits of single processes.
    pub(crate) limits: Vec<(Limited, u64, u64)>,
    /// None: no rules for files.
    pub(crate) rules: Option<Rules>,
    /// None: no filter of system calls.
    pub(crate) filter: Option<Filter>,
    /// Descriptors of the entrances of control groups.
    pub(crate) groups: Vec<i32>,
    /// The descriptor to report to.
    pub(crate) report: i32,
    /// The descriptor whose end means that everything must end. With it, the helper stays and
    /// watches over the program; without, it becomes the program.
    pub(crate) lifeline: Option<i32>,
}

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Limited {
    Cpu,
    Data,
    Processes,
    FileSize,
    OpenFiles,
    Core,
}

/// What Landlock lets through.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rules {
    pub(crate) readable: Vec<OsString>,
    pub(crate) writable: Vec<OsString>,
}

/// What the filter of system calls lets through beside what is always refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Filter {
    /// Families of sockets that may be made.
    pub(crate) families: Vec<u32>,
    /// Whether the processes outside are in sight, and must be kept from signals.
    pub(crate) shares_processes: bool,
}

/// What is written to the report just before the program takes over.
pub(crate) const READY: u8 = b'!';
/// What begins a report that the program could not be run, as opposed to the sandbox.
pub(crate) const NO_PROGRAM: u8 = b'?';
