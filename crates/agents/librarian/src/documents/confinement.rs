//! Limits which files may be read: any file, or those in one directory only.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use lango_places::Places;
use lango_tool::ExcludedPaths;

use super::read::UnreadableReason;

/// Opens the files that may be read. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum FileAccess {
    /// Every file that the user may read.
    Anywhere,
    /// The files in one directory. The directory is held open and paths are resolved beneath it, so
    /// neither `..` nor a link, not even one that is created in between, leads out of it.
    Within { root: PathBuf, directory: Arc<Dir>, places: Arc<Places>, excluded: ExcludedPaths },
}

impl FileAccess {
    pub(crate) fn within(
        root: &Path,
        places: Arc<Places>,
        excluded: ExcludedPaths,
    ) -> std::io::Result<Self> {
        let root = root.canonicalize()?;
        let directory = Arc::new(Dir::open_ambient_dir(&root, ambient_authority())?);
        Ok(Self::Within { root, directory, places, excluded })
    }

    /// Resolves links in a path and checks that it may be read. Opening the file checks again.
    pub(crate) fn resolve(&self, path: &Path) -> Result<PathBuf, UnreadableReason> {
        match self {
            Self::Anywhere => Ok(path.canonicalize()?),
            Self::Within { root, places, .. } => {
                let resolved = root.join(path).canonicalize();
                // The error for a path outside is the same whether or not the file exists.
                match resolved {
                    Ok(resolved) if places.hidden_reason(&resolved).is_some() => {
                        Err(UnreadableReason::Hidden)
                    }
                    Ok(resolved) if resolved.starts_with(root) => Ok(resolved),
                    Ok(_) => Err(outside_error()),
                    Err(_) if !stays_below(path, root) => Err(outside_error()),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    /// Opens a file for reading. A pipe without a writer does not block.
    pub(crate) fn open(&self, path: &Path) -> Result<File, UnreadableReason> {
        let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
        match self {
            Self::Anywhere => {
                use std::os::unix::fs::OpenOptionsExt as _;
                Ok(File::options().read(true).custom_flags(nonblocking).open(path)?)
            }
            Self::Within { root, directory, places, excluded } => {
                let below = path.strip_prefix(root).map_err(|_| outside_error())?;
                let mut options = OpenOptions::new();
                options.read(true).custom_flags(nonblocking);
                let file = directory.open_with(below, &options)?.into_std();
                // The path may lead to another file than when it was resolved; the open file does not.
                let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
                if places.hidden_reason(&real).is_some() {
                    return Err(UnreadableReason::Hidden);
                }
                let is_excluded = |path: &Path| {
                    // A rule for a directory is one for everything in it.
                    path.ancestors()
                        .any(|path| !path.as_os_str().is_empty() && excluded.contains(path))
                };
                match real.strip_prefix(root) {
                    Ok(below) if is_excluded(below) => Err(UnreadableReason::Excluded),
                    _ => Ok(file),
                }
            }
        }
    }
}

fn outside_error() -> UnreadableReason {
    UnreadableReason::Outside
}

/// Tells whether a path that does not exist would be below `root`.
fn stays_below(path: &Path, root: &Path) -> bool {
    let plain = |path: &Path| {
        !path.components().any(|part| matches!(part, std::path::Component::ParentDir))
    };
    plain(path) && (path.is_relative() || path.starts_with(root))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use lango_places::PlacesSettings;

    use super::*;

    #[test]
    fn nothing_outside_is_resolved_or_opened() {
        let directory = tempfile::tempdir().unwrap();
        let (inside, outside) = (directory.path().join("in"), directory.path().join("out"));
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("secret"), "secret").unwrap();
        std::fs::write(inside.join("own"), "own").unwrap();
        symlink(&outside, inside.join("way")).unwrap();
        symlink(outside.join("secret"), inside.join("file")).unwrap();
        let access = FileAccess::within(&inside, Arc::default(), ExcludedPaths::default()).unwrap();
        let secret = outside.join("secret");
        for path in ["way/secret", "file", "../out/secret", "../none", secret.to_str().unwrap()] {
            assert_eq!(access.resolve(Path::new(path)), Err(UnreadableReason::Outside), "{path}");
        }
        let root = inside.canonicalize().unwrap();
        assert_eq!(access.resolve(Path::new("own")).unwrap(), root.join("own"));
        assert!(access.open(&root.join("own")).is_ok());
        // As if the link had been created after the path was resolved.
        assert!(access.open(&root.join("way/secret")).is_err());
        assert!(access.open(&root.join("file")).is_err());
        assert!(matches!(access.resolve(Path::new("none")), Err(UnreadableReason::Failed { .. })));
    }

    #[test]
    fn nothing_hidden_is_resolved_or_opened() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().canonicalize().unwrap();
        std::fs::create_dir(home.join(".ssh")).unwrap();
        std::fs::write(home.join(".ssh/id_ed25519"), "secret").unwrap();
        std::fs::write(home.join("own"), "own").unwrap();
        symlink(".ssh", home.join("way")).unwrap();
        symlink(".ssh/id_ed25519", home.join("file")).unwrap();
        let settings = PlacesSettings { home: Some(home.clone()), ..PlacesSettings::default() };
        let places = Arc::new(Places::new(settings));
        let access = FileAccess::within(&home, places, ExcludedPaths::default()).unwrap();
        for path in [".ssh/id_ed25519", "way/id_ed25519", "file", "./.ssh/../.ssh/id_ed25519"] {
            let resolved = access.resolve(Path::new(path));
            let opened = resolved.and_then(|path| access.open(&path).map(drop));
            assert_eq!(opened, Err(UnreadableReason::Hidden), "{path}");
        }
        // As if the link had been created after the path was resolved.
        assert!(access.open(&home.join("file")).is_err());
        assert!(access.open(&home.join("own")).is_ok());
    }
}
