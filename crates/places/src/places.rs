//! Answers questions about places from the lists and the configuration.

use std::path::{Component, Path, PathBuf};

use crate::folding::{folds_case, is_same_name};
use crate::lists::{
    HIDDEN_HOME_PLACES, HIDDEN_SYSTEM_PLACES, HOME_PLACES, NAMES, NamedPlace, OWN_HOME_PLACES,
};
use crate::protection::{HiddenReason, PlaceholderKind, Protection};

/// What the configuration says about places. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacesSettings {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Lango's own files and directories: configuration, database, keys, profiles.
    pub own: Vec<PathBuf>,
    /// Hidden places in addition to the usual ones: `sandbox.hidden`.
    pub hidden: Vec<PathBuf>,
    /// Protected places in addition to the usual ones: `sandbox.protected`.
    pub protected: Vec<PathBuf>,
    /// Directories with instructions of agents.
    pub instructions: Vec<PathBuf>,
    /// The workspace, and other directories that agents work in. The names of their parents protect
    /// nothing: a workspace may lie in `.claude`.
    pub roots: Vec<PathBuf>,
}

/// The hidden and protected places of a machine.
///
/// Questions are asked about canonical absolute paths: without links, `.` and `..`. The path need not
/// exist; then its existing part is canonical. They read nothing from the file system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    hidden: Vec<HiddenPlace>,
    protected: Vec<ProtectedPlace>,
    /// The directories that agents work in.
    roots: Vec<PathBuf>,
    /// The directories in which the case of names is ignored.
    folded: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct HiddenPlace {
    path: PathBuf,
    /// The place that `path` leads to, if it is or lies behind a link.
    target: Option<PathBuf>,
    reason: HiddenReason,
}

/// A place that agents must not change unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedPlace {
    /// The path, in which the last component may be a link.
    pub path: PathBuf,
    /// What the place decides.
    pub protection: Protection,
    /// The kind of the placeholder if nothing is there.
    pub kind: PlaceholderKind,
    /// The place that `path` leads to, if it is or lies behind a link.
    target: Option<PathBuf>,
}

impl Places {
    /// Resolves the places. Links, and whether case is ignored, are looked up once, here.
    pub fn new(settings: PlacesSettings) -> Self {
        let home = settings.home.map(|home| resolve_existing_part(&home));
        let roots: Vec<_> = settings.roots.iter().map(|root| resolve_existing_part(root)).collect();
        let folded = home.iter().chain(&roots).filter(|root| folds_case(root)).cloned().collect();
        let mut places = Self { roots, folded, ..Self::default() };
        if let Some(home) = &home {
            places.add_home(home);
        }
        for path in settings.own {
            places.hide(path, HiddenReason::OwnFile, PlaceholderKind::Directory);
        }
        for path in HIDDEN_SYSTEM_PLACES {
            places.hide(path.into(), HiddenReason::Credentials, PlaceholderKind::File);
        }
        for path in settings.hidden {
            places.hide(path, HiddenReason::Configured, PlaceholderKind::Directory);
        }
        for path in settings.protected {
            places.protect(path, Protection::Configured, PlaceholderKind::Directory);
        }
        for path in settings.instructions {
            places.protect(path, Protection::Agents, PlaceholderKind::Directory);
        }
        places
    }

    /// Returns why a path is hidden, if it is. Nothing may be read from it, whatever the rules say.
    pub fn hidden_reason(&self, path: &Path) -> Option<HiddenReason> {
        let is_own = |reason| reason == HiddenReason::OwnFile;
        let hides = |place: &&HiddenPlace| {
            self.covers(&place.path, place.target.as_deref(), path, is_own(place.reason))
        };
        self.hidden.iter().find(hides).map(|place| place.reason)
    }

    /// Returns what a path decides, if it is protected. It may not be created, changed, moved or
    /// removed without a question that says so. Hidden places are protected as well.
    pub fn protection_of(&self, path: &Path) -> Option<Protection> {
        if let Some(reason) = self.hidden_reason(path) {
            return Some(Protection::Hidden(reason));
        }
        let is_folded = self.is_folded(path);
        let protects = |place: &&ProtectedPlace| {
            let is_own = place.protection == Protection::Hidden(HiddenReason::OwnFile);
            self.covers(&place.path, place.target.as_deref(), path, is_own)
        };
        let listed = self.protected.iter().find(protects).map(|place| place.protection);
        listed.or_else(|| protection_by_name(self.below_root(path), is_folded))
    }

    /// Returns the hidden or protected places, and what they lead to, that lie in a directory, but
    /// are not the directory itself: moving or removing the directory would take them along. Places that are protected by
    /// their name in any directory are not known without looking, and not among them.
    pub fn places_within(&self, directory: &Path) -> impl Iterator<Item = &Path> {
        let hidden = self.hidden.iter().flat_map(|it| [Some(&it.path), it.target.as_ref()]);
        let protected = self.protected.iter().flat_map(|it| [Some(&it.path), it.target.as_ref()]);
        let is_within = move |path: &&Path| path.starts_with(directory) && *path != directory;
        hidden.chain(protected).flatten().map(PathBuf::as_path).filter(is_within)
    }

