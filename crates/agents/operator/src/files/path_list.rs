//! Reads a parameter that names one path or several, each of which may be a glob.
//!
//! A glob is matched as in a shell: names that begin with a dot are found only by a pattern that says
//! so, and links are not followed. Places that are hidden, and git's own directories, are never found.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use lango_tool::ToolError;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::glob::{PathGlob, has_wildcard};
use crate::sentence::describe_activity;
use crate::workspace::{EntryKind, Workspace, WorkspacePath, is_git, read_entries};

/// Limits how many paths one call names: a question lists each of them.
const MAX_LISTED_PATHS: usize = 500;
/// Limits how many entries are compared with a glob.
const MAX_COMPARED_ENTRIES: usize = 100_000;

/// Holds the paths of a call as they were given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "PathListArgument")]
pub(super) struct PathList {
    given: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PathListArgument {
    One(String),
    Several(Vec<String>),
}

impl From<PathListArgument> for PathList {
    fn from(argument: PathListArgument) -> Self {
        match argument {
            PathListArgument::One(path) => Self { given: vec![path] },
            PathListArgument::Several(given) => Self { given },
        }
    }
}

impl JsonSchema for PathList {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PathList".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = json_schema!({"type": "string"});
        json_schema!({"anyOf": [text, {"type": "array", "items": text}]})
    }
}

/// Holds the paths that a list stands for, in its order.
#[derive(Debug)]
pub(super) struct ResolvedPaths {
    pub(super) paths: Vec<ListedPath>,
    /// True if one path was named, without a glob.
    pub(super) is_single: bool,
}

/// Is one path that a list stands for.
#[derive(Debug)]
pub(super) struct ListedPath {
    pub(super) location: WorkspacePath,
    /// The path without links in its directory, relative to the workspace.
    pub(super) resolved: PathBuf,
}

impl PathList {
    /// Returns the paths as they were given.
    pub(super) fn given(&self) -> &[String] {
        &self.given
    }

    /// Returns "Deleting `a`", or "Deleting 3 paths"; none if no path is named.
    pub(super) fn describe_activity(&self, verb: &str) -> Option<String> {
        match self.given.as_slice() {
            [] => None,
            [path] => describe_activity(verb, path),
            paths => Some(format!("{verb} {} paths", paths.len())),
        }
    }

    /// Finds the paths that are meant now. A path that exists is no glob, whatever its name.
    pub(super) fn resolve(&self, workspace: &Workspace) -> Result<ResolvedPaths, ToolError> {
        if self.given.is_empty() {
            return Err(ToolError::Arguments("the list of paths is empty".to_owned()));
        }
        let mut paths: Vec<ListedPath> = Vec::new();
        let mut known = BTreeSet::new();
        let mut named = BTreeSet::new();
        let mut is_single = self.given.len() == 1;
        for given in &self.given {
            let location = workspace.check_path(given)?;
            let found = if has_wildcard(given) && !workspace.has_entry(&location) {
                is_single = false;
                expand_glob(workspace, &location)?
            } else {
                let resolved = workspace.resolve_entry(&location)?;
                named.insert(resolved.clone());
                vec![ListedPath { location, resolved }]
            };
            paths.extend(found.into_iter().filter(|path| known.insert(path.resolved.clone())));
            if paths.len() > MAX_LISTED_PATHS {
                return Err(ToolError::Failed(format!(
                    "these are more than {MAX_LISTED_PATHS} paths; name fewer, or their directory"
                )));
            }
        }
        let lies_in_other =
            |path: &Path| path.ancestors().skip(1).any(|above| known.contains(above));
        if let Some(path) = named.iter().find(|path| lies_in_other(path)) {
            let shown = WorkspacePath::from_workspace_path(path).shown().to_owned();
            return Err(ToolError::Failed(format!(
                "{shown} lies in another one of the paths; name only one of them"
            )));
        }
        // With a directory comes what is in it.
        paths.retain(|path| !lies_in_other(&path.resolved));
        Ok(ResolvedPaths { paths, is_single })
    }
}

fn expand_glob(
    workspace: &Workspace,
    location: &WorkspacePath,
) -> Result<Vec<ListedPath>, ToolError> {
    let shown = location.shown();
    let components: Vec<Component<'_>> = location.path().components().collect();
    if components.iter().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(ToolError::Failed(format!("{shown}: write the glob without ..")));
    }
    let is_pattern = |part: &Component<'_>| has_wildcard(&part.as_os_str().to_string_lossy());
    let first = components.iter().position(is_pattern).unwrap_or(components.len());
    let (above, pattern) = components.split_at(first);
    let base: PathBuf = if above.is_empty() { ".".into() } else { above.iter().collect() };
    let pattern: PathBuf = pattern.iter().collect();
    let pattern = pattern.to_string_lossy();
    let base = WorkspacePath::from_workspace_path(&base);
    workspace.open_directory(&base)?;
    let mut walk = GlobWalk {
        workspace,
        glob: PathGlob::new(&pattern)?,
        base: workspace.canonicalize(&base)?,
        finds_dotted: pattern.split(['/', '{', ',']).any(|part| part.starts_with('.')),
        // A pattern without these has as many names as the paths that it matches.
        depth: if pattern.contains("**") || pattern.contains('{') {
            usize::MAX
        } else {
            pattern.split('/').count()
        },
        compared: 0,
        found: Vec::new(),
    };
    let start = walk.base.clone();
    walk.walk_directory(&start, 1, shown)?;
    if walk.found.is_empty() {
        return Err(ToolError::Failed(format!(
            "nothing matches {shown}; fs_find shows what there is"
        )));
    }
    let listed = |path: PathBuf| ListedPath {
        location: WorkspacePath::from_workspace_path(&path),
        resolved: path,
    };
    Ok(walk.found.into_iter().map(listed).collect())
}

struct GlobWalk<'a> {
    workspace: &'a Workspace,
    glob: PathGlob,
    base: PathBuf,
    /// True if names that begin with a dot are meant, too.
    finds_dotted: bool,
    depth: usize,
    compared: usize,
    found: Vec<PathBuf>,
}

impl GlobWalk<'_> {
    fn walk_directory(&mut self, path: &Path, depth: usize, shown: &str) -> Result<(), ToolError> {
        let opened = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        // What cannot be listed has nothing that could be shown in a question.
        let Ok(directory) = self.workspace.open_walked(opened) else { return Ok(()) };
        let Ok(names) = read_entries(&directory) else { return Ok(()) };
        for (name, kind) in names {
            let path = path.join(&name);
            let is_dotted = name.as_encoded_bytes().starts_with(b".");
            let is_left_out = is_git(&name) || (is_dotted && !self.finds_dotted);
            if is_left_out || self.workspace.is_hidden(&path) {
                continue;
            }
            self.compared += 1;
            let is_match = path.strip_prefix(&self.base).is_ok_and(|path| self.glob.is_exact(path));
            if is_match {
                self.found.push(path.clone());
            }
            let max_found = MAX_LISTED_PATHS + 1;
            if self.compared > MAX_COMPARED_ENTRIES || self.found.len() > max_found {
                return Err(ToolError::Failed(format!(
                    "{shown} matches too much, or has to be looked for in too many places; narrow it"
                )));
            }
            // What is in a directory that matches comes with it.
            if kind == EntryKind::Directory && !is_match && depth < self.depth {
                self.walk_directory(&path, depth + 1, shown)?;
            }
        }
        Ok(())
    }
}
