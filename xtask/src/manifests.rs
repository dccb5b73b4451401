//! The workspace as its manifests describe it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use toml::{Table, Value};

/// The crates of the workspace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Workspace {
    pub(crate) members: Vec<Member>,
    /// The dependencies that members share, under their names in code.
    pub(crate) shared_dependencies: Vec<String>,
}

/// A crate of the workspace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its package name.
    pub(crate) name: String,
    /// Its directory, from the root, with `/`.
    pub(crate) folder: String,
    /// All its direct dependencies: for use, for tests and for building.
    pub(crate) dependencies: Vec<Dependency>,
}

/// A direct dependency of a crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dependency {
    /// Its package name.
    pub(crate) name: String,
    /// Its name in code.
    pub(crate) code_name: String,
    /// True if the crate's tests alone use it.
    pub(crate) only_in_tests: bool,
}

impl Workspace {
    /// Reads the manifests below `root`.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let read = |folder: &str| {
            let path = root.join(folder).join("Cargo.toml");
            std::fs::read_to_string(&path)
                .with_context(|| format!("could not read {}", path.display()))
        };
        let workspace = read("")?;
        let mut manifests = Vec::new();
        for pattern in member_patterns(&workspace)? {
            for folder in folders(root, &pattern)? {
                let manifest = read(&folder)?;
                manifests.push((folder, manifest));
            }
        }
        let manifests: Vec<(&str, &str)> =
            manifests.iter().map(|(folder, text)| (folder.as_str(), text.as_str())).collect();
        Self::parse(&workspace, &manifests)
    }

    /// Takes the workspace's manifest and, by folder, those of its members.
    pub(crate) fn parse(workspace: &str, manifests: &[(&str, &str)]) -> Result<Self> {
        let workspace: Table = workspace.parse().context("Cargo.toml is not valid")?;
        let shared = table(&workspace, &["workspace", "dependencies"]);
        let renamed: BTreeMap<&str, &str> = shared
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.as_str(), value.get("package")?.as_str()?)))
            .collect();
        let shared_dependencies =
            shared.into_iter().flatten().map(|(key, _)| key.replace('-', "_")).collect();
        let mut members = Vec::new();
        for (folder, text) in manifests {
            let manifest: Table =
                text.parse().with_context(|| format!("{folder}/Cargo.toml is not valid"))?;
            let name = table(&manifest, &["package"])
                .and_then(|package| package.get("name")?.as_str())
                .with_context(|| format!("{folder}/Cargo.toml has no package name"))?;
            members.push(Member {
                name: name.to_owned(),
                folder: (*folder).to_owned(),
                dependencies: dependencies(&manifest, &renamed),
            });
        }
        Ok(Self { members, shared_dependencies })
    }
}

fn table<'a>(mut table: &'a Table, path: &[&str]) -> Option<&'a Table> {
    for key in path {
        table = table.get(*key)?.as_table()?;
    }
    Some(table)
}

fn member_patterns(workspace: &str) -> Result<Vec<String>> {
    let workspace: Table = workspace.parse().context("Cargo.toml is not valid")?;
    let members = table(&workspace, &["workspace"])
        .and_then(|workspace| workspace.get("members")?.as_array())
        .context("Cargo.toml has no workspace members")?;
    Ok(members.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// The folders of a pattern; like cargo, a `*` stands for one whole folder name here.
fn folders(root: &Path, pattern: &str) -> Result<Vec<String>> {
    let Some(parent) = pattern.strip_suffix("/*") else { return Ok(vec![pattern.to_owned()]) };
    let entries = std::fs::read_dir(root.join(parent))
        .with_context(|| format!("could not read the folder {parent}"))?;
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.path().join("Cargo.toml").is_file() {
            folders.push(format!("{parent}/{}", entry.file_name().to_string_lossy()));
        }
    }
    folders.sort();
    Ok(folders)
}

fn dependencies(manifest: &Table, renamed: &BTreeMap<&str, &str>) -> Vec<Dependency> {
    const TESTS: &str = "dev-dependencies";
    const KINDS: [&str; 3] = ["dependencies", "build-dependencies", TESTS];
    let targets = table(manifest, &["target"]).into_iter().flatten();
    let places = std::iter::once(manifest).chain(targets.filter_map(|(_, t)| t.as_table()));
    let tables = places
        .flat_map(|place| KINDS.iter().filter_map(|kind| Some((*kind, table(place, &[kind])?))));
    let mut found = BTreeMap::new();
    for (kind, entries) in tables {
        for (key, value) in entries {
            let name = package_name(key, value, renamed).to_owned();
            let (_, only_in_tests) =
                found.entry(name).or_insert_with(|| (key.replace('-', "_"), true));
            *only_in_tests &= kind == TESTS;
        }
    }
    let dependency =
        |(name, (code_name, only_in_tests))| Dependency { name, code_name, only_in_tests };
    found.into_iter().map(dependency).collect()
}

/// The package behind a key, which may be another name for it.
fn package_name<'a>(key: &'a str, value: &'a Value, renamed: &BTreeMap<&str, &'a str>) -> &'a str {
    let shared = value.get("workspace").and_then(Value::as_bool) == Some(true);
    let own = value.get("package").and_then(Value::as_str);
    let shared = || renamed.get(key).copied().filter(|_| shared);
    own.or_else(shared).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_every_kind_are_found_under_their_real_names() {
        let workspace = "[workspace]\nmembers = []\n[workspace.dependencies]\n\
                         other = { path = \"x\", package = \"lango-shared\" }";
        let manifest = "[package]\nname = \"a\"\n\
            [dependencies]\nplain = \"1\"\nother.workspace = true\n\
            [dev-dependencies]\nplain = \"1\"\n\
            local = { path = \"y\", package = \"lango-local\" }\n\
            [target.'cfg(unix)'.build-dependencies]\nlango-unix = \"1\"";
        let workspace = Workspace::parse(workspace, &[("crates/a", manifest)]).unwrap();
        let found = workspace.members[0].dependencies.iter();
        let found: Vec<(&str, &str, bool)> =
            found.map(|one| (&*one.name, &*one.code_name, one.only_in_tests)).collect();
        let expected = [
            ("lango-local", "local", true),
            ("lango-shared", "other", false),
            ("lango-unix", "lango_unix", false),
            ("plain", "plain", false),
        ];
        assert_eq!(found, expected);
    }
}
