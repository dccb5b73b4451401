//! The programs of a PostgreSQL server: where they are, how to get them, as whom they run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::cargo::check;
use crate::packages;

/// Debian puts them into `/usr/lib/postgresql/VERSION/bin`, and not into the `PATH`.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The programs that are needed, all from one directory.
const PROGRAMS: [&str; 3] = ["initdb", "pg_ctl", "postgres"];

/// The user that servers run as when we are root, which PostgreSQL refuses.
const SERVER_USER: &str = "postgres";

/// PostgreSQL's programs.
pub(super) struct Installation {
    programs: PathBuf,
    as_root: bool,
}

/// Finds PostgreSQL, or installs it.
pub(super) fn ensure_installed() -> Result<Installation> {
    let as_root = packages::is_root()?;
    if let Some(programs) = find() {
        return Ok(Installation { programs, as_root });
    }
    println!("PostgreSQL is missing: installing it with apt-get");
    let hint = "install a PostgreSQL server (initdb, pg_ctl and postgres) and try again";
    packages::install("postgresql", hint)?;
    let programs = find().context("PostgreSQL was installed and its programs were not found")?;
    Ok(Installation { programs, as_root })
}

impl Installation {
    /// One of the programs, as a user that it accepts.
    pub(super) fn command(&self, program: &str) -> Command {
        let path = self.programs.join(program);
        let mut command = if self.as_root {
            let mut command = Command::new("runuser");
            command.args(["-u", SERVER_USER, "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.env("LC_ALL", "C");
        command
    }

    /// Lets the server's user write into a directory.
    pub(super) fn give_to_server_user(&self, directory: &Path) -> Result<()> {
        if !self.as_root {
            return Ok(());
        }
        check(Command::new("chown").arg(SERVER_USER).arg(directory)).with_context(|| {
            format!("PostgreSQL does not run as root and there is no user {SERVER_USER:?}")
        })
    }
}

fn find() -> Option<PathBuf> {
    in_path().or_else(|| newest(Path::new(DEBIAN)))
}

/// A directory of the `PATH`, or the one that its links lead to.
fn in_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find_map(|directory| {
        let real = directory.join(PROGRAMS[0]).canonicalize().ok()?;
        real.parent().filter(|directory| is_complete(directory)).map(Path::to_owned)
    })
}

/// The programs of the newest version under `directory`.
fn newest(directory: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(directory).ok()?.filter_map(|entry| {
        let entry = entry.ok()?;
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    versions.filter(|(_, programs)| is_complete(programs)).max().map(|(_, programs)| programs)
}

fn is_complete(directory: &Path) -> bool {
    PROGRAMS.iter().all(|program| directory.join(program).is_file())
}
