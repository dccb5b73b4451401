//! The programs of others that the tests talk to: agents, servers and clients from the registries of
//! Python and Node, in the versions that `peers/` pins. They are installed once for all checkouts, in
//! a directory outside of them. What the tests do with them is in `peers/README.md`.

mod set;

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};

use crate::cargo;
use set::Set;

/// The variable that tells the tests the directory; a person may set it, too.
pub(crate) const DIRECTORY_VARIABLE: &str = "LANGO_PEERS";

/// An environment of Python for each of `peers/python/NAME.txt`: versions of one package that cannot
/// be in one environment, and programs that should not see each other's packages.
const PYTHON: [&str; 5] = ["a2a", "a2a03", "mcp", "openai", "smtp"];

/// The installed peers.
#[derive(Debug)]
pub(crate) struct Peers {
    directory: PathBuf,
    sets: Vec<Set>,
}

/// Installs what is missing or pinned otherwise. Two that run at once wait for each other.
pub(crate) fn ensure() -> Result<Peers> {
    let peers = Peers::find()?;
    if peers.missing().is_empty() {
        return Ok(peers);
    }
    fs::create_dir_all(&peers.directory)
        .with_context(|| format!("could not make {}", peers.directory.display()))?;
    let _lock = lock(&peers.directory)?;
    // Another run may have installed them while this one waited.
    let missing = peers.missing();
    for set in &missing {
        set.ensure_installer()?;
    }
    install_all(&missing)?;
    Ok(peers)
}

/// The peers, if all of them are installed as pinned.
pub(crate) fn installed() -> Result<Option<Peers>> {
    let peers = Peers::find()?;
    let complete = peers.missing().is_empty();
    Ok(complete.then_some(peers))
}

impl Peers {
    fn find() -> Result<Self> {
        let directory = directory(|name| std::env::var_os(name))
            .context("there is no HOME to keep the peers in. Set LANGO_PEERS to a directory")?;
        let directory = std::path::absolute(directory)?;
        let pinned = cargo::root()?.join("peers");
        let mut sets = Vec::new();
        for name in PYTHON {
            sets.push(Set::python(name, &pinned, &directory)?);
        }
        sets.push(Set::node(&pinned, &directory)?);
        Ok(Self { directory, sets })
    }

    /// Returns their directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns where each of them is, for a person.
    pub(crate) fn description(&self) -> String {
        let mut lines = vec![format!("{DIRECTORY_VARIABLE}={}", self.directory.display())];
        lines.extend(self.sets.iter().map(|set| set.program().display().to_string()));
        lines.join("\n")
    }

    fn missing(&self) -> Vec<&Set> {
        self.sets.iter().filter(|set| !set.is_installed()).collect()
    }
}

/// Installs the sets side by side: most of the time is spent waiting for the network.
fn install_all(sets: &[&Set]) -> Result<()> {
    std::thread::scope(|scope| {
        let all: Vec<_> = sets.iter().map(|set| scope.spawn(|| set.install())).collect();
        // All are waited for, so that what one run did install is not done again by the next.
        let results: Vec<_> = all
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|_| Err(anyhow!("an installation panicked"))))
            .collect();
        results.into_iter().collect()
    })
}

/// Waits until no other process installs. The lock goes with this process, however it ends.
fn lock(directory: &Path) -> Result<File> {
    let path = directory.join("lock");
    let file = File::create(&path).with_context(|| format!("could not make {}", path.display()))?;
    if file.try_lock().is_err() {
        println!("the peers are being installed by another process: waiting for it");
        file.lock().with_context(|| format!("could not lock {}", path.display()))?;
    }
    Ok(file)
}

fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set(DIRECTORY_VARIABLE).or_else(|| {
        let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        cache.map(|cache| cache.join("lango-peers"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Option<PathBuf> {
        directory(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_directory_is_the_one_that_is_set_or_in_the_cache() {
        let path = |path: &str| Some(PathBuf::from(path));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("HOME", "/h")]), path("/h/.cache/lango-peers"));
        assert_eq!(found(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]), path("/c/lango-peers"));
        assert_eq!(found(&[("HOME", "/h"), ("LANGO_PEERS", "/p")]), path("/p"));
        assert_eq!(found(&[("HOME", "/h"), ("LANGO_PEERS", "")]), path("/h/.cache/lango-peers"));
    }
}
