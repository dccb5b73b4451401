//! Defines the order for the helper, sent through a file that only it and its parent have.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

/// The steps of the helper before it becomes the program.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HelperOrder {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) directory: OsString,
    /// The soft and hard limits of single processes.
    pub(crate) limits: Vec<(LimitedResource, u64, u64)>,
    /// The rules for files, if any.
    pub(crate) rules: Option<LandlockRules>,
    /// The system call filter, if any.
    pub(crate) filter: Option<FilterSettings>,
    /// The descriptors that the program keeps.
    pub(crate) kept: Vec<i32>,
    /// The descriptors of the files to join control groups.
    pub(crate) groups: Vec<i32>,
    /// The descriptor of the report.
    pub(crate) report: i32,
    /// The descriptor that is closed when everything must end.
    pub(crate) lifeline: i32,
    /// If true, the helper stays, and ends all processes when the lifeline is closed. Otherwise it
    /// becomes the program; the kernel ends that with its owner.
    pub(crate) is_supervised: bool,
}

/// A limited resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LimitedResource {
    Cpu,
    Data,
    Processes,
    FileSize,
    OpenFiles,
    Core,
}

/// The access that Landlock grants.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LandlockRules {
    pub(crate) readable: Vec<OsString>,
    pub(crate) writable: Vec<OsString>,
}

/// The settings of the system call filter, in addition to the calls that are always refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FilterSettings {
    /// The socket families that are allowed.
    pub(crate) families: Vec<u32>,
    /// True if processes outside are visible, and must be protected from signals.
    pub(crate) shares_processes: bool,
}

/// Written to the report just before the program takes over.
pub(crate) const READY: u8 = b'!';
/// The first byte of a report that the program, as opposed to the sandbox, failed.
pub(crate) const NO_PROGRAM: u8 = b'?';
