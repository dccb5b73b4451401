//! Plans the treatment of each path from the bounds of a job.
//!
//! This reads the file system and changes nothing. If two rules apply, the stricter one wins.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lango_places::{PlaceholderKind, folds_case};

use crate::error::SandboxError;
use crate::job::{Job, JobBounds};
use crate::vacancy::{self, Placeholder};

/// Directories with sockets and devices of the whole machine.
const SHARED_DIRECTORIES: [&str; 5] = ["/tmp", "/run", "/dev", "/proc", "/sys"];

/// The treatment of a path, in ascending strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PathTreatment {
    /// It is read-only, also in a hidden directory.
    Shown,
    /// It is writable.
    Writable,
    /// It is writable, but can be neither moved nor removed: something below it is protected.
    Anchored,
    /// Its entries are writable, but none can be added, moved or removed.
    Frozen,
    /// It is read-only.
    Protected,
    /// It does not exist, and must not be created.
    Vacant(PlaceholderKind),
    /// It cannot be read either.
    Hidden,
}

/// The treatment of each path. All other paths are read-only.
#[derive(Debug, Default)]
pub(crate) struct PathPlan {
    paths: BTreeMap<PathBuf, PathTreatment>,
    /// The writable paths of the job.
    roots: Vec<PathBuf>,
    /// The job's own directory, which is one of them, or the one that it reads.
    private: Option<PathBuf>,
    /// True if the job only reads that directory.
    is_reading: bool,
    /// The writable paths in which names are the same in upper and lower case.
    folded: Vec<PathBuf>,
    /// A cache of canonical directories: many paths are in few directories.
    real: HashMap<PathBuf, PathBuf>,
}

impl PathPlan {
    /// Checks every path that the job names.
    pub(crate) fn from_job(job: &Job) -> Result<Self, SandboxError> {
        let directory = job.directory.canonicalize().map_err(|error| SandboxError::Writable {
            path: job.directory.clone(),
            reason: error.to_string(),
        })?;
        let plan = Self::from_bounds(&job.bounds)?;
        let mut hidden = plan.paths().filter(|(_, treatment)| *treatment == PathTreatment::Hidden);
        let is_in = |hidden: &Path| directory.starts_with(hidden) && !plan.is_private(&directory);
        if let Some((hidden, _)) = hidden.find(|(hidden, _)| is_in(hidden)) {
            let hidden = hidden.to_owned();
            return Err(SandboxError::HiddenDirectory { directory, hidden });
        }
        drop(hidden);
        Ok(plan)
    }

    /// Checks every path of the bounds.
    pub(crate) fn from_bounds(bounds: &JobBounds) -> Result<Self, SandboxError> {
        Self::from_folded_bounds(bounds, folds_case)
    }

    /// Checks every path of the bounds. `folds` tells whether names in a directory are the same in
    /// upper and lower case.
    fn from_folded_bounds(
        bounds: &JobBounds,
        folds: impl Fn(&Path) -> bool,
    ) -> Result<Self, SandboxError> {
        let roots = writable_roots(bounds)?;
        let folded = roots.iter().filter(|root| folds(root)).cloned().collect();
        let private = bounds.private.as_ref().or(bounds.reading.as_ref());
        let private = private.map(|path| canonicalize_root(path)).transpose()?;
        let is_reading = bounds.reading.is_some();
        let mut plan = Self { private, is_reading, folded, ..Self::default() };
        for root in &roots {
            plan.add(root.clone(), PathTreatment::Writable);
        }
        if let Some(shown) = plan.private.clone().filter(|_| is_reading) {
            plan.add(shown, PathTreatment::Shown);
        }
        for place in &bounds.protected {
            plan.protect_path(&roots, &place.path, place.kind);
        }
        for path in &bounds.hidden {
            // A missing path must not be created either, if it is in a writable directory.
            plan.protect_path(&roots, path, PlaceholderKind::Directory);
        }
        for path in &bounds.hidden {
            if let Some(path) = plan.resolve_existing(path) {
                plan.add(path, PathTreatment::Hidden);
            }
        }
        plan.finalize();
        plan.roots = roots;
        Ok(plan)
    }

