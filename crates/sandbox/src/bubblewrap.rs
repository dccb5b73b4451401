//! A plan in the words of bubblewrap.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::job::{Job, Network};
use crate::plan::{Plan, Treatment};

/// Where the helper is inside: its own place may be hidden.
pub(crate) const HELPER: &str = "/dev/lango-confine";
/// The temporary directory inside.
pub(crate) const TEMPORARY: &str = "/tmp";

/// Parts of `/run` that programs need and that have no sockets in them.
const RUN: [&str; 2] = ["/run/current-system", "/run/opengl-driver"];
/// The same, to look up names.
const RUN_NETWORK: [&str; 2] = ["/run/systemd/resolve", "/run/resolvconf"];

/// The options, in an order in which later mounts cover earlier ones.
pub(crate) fn options(job: &Job, plan: &Plan, helper: &Path) -> Vec<OsString> {
    let mut options = Options::default();
    // No cgroup namespace: the helper joins a group outside of it.
    options.add(&["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"]);
    if job.bounds.network == Network::Off {
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
    // The settings of the kernel belong to the user root of the machine, also in here.
    options.add(&["--remount-ro", "/proc"]);
    if has_private_temporary(plan) {
        let size = job.bounds.limits.memory_bytes.to_string();
        options.add(&["--size", &size, "--perms", "1777", "--tmpfs", TEMPORARY]);
    }
    // Sockets of the machine's services are there.
    options.add(&["--tmpfs", "/run"]);
    let names = if job.bounds.network == Network::On { RUN_NETWORK.as_slice() } else { &[] };
    for place in RUN.iter().chain(names) {
        options.add(&["--ro-bind-try", place, place]);
    }
    options.add(&["--remount-ro", "/run"]);
    for (path, treatment) in plan.places() {
        if is_out_of_sight(path, plan) {
            continue;
        }
        match treatment {
            Treatment::Writable | Treatment::Anchored => options.mount("--bind", path, path),
            Treatment::Frozen | Treatment::Protected | Treatment::Vacant(_) => {
                options.mount("--ro-bind", path, path);
            }
            Treatment::Hidden if path.is_dir() => {
                options.add(&["--perms", "0000"]);
                options.place("--tmpfs", path);
                options.place("--remount-ro", path);
            }
            Treatment::Hidden => options.mount("--ro-bind", Path::new("/dev/null"), path),
        }
    }
    options.mount("--ro-bind", helper, Path::new(HELPER));
    options.place("--chdir", &job.directory);
    options.0
}

/// Whether the directory for temporary files is one of the job's own.
fn has_private_temporary(plan: &Plan) -> bool {
    !plan.places().any(|(path, _)| Path::new(TEMPORARY).starts_with(path))
}

/// What the private directory covers need not be covered again.
fn is_out_of_sight(path: &Path, plan: &Plan) -> bool {
    let lies_in_root = || {
        plan.places()
            .any(|(root, treatment)| treatment < Treatment::Protected && path.starts_with(root))
    };
    path.starts_with(TEMPORARY) && has_private_temporary(plan) && !lies_in_root()
}

#[derive(Default)]
struct Options(Vec<OsString>);

impl Options {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn mount(&mut self, option: &str, source: &Path, target: &Path) {
        self.0.extend(
            [OsStr::new(option), source.as_os_str(), target.as_os_str()].map(OsStr::to_owned),
        );
    }

    fn place(&mut self, option: &str, path: &Path) {
        self.0.extend([OsStr::new(option), path.as_os_str()].map(OsStr::to_owned));
    }
}
