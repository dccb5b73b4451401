//! Packages that are installed together, and how it is known that they are there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

use crate::cargo::quietly;
use crate::packages;

/// An environment of Python, or the packages of Node.
#[derive(Debug)]
pub(super) struct Set {
    kind: Kind,
    /// Its name in the output.
    name: String,
    /// The files that pin the versions.
    pinned: Vec<PathBuf>,
    /// The digest of what they say.
    digest: String,
    /// The directory that it is installed in.
    directory: PathBuf,
}

#[derive(Debug)]
enum Kind {
    Python,
    Node,
}

impl Set {
    /// The environment of `pinned/python/NAME.txt`.
    pub(super) fn python(name: &str, pinned: &Path, directory: &Path) -> Result<Self> {
        let list = pinned.join("python").join(format!("{name}.txt"));
        let directory = directory.join("python").join(name);
        Self::new(Kind::Python, format!("python/{name}"), vec![list], directory)
    }

    /// The packages of `pinned/node`.
    pub(super) fn node(pinned: &Path, directory: &Path) -> Result<Self> {
        let source = pinned.join("node");
        let lists = vec![source.join("package.json"), source.join("package-lock.json")];
        Self::new(Kind::Node, "node".to_owned(), lists, directory.join("node"))
    }

    fn new(kind: Kind, name: String, pinned: Vec<PathBuf>, directory: PathBuf) -> Result<Self> {
        let mut hasher = Sha256::new();
        for list in &pinned {
            let text =
                fs::read(list).with_context(|| format!("could not read {}", list.display()))?;
            hasher.update(text);
        }
        let digest = lango_text::hex(hasher.finalize());
        Ok(Self { kind, name, pinned, digest, directory })
    }

    /// The interpreter that runs its programs.
    pub(super) fn program(&self) -> PathBuf {
        match self.kind {
            Kind::Python => self.directory.join("bin/python"),
            Kind::Node => self.directory.join("node_modules/.bin/node"),
        }
    }

    /// Returns whether it was installed to the end, and from the same lists. The interpreter is looked
    /// at too: that of Python is a link to the system's, which goes away when that is replaced.
    pub(super) fn is_installed(&self) -> bool {
        let stamp = fs::read_to_string(self.stamp()).unwrap_or_default();
        stamp == self.digest && self.program().exists()
    }

    /// Makes sure of the system's package that installs it.
    pub(super) fn ensure_installer(&self) -> Result<()> {
        let (mut probe, package) = match self.kind {
            Kind::Python => {
                let mut probe = Command::new("python3");
                probe.args(["-c", "import venv, ensurepip"]);
                (probe, "python3-venv")
            }
            Kind::Node => {
                let mut probe = Command::new("npm");
                probe.arg("--version");
                (probe, "npm")
            }
        };
        probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if probe.status().is_ok_and(|status| status.success()) {
            return Ok(());
        }
        println!("{package} is missing: installing it with apt-get");
        packages::install(package, &format!("install {package} and try again"))
    }

    /// Installs it anew.
    pub(super) fn install(&self) -> Result<()> {
        println!("peers: installing {} in {}", self.name, self.directory.display());
        if self.directory.exists() {
            fs::remove_dir_all(&self.directory)
                .with_context(|| format!("could not remove {}", self.directory.display()))?;
        }
        fs::create_dir_all(&self.directory)
            .with_context(|| format!("could not make {}", self.directory.display()))?;
        let done = match self.kind {
            Kind::Python => self.install_python(),
            Kind::Node => self.install_node(),
        };
        done.with_context(|| format!("could not install the peers of {}", self.name))?;
        // Last: what is cut off before has no stamp, and is done again.
        fs::write(self.stamp(), &self.digest).context("could not write the stamp of the peers")
    }

    fn install_python(&self) -> Result<()> {
        quietly(Command::new("python3").args(["-m", "venv"]).arg(&self.directory))?;
        let pip = || {
            let mut pip = Command::new(self.program());
            pip.args(["-m", "pip", "--disable-pip-version-check"]);
            pip
        };
        // The list is complete: nothing that it does not name is installed.
        let mut install = pip();
        install.args(["install", "--quiet", "--no-deps"]);
        for list in &self.pinned {
            install.arg("--requirement").arg(list);
        }
        quietly(&mut install)?;
        quietly(pip().arg("check"))
    }

    fn install_node(&self) -> Result<()> {
        for list in &self.pinned {
            let name = list.file_name().context("a list of packages has no name")?;
            fs::copy(list, self.directory.join(name))
                .with_context(|| format!("could not copy {}", list.display()))?;
        }
        // No scripts of strangers: nothing here needs one. The engines that packages ask for are
        // those of the Node that is installed with them, not of the one that runs npm.
        let mut install = Command::new("npm");
        install.current_dir(&self.directory);
        install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        quietly(&mut install)?;
        quietly(Command::new(self.program()).arg("--version"))
            .context("there is no Node for this machine among the packages")
    }

    fn stamp(&self) -> PathBuf {
        self.directory.join(".lango-peers-stamp")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_installed_when_its_stamp_and_its_interpreter_are_there() {
        let place = tempfile::tempdir().unwrap();
        let lists = place.path().join("lists");
        fs::create_dir_all(lists.join("python")).unwrap();
        fs::write(lists.join("python/time.txt"), "clock==1.0\n").unwrap();
        let set = || Set::python("time", &lists, place.path()).unwrap();

        let first = set();
        assert!(!first.is_installed());
        fs::create_dir_all(place.path().join("python/time/bin")).unwrap();
        fs::write(first.stamp(), &first.digest).unwrap();
        assert!(!first.is_installed(), "without an interpreter");
        fs::write(first.program(), "").unwrap();
        assert!(first.is_installed());

        fs::write(lists.join("python/time.txt"), "clock==1.1\n").unwrap();
        assert!(!set().is_installed(), "another version is pinned");
    }
}
