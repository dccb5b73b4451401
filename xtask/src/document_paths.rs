//! The paths in the documents of this repository lead somewhere.
//!
//! A path is what stands in backticks and begins with the name of a file or folder at the root, or, in
//! a section whose heading names a folder, with `src/` or `tests/` in that folder. The targets of links
//! are checked too. `NAME` and `*` stand for something that is not there yet.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};

use crate::repository_files::{files_below, from_root, read};

/// Folders whose documents describe this repository.
const FOLDERS: [&str; 5] = ["bench", "crates", "docs", "peers", "xtask"];
/// Folders whose Markdown is a template.
const TEMPLATES: [&str; 1] = ["xtask/templates/"];

/// Fails with the paths that do not exist.
pub(crate) fn check_or_explain(root: &Path) -> Result<()> {
    let mut problems = Vec::new();
    let top = names_in(root)?;
    for file in documents(root)? {
        let text = read(&root.join(&file))?;
        let folder = Path::new(&file).parent().unwrap_or(Path::new("")).to_owned();
        for (line, path) in paths(&text, &top) {
            if !root.join(&path).exists() {
                problems.push(format!("{file}:{line}: there is no `{path}`"));
            }
        }
        for (line, target) in link_targets(&text) {
            if !root.join(&folder).join(target).exists() {
                problems.push(format!("{file}:{line}: the link to {target} leads nowhere"));
            }
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    bail!("documents name files that do not exist:\n  {}", problems.join("\n  "));
}

/// Returns the documents, from the root.
pub(crate) fn documents(root: &Path) -> Result<Vec<String>> {
    let mut documents = Vec::new();
    for name in names_in(root)? {
        if Path::new(&name).extension().is_some_and(|one| one == "md") {
            documents.push(name);
        }
    }
    for folder in FOLDERS {
        let files = files_below(&root.join(folder), &["md"])?;
        documents.extend(files.iter().map(|file| from_root(root, file)));
    }
    documents.retain(|file| TEMPLATES.iter().all(|folder| !file.starts_with(folder)));
    Ok(documents)
}

fn names_in(folder: &Path) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in folder.read_dir()? {
        names.insert(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

/// Returns the paths of a document with their lines, each from the root.
fn paths(text: &str, top: &BTreeSet<String>) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    // The folder that the present section is about.
    let mut about = None;
    for (number, line) in lines_of_text(text) {
        let in_backticks: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let from_root = |path: &str| {
            let first = path.split('/').next().unwrap_or_default();
            path.contains('/') && top.contains(first)
        };
        if line.starts_with("## ") {
            about = in_backticks.iter().copied().find(|path| from_root(path));
        }
        for path in in_backticks.into_iter().filter(|path| is_one_path(path)) {
            if from_root(path) {
                paths.push((number, path.to_owned()));
            } else if let Some(folder) = about
                && (path.starts_with("src/") || path.starts_with("tests/"))
            {
                paths.push((number, format!("{folder}/{path}")));
            }
        }
    }
    paths
}

/// Returns whether a quotation is one path, and no pattern.
fn is_one_path(text: &str) -> bool {
    let is_placeholder = |part: &str| part.split('.').next() == Some("NAME");
    let pattern = text.contains(|c: char| c.is_whitespace() || "*{}<>…$:".contains(c));
    !pattern && !text.split('/').any(is_placeholder)
}

/// Returns the targets of links to files, with their lines.
fn link_targets(text: &str) -> Vec<(usize, &str)> {
    let mut targets = Vec::new();
    for (number, line) in lines_of_text(text) {
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', ' ', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                targets.push((number, target));
            }
        }
    }
    targets
}

/// Returns the numbered lines that are not in a block of code.
fn lines_of_text(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        (!in_code && !fence).then_some((index + 1, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_of_this_repository_name_files_that_exist() {
        check_or_explain(&crate::cargo::root().unwrap()).unwrap();
    }

    fn found(text: &str) -> Vec<String> {
        let top = ["crates", "docs", "README.md"].map(str::to_owned).into_iter().collect();
        paths(text, &top).into_iter().map(|(line, path)| format!("{line} {path}")).collect()
    }

    #[test]
    fn a_path_begins_at_the_root_or_in_the_folder_of_its_section() {
        let text = "`crates/a/src/b.rs` and `src/c.rs`\n## A call, inside `crates/a`\n\
                    `src/d.rs`, `tests/`, `other/e.rs`, `d.rs`\n## More\n`src/f.rs`";
        assert_eq!(
            found(text),
            ["1 crates/a/src/b.rs", "2 crates/a", "3 crates/a/src/d.rs", "3 crates/a/tests/"]
        );
    }

    #[test]
    fn patterns_placeholders_and_code_are_no_paths() {
        let text = "`crates/agents/*`, `crates/NAME/`, `docs/NAME.md`, `crates/{a,b}`\n\
                    ```sh\n`crates/x`\n```\n`docs/y.md`";
        assert_eq!(found(text), ["5 docs/y.md"]);
    }

    #[test]
    fn targets_of_links_are_files_and_no_addresses() {
        let text = "[a](docs/a.md) [b](https://x.y/z) [c](b.md#part) [d](#part)\n![e](e.svg)";
        assert_eq!(link_targets(text), [(1, "docs/a.md"), (1, "b.md"), (2, "e.svg")]);
    }
}
