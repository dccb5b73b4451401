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
                    Ok(_) => Err(UnreadableReason::Outside),
                    Err(_) if !stays_below(path, root) => Err(UnreadableReason::Outside),
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
                let below = path.strip_prefix(root).map_err(|_| UnreadableReason::Outside)?;
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

/// Tells whether a path that does not exist would be below `root`.
fn stays_below(path: &Path, root: &Path) -> bool {
    let goes_up = path.components().any(|part| part == std::path::Component::ParentDir);
    !goes_up && (path.is_relative() || path.starts_with(root))
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
        std::fs::create_dir(&inside).and_then(|()| std::fs::create_dir(&outside)).unwrap();
        std::fs::write(outside.join("secret"), "secret").unwrap();
        std::fs::write(inside.join("own"), "own").unwrap();
        symlink(&outside, inside.join("way")).unwrap();
        symlink(outside.join("secret"), inside.join("file")).unwrap();
        std::fs::write(inside.join(".netrc"), "hidden").unwrap();
        symlink(".netrc", inside.join("link")).unwrap();
        let home = Some(inside.canonicalize().unwrap());
        let places = Places::new(PlacesSettings { home, ..PlacesSettings::default() });
        let access =
            FileAccess::within(&inside, Arc::new(places), ExcludedPaths::default()).unwrap();
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
        for path in [".netrc", "link", "./.netrc"] {
            let opened = access.resolve(Path::new(path)).and_then(|path| access.open(&path));
            assert!(matches!(opened, Err(UnreadableReason::Hidden)), "{path}: {opened:?}");
        }
    }
}
