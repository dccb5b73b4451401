//! Probes what this machine offers for confinement. Everything is really tried, once per process.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use landlock::{ABI, Access as _, AccessFs, LandlockStatus, Ruleset, RulesetAttr as _};

use crate::cgroup::Hierarchies;
use crate::helper;

/// The oldest version of Landlock that can prevent the truncation of files.
pub const MIN_LANDLOCK_ABI: u32 = 3;

/// The paths of bubblewrap. Not `PATH`, which the user can change.
const BUBBLEWRAP: [&str; 4] =
    ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// A part of the sandbox that a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxPart {
    /// The program that creates namespaces.
    Bubblewrap,
    /// The kernel's rules for files.
    Landlock,
    /// The system call filter.
    Seccomp,
    /// Control groups that this process may create.
    Cgroup,
}

/// The available parts. An error says why a part is missing, and what to do about it.
#[derive(Debug, Clone)]
pub struct Capabilities {
    /// The path of bubblewrap.
    pub bubblewrap: Result<PathBuf, String>,
    /// The version of Landlock's ABI.
    pub landlock: Result<u32, String>,
    /// The system call filter.
    pub seccomp: Result<(), String>,
    /// The directories in which control groups can be created.
    pub cgroup: Result<Hierarchies, String>,
}

impl Capabilities {
    /// Probes the machine on the first call, and caches the result.
    pub fn probe() -> &'static Self {
        static PROBED: OnceLock<Capabilities> = OnceLock::new();
        PROBED.get_or_init(|| {
            let (landlock, seccomp) = probe_kernel();
            Self { bubblewrap: probe_bubblewrap(), landlock, seccomp, cgroup: Hierarchies::find() }
        })
    }

    /// Returns the capabilities without these parts.
    #[must_use]
    pub fn without(&self, parts: &[SandboxPart]) -> Self {
        let mut left = self.clone();
        let reason = || "switched off by sandbox.without".to_owned();
        for part in parts {
            match part {
                SandboxPart::Bubblewrap => left.bubblewrap = Err(reason()),
                SandboxPart::Landlock => left.landlock = Err(reason()),
                SandboxPart::Seccomp => left.seccomp = Err(reason()),
                SandboxPart::Cgroup => left.cgroup = Err(reason()),
            }
        }
        left
    }
}

/// Runs bubblewrap, because user namespaces may be forbidden even if the program is installed.
fn probe_bubblewrap() -> Result<PathBuf, String> {
    let Some(program) = BUBBLEWRAP.iter().map(Path::new).find(|path| path.is_file()) else {
        return Err("there is no bwrap. Type: apt install bubblewrap".to_owned());
    };
    let usr = File::open("/usr").map_err(|error| format!("/usr cannot be opened: {error}"))?;
    let output = Command::new(program)
        .args(["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc"])
        .args(["--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
        // Mounts of open files, here of standard input, came with a fix in 2024.
        .args(["--cap-drop", "ALL", "--ro-bind-fd", "0", "/usr", "--", "/bin/true"])
        .env_clear()
        .stdin(Stdio::from(usr))
        .output()
        .map_err(|error| format!("{} does not start: {error}", program.display()))?;
    if output.status.success() {
        return Ok(program.to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    if said.contains("bind-fd") {
        return Err("it is too old to mount open files. Type: apt install bubblewrap".to_owned());
    }
    Err(format!(
        "{} is there and does not work ({said}). User namespaces may be forbidden: look at \
         sysctl kernel.unprivileged_userns_clone kernel.apparmor_restrict_unprivileged_userns",
        program.display()
    ))
}

/// Probes on a thread that ends afterwards: restrictions of a thread do not apply to the process.
fn probe_kernel() -> (Result<u32, String>, Result<(), String>) {
    let failed = |error: String| (Err(error.clone()), Err(error));
    let thread = std::thread::Builder::new().name("sandbox-probe".to_owned()).spawn(|| {
        let landlock = try_landlock();
        (landlock, helper::try_filter())
    });
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(found)) => found,
        Ok(Err(_)) => failed("it could not be tried".to_owned()),
        Err(error) => failed(format!("it could not be tried: {error}")),
    }
}

fn try_landlock() -> Result<u32, String> {
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(|error| error.to_string())?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            Ok(kernel_abi.and_then(|abi| u32::try_from(abi).ok()).unwrap_or(effective_abi as u32))
        }
        LandlockStatus::NotEnabled => {
            Err("the kernel has it switched off. Add landlock to its lsm= parameter".to_owned())
        }
        LandlockStatus::NotImplemented => Err("the kernel does not have it (Linux 6.2)".to_owned()),
    }
}

/// Tells whether a file can be opened for writing, for a probe.
pub(crate) fn can_open_for_writing(path: &Path) -> bool {
    File::options().write(true).open(path).is_ok()
}
