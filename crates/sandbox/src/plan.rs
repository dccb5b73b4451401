//! From the bounds of a job to what happens to each place of the file system.
//!
//! This looks at the file system and changes nothing. Where two rules meet, the stricter wins.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::SandboxError;
use crate::job::{Bounds, Job, Kind};
use crate::vacancy::{self, StandIn};

/// What happens to a place, the stricter the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Treatment {
    /// It may be written to.
    Writable,
    /// It may be written to, but neither moved nor removed: something below it is protected.
    Anchored,
    /// Its entries may be written to, but none can be added, moved or removed.
    Frozen,
    /// It can be read only.
    Protected,
    /// Nothing is there, and nothing may be put there.
    Vacant(Kind),
    /// It cannot be read either.
    Hidden,
}

/// What happens to which place. Everything that is not named can be read only.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    places: BTreeMap<PathBuf, Treatment>,
    /// The writable places as they were asked for.
    roots: Vec<PathBuf>,
    /// Directories that were looked up, and where they really are: many places lie in few.
    real: HashMap<PathBuf, PathBuf>,
}

impl Plan {
    /// Looks at every place that the job names.
    pub(crate) fn make(job: &Job) -> Result<Self, SandboxError> {
        let bounds = &job.bounds;
        let hidden: Vec<PathBuf> =
            bounds.hidden.iter().filter_map(|path| real_if_there(path)).collect();
        let directory = job.directory.canonicalize().map_err(|error| SandboxError::Writable {
            path: job.directory.clone(),
            reason: error.to_string(),
        })?;
        if let Some(hidden) = hidden.iter().find(|hidden| directory.starts_with(hidden)) {
            let hidden = hidden.clone();
            return Err(SandboxError::HiddenDirectory { directory, hidden });
        }
        let mut plan = Self::default();
        let roots = roots(bounds)?;
        for root in &roots {
            plan.add(root.clone(), Treatment::Writable);
        }
        for place in &bounds.protected {
            plan.guard(&roots, &place.path, place.kind);
        }
        for path in &bounds.hidden {
            // What is not there today must not be made either, if it lies in a writable place.
            plan.guard(&roots, path, Kind::Directory);
        }
        for path in hidden {
            plan.add(path, Treatment::Hidden);
        }
        plan.settle();
        plan.roots = roots;
        Ok(plan)
    }

