//! `cargo xtask new-agent NAME`: a crate of a new agent that compiles, from `xtask/templates/agent`.
//!
//! The template is a crate of its own whose agent is called `sample`; a new agent is that crate under
//! another name. `cargo xtask check-agent-template` compiles one outside of this workspace.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use toml::{Table, Value};

use crate::repository_files::read;
use crate::{cargo, document_tables};

/// The files of the template, by where they go.
const TEMPLATE: &[(&str, &str)] = &[
    ("crates/agents/sample/Cargo.toml", include_str!("../templates/agent/Cargo.toml")),
    ("crates/agents/sample/src/lib.rs", include_str!("../templates/agent/src/lib.rs")),
    ("crates/agents/sample/src/agent.rs", include_str!("../templates/agent/src/agent.rs")),
    ("crates/agents/sample/src/notes.rs", include_str!("../templates/agent/src/notes.rs")),
    ("crates/agents/sample/src/tools/mod.rs", include_str!("../templates/agent/src/tools/mod.rs")),
    (
        "crates/agents/sample/src/tools/add_note.rs",
        include_str!("../templates/agent/src/tools/add_note.rs"),
    ),
    ("topologies/standard/sample.md", include_str!("../templates/agent/topology.md")),
];

const GUIDE: &str = "CONTRIBUTING.md";
const SECTION: &str = "## Add an agent crate";

/// Makes the crate, and says what to do next.
pub(crate) fn run(name: &str) -> Result<()> {
    let root = cargo::root()?;
    let name = AgentName::parse(name)?;
    let next = next_steps(&read(&root.join(GUIDE))?)?;
    let files = generate(&root, &name)?;
    cargo::run(&["fmt", "--package", &name.package()])?;
    println!("Made:");
    for file in files {
        println!("  {file}");
    }
    println!("\nThe agent stores notes; replace them by what it is for. Then touch:");
    for (file, what) in next {
        println!("  {file}: {what}");
    }
    println!("\n{GUIDE} says more, under \"{}\".", SECTION.trim_start_matches("## "));
    println!("To test it: cargo test -p {}", name.package());
    Ok(())
}

/// Makes an agent in a workspace of its own and compiles it with its tests, without a warning. The
/// crates that it uses are those of this workspace, compiled into the same target directory; once they
/// are, this takes a few seconds.
pub(crate) fn check() -> Result<()> {
    let root = cargo::root()?;
    let other = tempfile::tempdir().context("could not make a temporary directory")?;
    let name = AgentName::parse("archivist")?;
    generate(other.path(), &name)?;
    let manifest = workspace_of_one(&read(&root.join("Cargo.toml"))?, &root, &name)?;
    std::fs::write(other.path().join("Cargo.toml"), manifest)?;
    for file in ["Cargo.lock", "clippy.toml", "rust-toolchain.toml", "rustfmt.toml"] {
        let copied = std::fs::copy(root.join(file), other.path().join(file));
        copied.with_context(|| format!("could not copy {file}"))?;
    }
    let run = |arguments: &[&str]| -> Result<()> {
        let mut command = cargo::command(arguments)?;
        if !command.get_envs().any(|(variable, _)| variable == TARGET_DIRECTORY) {
            let set = std::env::var_os(TARGET_DIRECTORY).filter(|value| !value.is_empty());
            command.env(TARGET_DIRECTORY, set.map_or_else(|| root.join("target"), Into::into));
        }
        cargo::check(command.current_dir(other.path()))
    };
    run(&["clippy", "--offline", "--all-targets", "--", "-D", "warnings"])
        .context("the template of an agent crate does not compile")?;
    run(&["fmt", "--check"]).context("the template of an agent crate is not formatted")
}

const TARGET_DIRECTORY: &str = "CARGO_TARGET_DIR";

/// Returns the manifest of a workspace that has one agent. Everything that members inherit stays; the
/// other crates are found in this workspace.
fn workspace_of_one(manifest: &str, root: &Path, name: &AgentName) -> Result<String> {
    let mut manifest: Table = manifest.parse().context("Cargo.toml is not valid")?;
    let workspace = manifest.get_mut("workspace").and_then(Value::as_table_mut);
    let workspace = workspace.context("Cargo.toml has no workspace")?;
    workspace.insert("members".to_owned(), Value::Array(vec![name.folder().into()]));
    workspace.remove("default-members");
    let dependencies = workspace.get_mut("dependencies").and_then(Value::as_table_mut);
    for (_, dependency) in dependencies.into_iter().flatten() {
        if let Some(path) = dependency.get_mut("path") {
            let relative = path.as_str().context("a path in Cargo.toml is not valid")?;
            *path = root.join(relative).to_string_lossy().into_owned().into();
        }
    }
    Ok(toml::to_string(&manifest)?)
}

/// The name of an agent that has a crate.
#[derive(Debug, PartialEq, Eq)]
struct AgentName(String);

