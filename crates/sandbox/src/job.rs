//! Defines a job: the program, and what it may access.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;

use lango_places::PlaceholderKind;
use zeroize::Zeroizing;

use crate::opened_repository::OpenedRepository;
use crate::repositories::DirectorySnapshot;

/// A program to run confined.
#[derive(Debug)]
pub struct Job {
    /// The program: an absolute path, or a name that is resolved in the job's own `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Its whole environment. The sandbox sets `TMPDIR`.
    pub environment: Vec<(OsString, OsString)>,
    /// The access that it has.
    pub bounds: JobBounds,
    /// Its standard input. Standard output and error are always pipes.
    pub stdin: Stdio,
    /// Files that are in no file system: only the job has them, as open descriptors.
    pub descriptors: Vec<DescriptorFile>,
}

/// A file that a job gets as an open descriptor.
#[derive(Clone)]
pub struct DescriptorFile {
    /// The variable of the environment that names it, as `/dev/fd/N`.
    pub(crate) variable: OsString,
    /// Its content, which is erased here once the job has it.
    pub(crate) content: Zeroizing<Vec<u8>>,
}

impl DescriptorFile {
    /// Creates a file with this content, which the job can read and not change. The variable names it
    /// to the job, as `/dev/fd/N`.
    pub fn new(variable: impl Into<OsString>, content: &[u8]) -> Self {
        Self { variable: variable.into(), content: Zeroizing::new(content.to_vec()) }
    }
}

impl fmt::Debug for DescriptorFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DescriptorFile({})", self.variable.display())
    }
}

/// The access of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobBounds {
    /// The writable directories and files. Everything else is read-only.
    pub writable: Vec<PathBuf>,
    /// Those of the writable directories that were granted for this job. Each is without links, and
    /// the job is refused if one has become a link.
    pub granted: Vec<PathBuf>,
    /// A directory of the job's own: writable, and the only part of a hidden directory that is not
    /// hidden.
    pub private: Option<PathBuf>,
    /// A directory that the job reads and cannot change, and the only part of a hidden directory that
    /// is not hidden. The job sees no temporary files of others then, and no other processes.
    pub reading: Option<PathBuf>,
    /// Paths without links that the job must be able to read although they are among temporary
    /// files. Hidden ones stay hidden.
    pub readable: Vec<PathBuf>,
    /// Paths that stay read-only inside a writable directory, existing or not.
    pub protected: Vec<ProtectedPath>,
    /// Paths that cannot be read either.
    pub hidden: Vec<PathBuf>,
    /// The directories of the workspace and of granted directories before the job, so that
    /// repositories that it makes are found. Only what is writable is checked.
    pub directories: Vec<DirectorySnapshot>,
    /// The repository that the job may write, as it was before.
    pub repository: Option<OpenedRepository>,
    /// True if a repository that the job makes stays if it is as plain git makes it.
    pub keeps_plain_repositories: bool,
    /// The access to the machine's network.
    pub network: NetworkAccess,
    /// The resource limits.
    pub limits: JobLimits,
}

/// A path that a job must neither change nor create.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProtectedPath {
    /// The absolute path.
    pub path: PathBuf,
    /// The kind of the empty placeholder that a job sees if the path does not exist.
    pub kind: PlaceholderKind,
}

impl ProtectedPath {
    /// Protects a path. If it does not exist, the placeholder is a directory.
    pub fn directory(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), kind: PlaceholderKind::Directory }
    }

    /// Protects a path. If it does not exist, the placeholder is a file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), kind: PlaceholderKind::File }
    }
}

/// The access to the machine's network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NetworkAccess {
    /// Nothing outside of the job can be reached.
    #[default]
    Off,
    /// The machine's network, including its loopback.
    On,
}

/// The resource limits of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobLimits {
    /// The CPU time of each process.
    pub cpu_seconds: u64,
    /// The memory: of all processes together with a control group, of each one otherwise.
    pub memory_bytes: u64,
    /// The number of concurrent processes and threads.
    pub processes: u64,
    /// The size of each written file.
    pub file_bytes: u64,
    /// The number of open files per process.
    pub open_files: u64,
}

impl Default for JobLimits {
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
