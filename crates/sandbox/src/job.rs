//! What is to run, and what it may touch.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

/// A program to run confined.
#[derive(Debug)]
pub struct Job {
    /// The program: an absolute path, or a name that is looked up in the job's own `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it runs.
    pub directory: PathBuf,
    /// All of its environment. `TMPDIR` is set by the sandbox.
    pub environment: Vec<(OsString, OsString)>,
    /// What it may touch.
    pub bounds: Bounds,
    /// Its standard input. Output and errors are always pipes.
    pub stdin: Stdio,
}

/// What a job may touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Directories and files that may be written to. Everything else is read-only.
    pub writable: Vec<PathBuf>,
    /// Places that the job must be able to read although they lie among temporary files, without
    /// links. Hidden ones stay hidden.
    pub readable: Vec<PathBuf>,
    /// Places that stay read-only although they lie in a writable directory, there or not.
    pub protected: Vec<Protected>,
    /// Places that cannot be read either.
    pub hidden: Vec<PathBuf>,
    /// Whether the network of the machine can be reached.
    pub network: Network,
    /// How much of the machine it may use.
    pub limits: Limits,
}

/// A place that a job must not change, nor make where it is missing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Protected {
    /// The place, as an absolute path.
    pub path: PathBuf,
    /// What a job sees there where nothing is: an empty one of these.
    pub kind: Kind,
}

/// What stands in for a protected place that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An empty directory.
    Directory,
    /// An empty file.
    File,
}

impl Protected {
    /// A directory, or whatever else is at `path`.
    pub fn directory(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), kind: Kind::Directory }
    }

    /// A file, or whatever else is at `path`.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), kind: Kind::File }
    }
}

/// Whether the network of the machine can be reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// Nobody outside of the job can be reached.
    #[default]
    Off,
    /// The network of the machine, its loopback included.
    On,
}

/// How much of the machine a job may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// CPU time of each process.
    pub cpu_seconds: u64,
    /// Memory: of all processes together where a control group is, of each one otherwise.
    pub memory_bytes: u64,
    /// Processes and threads at the same time.
    pub processes: u64,
    /// Size of each file that is written.
    pub file_bytes: u64,
    /// Files that one process has open.
    pub open_files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cpu_seconds: 600,
            memory_bytes: 4 << 30,
            processes: 512,
            file_bytes: 4 << 30,
            open_files: 4096,
        }
    }
}