impl AgentName {
    /// Takes one word in lower case: it is part of the names of a crate, of types and of tools.
    fn parse(name: &str) -> Result<Self> {
        let is_word = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        ensure!(
            is_word,
            "{name:?} is no name for an agent: one word of lower-case letters and digits is. \
             Example: cargo xtask new-agent archivist"
        );
        Ok(Self(name.to_owned()))
    }

    fn package(&self) -> String {
        format!("lango-{}", self.0)
    }

    fn folder(&self) -> String {
        format!("crates/agents/{}", self.0)
    }

    /// Puts the name in place of that of the template.
    fn fill(&self, text: &str) -> String {
        let (first, rest) = self.0.split_at(1);
        let capitalised = first.to_uppercase() + rest;
        let filled: Vec<String> =
            text.split("Sample").map(|part| part.replace("sample", &self.0)).collect();
        filled.join(&capitalised)
    }
}

/// Writes the files, and returns their paths. Nothing is written where one exists.
fn generate(root: &Path, name: &AgentName) -> Result<Vec<String>> {
    let files: Vec<(String, String)> =
        TEMPLATE.iter().map(|(path, text)| (name.fill(path), name.fill(text))).collect();
    for (path, _) in &files {
        ensure!(!root.join(path).exists(), "{path} exists already");
    }
    for (path, text) in &files {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("could not make {}", folder.display()))?;
        }
        std::fs::write(&path, text)
            .with_context(|| format!("could not write {}", path.display()))?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

/// Returns the existing files that have to know a new agent, and what is added to each.
fn next_steps(guide: &str) -> Result<Vec<(String, String)>> {
    let steps: Vec<(String, String)> = document_tables::rows(guide, SECTION)?
        .into_iter()
        .filter_map(|cells| {
            let [file, what] = &cells[..] else { return None };
            Some((file.trim_matches('`').to_owned(), what.clone()))
        })
        .collect();
    if steps.is_empty() {
        bail!("{GUIDE} has no table of files under {SECTION:?}");
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> AgentName {
        AgentName::parse(text).unwrap()
    }

    #[test]
    fn the_template_has_the_name_of_the_agent_everywhere() {
        let root = tempfile::tempdir().unwrap();
        let files = generate(root.path(), &name("archivist")).unwrap();
        assert_eq!(files.len(), TEMPLATE.len());
        for file in files {
            let text = read(&root.path().join(&file)).unwrap();
            assert!(!text.to_lowercase().contains("sample"), "{file}: {text}");
        }
        let agent = read(&root.path().join("crates/agents/archivist/src/agent.rs")).unwrap();
        assert!(agent.contains("pub struct ArchivistAgent {"), "{agent}");
    }

    #[test]
    fn a_workspace_of_one_agent_uses_the_crates_of_this_one() {
        let manifest = "[workspace]\nmembers = [\"a\"]\ndefault-members = [\"a\"]\n\
                        [workspace.dependencies]\na = { path = \"a\" }\nserde = \"1\"\n\
                        [profile.dev]\ndebug = false";
        let made = workspace_of_one(manifest, Path::new("/checkout"), &name("archivist")).unwrap();
        let expected = "[workspace]\nmembers = [\"crates/agents/archivist\"]\n\
                        [workspace.dependencies]\na = { path = \"/checkout/a\" }\nserde = \"1\"\n\
                        [profile.dev]\ndebug = false";
        assert_eq!(made.parse::<Table>().unwrap(), expected.parse::<Table>().unwrap());
    }

    #[test]
    fn a_name_within_the_name_is_left_alone() {
        assert_eq!(name("sampler").fill("Sample sample_x"), "Sampler sampler_x");
    }

    #[test]
    fn every_file_of_the_template_is_used() {
        let folder = cargo::root().unwrap().join("xtask/templates/agent");
        let files = crate::repository_files::files_below(&folder, &["rs", "toml", "md"]).unwrap();
        assert_eq!(files.len(), TEMPLATE.len(), "{files:?}");
    }

    #[test]
    fn an_agent_that_exists_is_not_overwritten() {
        let root = tempfile::tempdir().unwrap();
        generate(root.path(), &name("archivist")).unwrap();
        let error = generate(root.path(), &name("archivist")).unwrap_err().to_string();
        assert_eq!(error, "crates/agents/archivist/Cargo.toml exists already");
    }

    #[test]
    fn names_are_single_words() {
        for bad in ["", "Archivist", "file-clerk", "9lives", "../x", "two words"] {
            assert!(AgentName::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_guide_names_at_most_eight_existing_files_for_a_new_agent() {
        let root = cargo::root().unwrap();
        let steps = next_steps(&read(&root.join(GUIDE)).unwrap()).unwrap();
        assert!((1..=8).contains(&steps.len()), "{steps:?}");
        for (file, _) in steps {
            assert!(root.join(&file).is_file(), "{file}");
        }
    }
}
