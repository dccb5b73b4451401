//! Where files may be read: anywhere, or in one directory and nowhere else.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};

use super::read::Unreadable;

/// Opens files. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum Access {
    /// What the user may read.
    Anywhere,
    /// What lies in one directory. It is held open, and paths are resolved beneath it, so neither
    /// `..` nor a link, not even one that comes while we look, leads out of it.
    Within { root: PathBuf, directory: Arc<Dir> },
}

impl Access {
    pub(crate) fn within(root: &Path) -> std::io::Result<Self> {
        let root = root.canonicalize()?;
        let directory = Arc::new(Dir::open_ambient_dir(&root, ambient_authority())?);
        Ok(Self::Within { root, directory })
    }

    /// A path without links, which may be read as far as can be said before it is opened.
    pub(crate) fn resolve(&self, path: &Path) -> Result<PathBuf, Unreadable> {
        match self {
            Self::Anywhere => Ok(path.canonicalize()?),
            Self::Within { root, .. } => {
                let resolved = root.join(path).canonicalize();
                // A path outside is refused in the same words, whether there is something or not.
                match resolved {
                    Ok(resolved) if resolved.starts_with(root) => Ok(resolved),
                    Ok(_) => Err(outside()),
                    Err(_) if !stays_below(path, root) => Err(outside()),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    /// Opens a file for reading. A pipe without a writer does not keep us waiting.
    pub(crate) fn open(&self, path: &Path) -> Result<File, Unreadable> {
        let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
        match self {
            Self::Anywhere => {
                use std::os::unix::fs::OpenOptionsExt as _;
                Ok(File::options().read(true).custom_flags(nonblocking).open(path)?)
            }
            Self::Within { root, directory } => {
                let below = path.strip_prefix(root).map_err(|_| outside())?;
                let mut options = OpenOptions::new();
                options.read(true).custom_flags(nonblocking);
                Ok(directory.open_with(below, &options)?.into_std())
            }
        }
    }
}

fn outside() -> Unreadable {
    Unreadable::Outside
}

/// Whether a path that leads nowhere would at least lead nowhere else.
fn stays_below(path: &Path, root: &Path) -> bool {
    let plain = |path: &Path| {
        !path.components().any(|part| matches!(part, std::path::Component::ParentDir))
    };
    plain(path) && (path.is_relative() || path.starts_with(root))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

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
        let access = Access::within(&inside).unwrap();
        let secret = outside.join("secret");
        for path in ["way/secret", "file", "../out/secret", "../none", secret.to_str().unwrap()] {
            assert_eq!(access.resolve(Path::new(path)), Err(Unreadable::Outside), "{path}");
        }
        let root = inside.canonicalize().unwrap();
        assert_eq!(access.resolve(Path::new("own")).unwrap(), root.join("own"));
        assert!(access.open(&root.join("own")).is_ok());
        // As if a link had come after the path was looked at.
        assert!(access.open(&root.join("way/secret")).is_err());
        assert!(access.open(&root.join("file")).is_err());
        assert!(matches!(access.resolve(Path::new("none")), Err(Unreadable::Failed { .. })));
    }
}
