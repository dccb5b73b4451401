//! Finds the Chromium program.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Lists its names on different systems, best first.
const PROGRAM_NAMES: [&str; 6] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "microsoft-edge",
];

/// Lists its paths on a Mac, where it is not in `PATH`.
const MAC_PATHS: [&str; 2] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// Says why there is no Chromium to start. The user can act on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChromiumError {
    /// It was not found.
    #[error(
        "there is no Chromium on this machine. Install it (apt install chromium), or say where it \
         is: lango config set navigator.chromium /path/to/chromium"
    )]
    Missing,
    /// The configured path is not a program.
    #[error(
        "{} is not a program ({reason}). Set it right: lango config set navigator.chromium \
         /path/to/chromium", path.display()
    )]
    NotAProgram {
        /// The configured path.
        path: PathBuf,
        /// The reason why it is not a program.
        reason: String,
    },
}

/// Returns the program to start: the configured one, or the first known name in `search_path`.
pub fn find(
    configured: Option<&Path>,
    search_path: Option<&OsStr>,
) -> Result<PathBuf, ChromiumError> {
    let directories: Vec<PathBuf> =
        search_path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let in_path = |name: &str| {
        directories
            .iter()
            .map(|directory| directory.join(name))
            .find(|path| check_executable(path).is_ok())
    };
    let Some(configured) = configured else {
        let known = PROGRAM_NAMES.iter().find_map(|name| in_path(name));
        let on_mac =
            || MAC_PATHS.iter().map(PathBuf::from).find(|path| check_executable(path).is_ok());
        return known.or_else(on_mac).ok_or(ChromiumError::Missing);
    };
    // A bare name is looked up like any other program.
    let by_name = configured.to_str().filter(|name| !name.contains('/')).and_then(in_path);
    let path = by_name.unwrap_or_else(|| configured.to_owned());
    check_executable(&path)
        .map_err(|reason| ChromiumError::NotAProgram { path: path.clone(), reason })?;
    Ok(path)
}

fn check_executable(path: &Path) -> Result<(), String> {
    let metadata = path.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err("it is not executable".to_owned());
    }
    Ok(())
}

/// Tells whether Chromium must run without its own sandbox here: as root it has none.
pub fn runs_without_sandbox() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(directory: &Path, name: &str, mode: u32) -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn the_configured_program_wins_and_must_be_one() {
        let directory = tempfile::tempdir().unwrap();
        let own = program(directory.path(), "my-browser", 0o755);
        let known = program(directory.path(), "google-chrome", 0o755);
        let path = directory.path().as_os_str();
        assert_eq!(find(Some(&own), Some(path)), Ok(own.clone()));
        assert_eq!(find(Some(Path::new("my-browser")), Some(path)), Ok(own));
        assert_eq!(find(None, Some(path)), Ok(known));
        for (name, reason) in [("absent", "No such file"), ("plain", "not executable")] {
            program(directory.path(), "plain", 0o644);
            let error = find(Some(&directory.path().join(name)), None).unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("navigator.chromium"), "{error}");
        }
        let error = find(Some(directory.path()), None).unwrap_err().to_string();
        assert!(error.contains("not a file"), "{error}");
    }

    #[test]
    fn a_machine_without_chromium_is_told_how_to_get_it() {
        let directory = tempfile::tempdir().unwrap();
        program(directory.path(), "chromium", 0o644);
        if MAC_PATHS.iter().all(|path| check_executable(Path::new(path)).is_err()) {
            let error = find(None, Some(directory.path().as_os_str())).unwrap_err();
            assert_eq!(error, ChromiumError::Missing);
            assert!(error.to_string().contains("apt install chromium"));
        }
    }
}
