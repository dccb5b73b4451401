//! Gives each server that is a local program a home of its own, so that it keeps its files and caches
//! without writing to the user's, and sees none of another server.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::ServerConfig;

/// Lists the variables that lead programs to directories below their home, with the directories.
/// `HOME` alone is not enough: the settings of a machine may name other caches.
const HOME_VARIABLES: [(&str, &str); 9] = [
    ("HOME", ""),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("UV_CACHE_DIR", ".cache/uv"),
    ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python"),
    ("UV_TOOL_DIR", ".local/share/uv/tools"),
    ("NPM_CONFIG_CACHE", ".npm"),
];

/// Returns the home of a server: a directory in `homes` that no other server has, of whatever project.
pub fn server_home(homes: &Path, config: &ServerConfig) -> PathBuf {
    let (scope, name) = (config.source.scope(), config.name.as_str());
    // The digest tells apart projects, and names that differ in case alone.
    let digest = super::pin::digest_parts(&[&scope, name]);
    homes.join(format!("{name}-{}", &digest[..12]))
}

/// Creates a home, readable by its owner alone. Nothing is created in it: what is there is the
/// server's, links too.
pub(crate) fn create_home(home: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(home)
}

/// Deletes the home of a server. Returns false if there was none.
pub fn delete_home(homes: &Path, config: &ServerConfig) -> io::Result<bool> {
    match std::fs::remove_dir_all(server_home(homes, config)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the variables that lead a program to its home.
pub(crate) fn home_variables(home: &Path) -> impl Iterator<Item = (&'static str, OsString)> {
    HOME_VARIABLES.into_iter().map(|(name, below)| {
        // An empty part would add a separator to the end.
        let place = if below.is_empty() { home.to_owned() } else { home.join(below) };
        (name, place.into_os_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{StdioConfig, TransportConfig};

    #[test]
    fn every_server_has_another_home() {
        let home = |name: &str| {
            let transport = TransportConfig::Stdio(StdioConfig::default());
            server_home(Path::new("/homes"), &ServerConfig::new(name.parse().unwrap(), transport))
        };
        let lower = |path: PathBuf| path.display().to_string().to_lowercase();
        assert_eq!(home("time"), home("time"));
        assert_ne!(lower(home("time")), lower(home("Time")));
        assert!(home("time").starts_with("/homes/"));
    }
}