    /// Returns the paths, parents before children.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (&Path, PathTreatment)> {
        self.paths.iter().map(|(path, treatment)| (path.as_path(), *treatment))
    }

    /// Returns the writable paths that are still effective.
    pub(crate) fn writable_paths(&self) -> impl Iterator<Item = &Path> {
        let is_kept =
            |root: &&PathBuf| self.paths.get(*root).is_some_and(|t| *t < PathTreatment::Protected);
        self.roots.iter().filter(is_kept).map(PathBuf::as_path)
    }

    /// Returns the directory that the job only reads.
    pub(crate) fn reading(&self) -> Option<&Path> {
        self.private.as_deref().filter(|_| self.is_reading)
    }

    /// Tells whether the path is in the job's own directory.
    pub(crate) fn is_private(&self, path: &Path) -> bool {
        self.private.as_ref().is_some_and(|private| path.starts_with(private))
    }

    /// Tells whether the job's own directory is below the path.
    pub(crate) fn contains_private(&self, path: &Path) -> bool {
        self.private.as_ref().is_some_and(|private| private.starts_with(path) && private != path)
    }

    /// Returns the paths that must not be created.
    pub(crate) fn vacant_paths(&self) -> impl Iterator<Item = &Path> {
        let is_vacant = |(path, treatment)| match treatment {
            PathTreatment::Vacant(_) => Some(path),
            _ => None,
        };
        self.paths().filter_map(is_vacant)
    }

    /// Checks that no writable path holds the sockets and devices of other programs: those cannot be
    /// covered, because the path is to be seen as it is.
    pub(crate) fn check_shared_directories(&self) -> Result<(), SandboxError> {
        let is_shared = |root: &&PathBuf| {
            let real = |shared: &str| Path::new(shared).canonicalize();
            SHARED_DIRECTORIES
                .iter()
                .any(|shared| real(shared).is_ok_and(|shared| shared.starts_with(root)))
        };
        match self.roots.iter().find(is_shared) {
            None => Ok(()),
            Some(root) => Err(SandboxError::Writable {
                path: root.clone(),
                reason:
                    "it holds the sockets, devices or temporary files of other programs; use a \
                         directory of its own"
                        .to_owned(),
            }),
        }
    }

    /// Creates placeholders at the vacant paths. They must be released after the job.
    ///
    /// If this process cannot write there, a job cannot either, and the path is dropped.
    pub(crate) fn create_placeholders(&mut self) -> io::Result<Vec<Placeholder>> {
        let mut taken = Vec::new();
        let vacant = self.paths().filter_map(|(path, treatment)| match treatment {
            PathTreatment::Vacant(kind) => Some((path.to_owned(), kind)),
            _ => None,
        });
        for (path, kind) in vacant.collect::<Vec<_>>() {
            match Placeholder::create_or_share(&path, kind)? {
                Some(placeholder) => taken.push(placeholder),
                None => match fs::symlink_metadata(&path) {
                    Ok(found) if found.is_symlink() => {
                        let text = format!("{} became a link just now", path.display());
                        return Err(io::Error::other(text));
                    }
                    Ok(_) => {}
                    Err(_) => drop(self.paths.remove(&path)),
                },
            }
        }
        Ok(taken)
    }

    fn add(&mut self, path: PathBuf, treatment: PathTreatment) {
        let known = self.paths.entry(path).or_insert(treatment);
        *known = treatment.max(*known);
    }

    /// Protects `path` if it is in a writable directory, and all its parents up to there.
    fn protect_path(&mut self, roots: &[PathBuf], path: &Path, kind: PlaceholderKind) {
        // First the path as written, so that a link on the way is seen; otherwise the canonical
        // one.
        let mut is_inside = false;
        for root in roots {
            if let Ok(below) = path.strip_prefix(root) {
                self.protect_below(roots, root, below, kind);
                is_inside = true;
            }
        }
        if is_inside {
            return;
        }
        let real = self.resolve_parent(path);
        for root in roots {
            if let Ok(below) = real.strip_prefix(root) {
                self.protect_below(roots, root, below, kind);
            }
        }
    }

    /// Resolves links in the existing parents of a path, but not in its last component.
    fn resolve_parent(&mut self, path: &Path) -> PathBuf {
        match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) => self.resolve_directory(above).join(name),
            _ => path.to_owned(),
        }
    }

    /// Resolves links in a path as far as it exists. Many paths lie in few directories, so each is looked
    /// at once.
    fn resolve_directory(&mut self, path: &Path) -> PathBuf {
        if let Some(real) = self.real.get(path) {
            return real.clone();
        }
        let real = match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) => {
                let real = self.resolve_directory(above).join(name);
                // What does not exist has no links.
                match fs::symlink_metadata(&real) {
                    Ok(found) if found.is_symlink() => real.canonicalize().unwrap_or(real),
                    _ => real,
                }
            }
            // The root, or a path that goes up again.
            _ => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        };
        self.real.insert(path.to_owned(), real.clone());
        real
    }

    /// Returns the canonical form of a path, if it exists. Most hidden paths do not.
    fn resolve_existing(&mut self, path: &Path) -> Option<PathBuf> {
        if path.file_name().is_none() {
            return path.canonicalize().ok();
        }
        let path = self.resolve_parent(path);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => path.canonicalize().ok(),
            Ok(_) => Some(path),
            Err(_) => None,
        }
    }

    fn protect_below(
        &mut self,
        roots: &[PathBuf],
        root: &Path,
        below: &Path,
        kind: PlaceholderKind,
    ) {
        let mut above = root.to_owned();
        let count = below.components().count();
        if count == 0 {
            self.add(above, PathTreatment::Protected);
            return;
        }
        let is_folded = self.folded.iter().any(|folded| folded == root);
        for (index, component) in below.components().enumerate() {
            if is_folded {
                // A mount covers one spelling of a name. So no other spelling may lead anywhere
                // writable, on the whole way.
                self.add(above.clone(), PathTreatment::Frozen);
            }
            let place = above.join(component);
            let is_last = index + 1 == count;
            match fs::symlink_metadata(&place) {
                Err(_) => {
                    let kind = if is_last { kind } else { PlaceholderKind::Directory };
                    self.add(place, PathTreatment::Vacant(kind));
                    return;
                }
                Ok(found) if vacancy::is_existing_placeholder(&place, &found) => {
                    self.add(place, PathTreatment::Vacant(kind));
                    return;
                }
                Ok(found) if found.is_symlink() => {
                    // A link itself cannot be mounted over, so its directory is kept from changing.
                    let strict = above != root;
                    self.add(
                        above,
                        if strict { PathTreatment::Protected } else { PathTreatment::Frozen },
                    );
                    // A link that leads nowhere has no target to protect.
                    let target = place.canonicalize().unwrap_or_default();
                    if roots.iter().any(|root| target.starts_with(root)) {
                        self.add(target, PathTreatment::Protected);
                    }
                    return;
                }
                Ok(found) if found.is_dir() && !is_last => {
                    self.add(place.clone(), PathTreatment::Anchored);
                }
                Ok(_) => {
                    self.add(place, PathTreatment::Protected);
                    return;
                }
            }
            above = place;
        }
    }

    /// Makes the entries of frozen paths writable, and drops rules that a stricter parent
    /// overrides.
    fn finalize(&mut self) {
        let frozen = self.paths().filter(|(_, treatment)| *treatment == PathTreatment::Frozen);
        let frozen: Vec<PathBuf> = frozen.map(|(path, _)| path.to_owned()).collect();
        for directory in frozen {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_file()) {
                    self.add(entry.path(), PathTreatment::Anchored);
                }
            }
        }
        let private = self.private.clone();
        // What is above the job's own directory does not hold in it.
        let counts = |path: &Path, above: &Path| match &private {
            Some(private) if path.starts_with(private) => above.starts_with(private),
            _ => true,
        };
        let kept =
            |path: &Path, treatment: PathTreatment, all: &BTreeMap<PathBuf, PathTreatment>| {
                let mut above = path.ancestors().skip(1).filter(|above| counts(path, above));
                above.all(|above| match all.get(above) {
                    Some(PathTreatment::Hidden) => false,
                    Some(PathTreatment::Protected | PathTreatment::Vacant(_)) => {
                        treatment == PathTreatment::Hidden
                    }
                    _ => true,
                })
            };
        let all = self.paths.clone();
        self.paths.retain(|path, treatment| kept(path, *treatment, &all));
    }
}

/// Returns the writable paths in canonical form.
fn writable_roots(bounds: &JobBounds) -> Result<Vec<PathBuf>, SandboxError> {
    let root = |path: &PathBuf| {
        let real = canonicalize_root(path)?;
        if bounds.granted.contains(path) && real != *path {
            let reason = format!("it leads to {}", real.display());
            return Err(SandboxError::Writable { path: path.clone(), reason });
        }
        Ok(real)
    };
    bounds.writable.iter().chain(&bounds.private).map(root).collect()
}

fn canonicalize_root(path: &Path) -> Result<PathBuf, SandboxError> {
    let unusable = |reason: String| SandboxError::Writable { path: path.to_owned(), reason };
    let real = path.canonicalize().map_err(|error| unusable(error.to_string()))?;
    if real == Path::new("/") {
        return Err(unusable("it is the whole file system".to_owned()));
    }
    Ok(real)
}

#[cfg(test)]
mod tests;