    /// Tells whether a path lies in a place, or in what the place leads to. A workspace that a user
    /// chose within Lango's own directory does not belong to it.
    fn covers(&self, place: &Path, target: Option<&Path>, path: &Path, is_own: bool) -> bool {
        let is_folded = self.is_folded(path);
        let covers = |place: &Path| {
            let is_chosen = |root: &PathBuf| {
                root != place && lies_in(root, place, is_folded) && lies_in(path, root, is_folded)
            };
            lies_in(path, place, is_folded) && !(is_own && self.roots.iter().any(is_chosen))
        };
        covers(place) || target.is_some_and(covers)
    }

    /// Returns the part of a path below the nearest root, or the whole path outside of all.
    fn below_root<'a>(&self, path: &'a Path) -> &'a Path {
        let below = self.roots.iter().filter_map(|root| path.strip_prefix(root).ok());
        below.min_by_key(|below| below.components().count()).unwrap_or(path)
    }

    /// Tells whether names in a directory are the same in upper and lower case.
    pub fn is_folded(&self, path: &Path) -> bool {
        self.folded.iter().any(|directory| path.starts_with(directory))
    }

    /// Returns the hidden places, existing or not.
    pub fn hidden_paths(&self) -> impl Iterator<Item = &Path> {
        self.hidden.iter().map(|place| place.path.as_path())
    }

    /// Returns the protected places that have a path of their own, existing or not.
    pub fn protected_places(&self) -> impl Iterator<Item = &ProtectedPlace> {
        self.protected.iter()
    }

    /// Returns the places in a directory that are protected by their name. `exists` tells whether
    /// one is there; missing ones are returned if they are to be kept from being created.
    pub fn named_places_in(
        directory: &Path,
        exists: impl Fn(&Path) -> bool,
    ) -> Vec<ProtectedPlace> {
        let place = |named: &NamedPlace| {
            let path = directory.join(named.name);
            let kind = match named.reserved {
                Some(kind) => kind,
                None if exists(&path) => PlaceholderKind::Directory,
                None => return None,
            };
            Some(ProtectedPlace { path, protection: named.protection, kind, target: None })
        };
        NAMES.iter().filter_map(place).collect()
    }

    fn add_home(&mut self, home: &Path) {
        for place in HIDDEN_HOME_PLACES {
            self.hide(home.join(place.name), place.reason, place.kind);
        }
        for name in OWN_HOME_PLACES {
            self.hide(home.join(name), HiddenReason::OwnFile, PlaceholderKind::Directory);
        }
        for place in HOME_PLACES {
            self.protect(home.join(place.name), place.protection, place.kind);
        }
    }

    fn hide(&mut self, path: PathBuf, reason: HiddenReason, kind: PlaceholderKind) {
        let target = find_target(&path);
        self.hidden.push(HiddenPlace { path: path.clone(), target: target.clone(), reason });
        let protection = Protection::Hidden(reason);
        self.protected.push(ProtectedPlace { path, protection, kind, target });
    }

    fn protect(&mut self, path: PathBuf, protection: Protection, kind: PlaceholderKind) {
        let target = find_target(&path);
        self.protected.push(ProtectedPlace { path, protection, kind, target });
    }
}

/// Tells whether `path` is `place` or lies below it.
fn lies_in(path: &Path, place: &Path, is_folded: bool) -> bool {
    let mut components = path.components();
    place.components().all(|wanted| {
        components
            .next()
            .is_some_and(|found| is_same_name(found.as_os_str(), wanted.as_os_str(), is_folded))
    })
}

/// Returns what the names in a path decide, in whatever directory they are.
fn protection_by_name(path: &Path, is_folded: bool) -> Option<Protection> {
    let names: Vec<_> = path
        .components()
        .filter(|component| matches!(component, Component::Normal(_)))
        .map(Component::as_os_str)
        .collect();
    let is_at = |named: &NamedPlace, start: usize| {
        let mut found = names[start..].iter();
        Path::new(named.name).components().all(|wanted| {
            found.next().is_some_and(|found| is_same_name(found, wanted.as_os_str(), is_folded))
        })
    };
    let starts = 0..names.len();
    starts.into_iter().find_map(|start| {
        NAMES.iter().find(|named| is_at(named, start)).map(|named| named.protection)
    })
}

/// Returns the place that a path leads to, if it differs from the path.
fn find_target(path: &Path) -> Option<PathBuf> {
    Some(resolve_existing_part(path)).filter(|target| target != path)
}

/// Resolves the links in the part of a path that exists.
fn resolve_existing_part(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(real) = above.canonicalize() {
            // The ancestor is a prefix of the path.
            let below = path.strip_prefix(above).unwrap_or(Path::new(""));
            return if below.as_os_str().is_empty() { real } else { real.join(below) };
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests;
