//! Finds the directories of Lango's files: the XDG directories, or `LANGO_HOME` for all of them.

use std::env;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::AppError;

/// Holds the directories of Lango's files.
#[derive(Debug, Clone)]
pub struct Home {
    /// The configuration file.
    pub config_file: PathBuf,
    /// The directory of the default configuration file.
    pub config_directory: PathBuf,
    /// The directory of all stored data.
    pub data: PathBuf,
    /// The directory of the logs.
    pub state: PathBuf,
}

impl Home {
    /// Finds the directories from the environment and `--config`.
    pub fn find(config: Option<PathBuf>) -> Result<Self, AppError> {
        let own = env::var_os("LANGO_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let user = || {
            let home = env::var_os("HOME").filter(|home| !home.is_empty());
            home.map(PathBuf::from).ok_or_else(|| {
                AppError::usage("there is no home directory: set HOME or LANGO_HOME")
            })
        };
        let xdg = |variable: &str, below: &str| -> Result<PathBuf, AppError> {
            let given = env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            Ok(given.map_or_else(|| user().map(|home| home.join(below)), Ok)?.join("lango"))
        };
        let (config_directory, data, state) = match own {
            Some(home) => (home.clone(), home.clone(), home),
            None => (
                xdg("XDG_CONFIG_HOME", ".config")?,
                xdg("XDG_DATA_HOME", ".local/share")?,
                xdg("XDG_STATE_HOME", ".local/state")?,
            ),
        };
        let config_file = config.unwrap_or_else(|| config_directory.join("config.toml"));
        Ok(Self { config_file, config_directory, data, state })
    }

    /// Returns the log file of `lango serve`.
    pub fn log_file(&self) -> PathBuf {
        self.state.join("logs/serve.log")
    }

    /// Returns the file that names the model of the last run.
    pub fn last_model_file(&self) -> PathBuf {
        self.state.join("last-model")
    }

    /// Returns the path of the default database.
    pub fn database(&self) -> PathBuf {
        self.data.join("lango.db")
    }
}

/// Resolves a path as users write it in a configuration: `~` is the home directory, and relative
/// paths are refused, because the program may run in any directory.
pub fn expand_path(given: &str) -> Result<PathBuf, String> {
    let path = match given.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let home = env::var_os("HOME").filter(|home| !home.is_empty());
            let home = home.ok_or_else(|| format!("{given}: HOME is not set"))?;
            PathBuf::from(home).join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(given),
    };
    if !path.is_absolute() {
        return Err(format!("{given} is not an absolute path"));
    }
    // Links of an existing path are resolved, because the workspace's are.
    Ok(path.canonicalize().unwrap_or(path))
}

/// Writes a file atomically, readable only by its owner.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.and_then(|()| std::fs::rename(&temporary, path)).inspect_err(|_| {
        // The error itself is what matters; a temporary file left behind does no harm.
        let _ = std::fs::remove_file(&temporary);
    })
}
