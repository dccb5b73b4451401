//! Translates a plan into options of bubblewrap.
//!
//! Paths in writable directories are passed as open files: another command may put a link there
//! between the check and the mount. Bubblewrap compares what it mounted with the open file, and
//! fails if they differ.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use crate::job::{Job, NetworkAccess};
use crate::plan::{PathPlan, PathTreatment};

/// The path of the helper inside; its own path may be hidden.
pub(crate) const HELPER: &str = "/dev/lango-confine";
/// The temporary directory inside.
pub(crate) const TEMPORARY: &str = "/tmp";

/// Parts of `/run` that programs need and that contain no sockets.
const RUN: [&str; 2] = ["/run/current-system", "/run/opengl-driver"];
/// Parts of `/run` that are needed to resolve host names.
const RUN_NETWORK: [&str; 2] = ["/run/systemd/resolve", "/run/resolvconf"];

/// Returns the options, in an order in which later mounts cover earlier ones.
///
/// Open files are passed to `pass`, which returns the descriptor number for bubblewrap.
pub(crate) fn build_options(
    job: &Job,
    plan: &PathPlan,
    helper: &Path,
    pass: &mut dyn FnMut(OwnedFd) -> i32,
) -> io::Result<Vec<OsString>> {
    let mut options = BubblewrapOptions::default();
    // No cgroup namespace: the helper joins a group outside of it.
    options.add(&["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"]);
    if job.bounds.network == NetworkAccess::Off {
        options.add(&["--unshare-net"]);
    }
    options.add(&[
        "--hostname",
        "sandbox",
        "--new-session",
        "--die-with-parent",
        "--cap-drop",
        "ALL",
    ]);
    options.add(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    // The kernel's settings belong to the root user of the machine, also in here.
    options.add(&["--remount-ro", "/proc"]);
    if has_private_temporary(plan) {
        let size = job.bounds.limits.memory_bytes.to_string();
        options.add(&["--size", &size, "--perms", "1777", "--tmpfs", TEMPORARY]);
    }
    for path in job.bounds.readable.iter().filter(|path| path.starts_with(TEMPORARY)) {
        if is_covered(path, plan) {
            let file = open(path).map_err(|error| name_path_in_error(path, &error))?;
            options.keep("--ro-bind-fd", pass(file), path);
        }
    }
    // It contains the sockets of the machine's services.
    options.add(&["--tmpfs", "/run"]);
    let names = if job.bounds.network == NetworkAccess::On { RUN_NETWORK.as_slice() } else { &[] };
    for place in RUN.iter().chain(names) {
        options.add(&["--ro-bind-try", place, place]);
    }
    options.add(&["--remount-ro", "/run"]);
    // Hidden directories in which the job's own one has yet to be mounted.
    let mut opened = Vec::new();
    for (path, treatment) in plan.paths() {
        if is_covered(path, plan) || treatment == PathTreatment::Hidden && is_missing_in_run(path) {
            continue;
        }
        match treatment {
            PathTreatment::Writable | PathTreatment::Anchored => match open(path) {
                Ok(file) => options.keep("--bind-fd", pass(file), path),
                // A path that is gone need not be made writable.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(name_path_in_error(path, &error)),
            },
            PathTreatment::Shown
            | PathTreatment::Frozen
            | PathTreatment::Protected
            | PathTreatment::Vacant(_) => {
                let file = open(path).map_err(|error| name_path_in_error(path, &error))?;
                options.keep("--ro-bind-fd", pass(file), path);
            }
            // It can be passed through, and shows nothing but the way to the job's own directory.
            PathTreatment::Hidden if plan.contains_private(path) => {
                options.add(&["--perms", "0111"]);
                options.place("--tmpfs", path);
                opened.push(path);
            }
            PathTreatment::Hidden if path.is_dir() => {
                options.add(&["--perms", "0000"]);
                options.place("--tmpfs", path);
                options.place("--remount-ro", path);
            }
            PathTreatment::Hidden => options.mount("--ro-bind", Path::new("/dev/null"), path),
        }
    }
    for path in opened {
        options.place("--remount-ro", path);
    }
    options.mount("--ro-bind", helper, Path::new(HELPER));
    options.place("--chdir", &job.directory);
    Ok(options.0)
}

/// Opens a path of which no component is a link.
fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

fn name_path_in_error(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{} changed just now: {error}", path.display()))
}

/// Tells whether the job has its own directory for temporary files.
fn has_private_temporary(plan: &PathPlan) -> bool {
    !plan.paths().any(|(path, _)| Path::new(TEMPORARY).starts_with(path))
}

/// Tells whether the private temporary directory already covers the path.
fn is_covered(path: &Path, plan: &PathPlan) -> bool {
    let lies_in_root = || {
        plan.paths()
            .any(|(root, treatment)| treatment < PathTreatment::Protected && path.starts_with(root))
    };
    path.starts_with(TEMPORARY) && has_private_temporary(plan) && !lies_in_root()
}

/// Tells whether the empty `/run` of the job lacks the path, where nothing can be mounted over it.
fn is_missing_in_run(path: &Path) -> bool {
    path.starts_with("/run") && !RUN.iter().chain(&RUN_NETWORK).any(|place| path.starts_with(place))
}

#[derive(Default)]
struct BubblewrapOptions(Vec<OsString>);

impl BubblewrapOptions {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn mount(&mut self, option: &str, source: &Path, target: &Path) {
        self.0.extend(
            [OsStr::new(option), source.as_os_str(), target.as_os_str()].map(OsStr::to_owned),
        );
    }

    fn keep(&mut self, option: &str, source: i32, target: &Path) {
        self.0.extend([OsString::from(option), source.to_string().into(), target.into()]);
    }

    fn place(&mut self, option: &str, path: &Path) {
        self.0.extend([OsStr::new(option), path.as_os_str()].map(OsStr::to_owned));
    }
}