    /// The places, those above before those below.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&Path, Treatment)> {
        self.places.iter().map(|(path, treatment)| (path.as_path(), *treatment))
    }

    /// The writable places that something is still left of.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        let is_kept =
            |root: &&PathBuf| self.places.get(*root).is_some_and(|t| *t < Treatment::Protected);
        self.roots.iter().filter(is_kept).map(PathBuf::as_path)
    }

    /// Puts stand-ins at the vacant places. They must be released after the job.
    ///
    /// Where even we cannot write, a job cannot either, and the place is forgotten.
    pub(crate) fn occupy(&mut self) -> io::Result<Vec<StandIn>> {
        let mut taken = Vec::new();
        let vacant = self.places().filter_map(|(path, treatment)| match treatment {
            Treatment::Vacant(kind) => Some((path.to_owned(), kind)),
            _ => None,
        });
        for (path, kind) in vacant.collect::<Vec<_>>() {
            match StandIn::take(&path, kind)? {
                Some(stand_in) => taken.push(stand_in),
                None => match fs::symlink_metadata(&path) {
                    Ok(found) if found.is_symlink() => {
                        let text = format!("{} became a link just now", path.display());
                        return Err(io::Error::other(text));
                    }
                    Ok(_) => {}
                    Err(_) => drop(self.places.remove(&path)),
                },
            }
        }
        Ok(taken)
    }

    fn add(&mut self, path: PathBuf, treatment: Treatment) {
        let known = self.places.entry(path).or_insert(treatment);
        *known = treatment.max(*known);
    }

    /// Protects `path` if it lies in a writable place, and all that leads to it from there.
    fn guard(&mut self, roots: &[PathBuf], path: &Path, kind: Kind) {
        // As it was written, so that a link on the way is seen; otherwise as it really is.
        let mut is_inside = false;
        for root in roots {
            if let Ok(below) = path.strip_prefix(root) {
                self.guard_below(roots, root, below, kind);
                is_inside = true;
            }
        }
        if is_inside {
            return;
        }
        let real = self.with_real_beginning(path);
        for root in roots {
            if let Ok(below) = real.strip_prefix(root) {
                self.guard_below(roots, root, below, kind);
            }
        }
    }

    /// The path with links resolved in the directories that exist, but not in its last component.
    fn with_real_beginning(&mut self, path: &Path) -> PathBuf {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return path.to_owned();
        };
        if let Some(real) = self.real.get(above) {
            return real.join(name);
        }
        let real = above.canonicalize().unwrap_or_else(|_| self.with_real_beginning(above));
        self.real.insert(above.to_owned(), real.clone());
        real.join(name)
    }

    fn guard_below(&mut self, roots: &[PathBuf], root: &Path, below: &Path, kind: Kind) {
        let mut above = root.to_owned();
        let count = below.components().count();
        if count == 0 {
            self.add(above, Treatment::Protected);
            return;
        }
        for (index, component) in below.components().enumerate() {
            let place = above.join(component);
            let is_last = index + 1 == count;
            match fs::symlink_metadata(&place) {
                Err(_) => {
                    let kind = if is_last { kind } else { Kind::Directory };
                    self.add(place, Treatment::Vacant(kind));
                    return;
                }
                Ok(found) if vacancy::is_left_behind(&place, &found) => {
                    self.add(place, Treatment::Vacant(kind));
                    return;
                }
                Ok(found) if found.is_symlink() => {
                    // Nothing can be mounted over a link itself, so the directory that it is in
                    // is kept from changing.
                    let strict = above != root;
                    self.add(above, if strict { Treatment::Protected } else { Treatment::Frozen });
                    let target = place.canonicalize().unwrap_or_default();
                    if roots.iter().any(|root| target.starts_with(root)) {
                        self.add(target, Treatment::Protected);
                    }
                    return;
                }
                Ok(found) if found.is_dir() && !is_last => {
                    self.add(place.clone(), Treatment::Anchored);
                }
                Ok(_) => {
                    self.add(place, Treatment::Protected);
                    return;
                }
            }
            above = place;
        }
    }

    /// Opens the entries of frozen places, and drops rules that stricter ones above make void.
    fn settle(&mut self) {
        let frozen = self.places().filter(|(_, treatment)| *treatment == Treatment::Frozen);
        let frozen: Vec<PathBuf> = frozen.map(|(path, _)| path.to_owned()).collect();
        for directory in frozen {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_file()) {
                    self.add(entry.path(), Treatment::Anchored);
                }
            }
        }
        let kept = |path: &Path, treatment: Treatment, all: &BTreeMap<PathBuf, Treatment>| {
            path.ancestors().skip(1).all(|above| match all.get(above) {
                Some(Treatment::Hidden) => false,
                Some(Treatment::Protected | Treatment::Vacant(_)) => treatment == Treatment::Hidden,
                _ => true,
            })
        };
        let all = self.places.clone();
        self.places.retain(|path, treatment| kept(path, *treatment, &all));
    }
}

/// The writable places, as they really are.
fn roots(bounds: &Bounds) -> Result<Vec<PathBuf>, SandboxError> {
    let root = |path: &PathBuf| {
        let unusable = |reason: String| SandboxError::Writable { path: path.clone(), reason };
        let real = path.canonicalize().map_err(|error| unusable(error.to_string()))?;
        if real == Path::new("/") {
            return Err(unusable("it is the whole file system".to_owned()));
        }
        Ok(real)
    };
    bounds.writable.iter().map(root).collect()
}

/// Where a place really is, if it is there at all. Most places that are named are not.
fn real_if_there(path: &Path) -> Option<PathBuf> {
    path.symlink_metadata().ok()?;
    path.canonicalize().ok()
}
