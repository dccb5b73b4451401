//! The table of seams in `ARCHITECTURE.md` is the list of traits that cross a crate's border.
//!
//! A seam is a trait that is `pub`, declared in the `src` folder of a crate of the product, and
//! implemented by code outside of that folder: by another crate, or by the crate's own tests.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};

use crate::dependency_direction::is_outside;
use crate::document_tables;
use crate::manifests::Workspace;
use crate::repository_files::{files_below, from_root, read};
use crate::rust_source::{balanced, code_only, tokens};

const MAP: &str = "ARCHITECTURE.md";
const HEADING: &str = "## The seams";

/// Fails with the traits that are missing in the table, and with the lines that are not true.
pub(crate) fn check_or_explain(root: &Path, workspace: &Workspace) -> Result<()> {
    let code = Code::read(root, workspace)?;
    let problems = code.problems(&rows(&read(&root.join(MAP))?)?);
    if problems.is_empty() {
        return Ok(());
    }
    bail!("the table {HEADING:?} of {MAP} is not true:\n  {}", problems.join("\n  "));
}

/// A line of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: String,
    file: String,
    implementors: Vec<String>,
}

/// Reads the table.
fn rows(map: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for cells in document_tables::rows(map, HEADING)? {
        let [name, file, _, implementors] = &cells[..] else {
            bail!("{MAP} has a seam without four cells: {cells:?}")
        };
        let first = |cell: &str| quoted(cell).next().unwrap_or_default().to_owned();
        // A path beside a name says where it is.
        let implementors = quoted(implementors).filter(|name| !name.contains('/'));
        let implementors = implementors.map(str::to_owned).collect();
        rows.push(Row { name: first(name), file: first(file), implementors });
    }
    Ok(rows)
}

/// Returns what stands in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// A trait as it is declared.
#[derive(Debug, PartialEq, Eq)]
struct Declaration {
    name: String,
    /// The crate's name in code.
    crate_name: String,
    /// The crate's sources, from the root.
    source: String,
    file: String,
}

/// An implementation of a trait.
#[derive(Debug, PartialEq, Eq)]
struct Implementation {
    /// The path of the trait, as it is written.
    path: Vec<String>,
    implementor: String,
    file: String,
}

/// All traits and implementations.
#[derive(Debug, Default)]
struct Code {
    declarations: Vec<Declaration>,
    implementations: Vec<Implementation>,
}

impl Code {
    fn read(root: &Path, workspace: &Workspace) -> Result<Self> {
        let mut code = Self::default();
        for member in &workspace.members {
            let source = format!("{}/src", member.folder);
            let crate_name = member.name.replace('-', "_");
            for file in files_below(&root.join(&member.folder), &["rs"])? {
                let text = code_only(&read(&file)?);
                let file = from_root(root, &file);
                let declares = !is_outside(member) && file.starts_with(&format!("{source}/"));
                code.add(&text, &file, declares.then_some((&crate_name, &source)));
            }
        }
        Ok(code)
    }

    /// Adds a file; its traits only where it is one of a crate of the product.
    fn add(&mut self, text: &str, file: &str, product: Option<(&str, &str)>) {
        let tokens = tokens(text);
        if let Some((crate_name, source)) = product {
            let declared = tokens.windows(3).filter(|three| three[..2] == ["pub", "trait"]);
            self.declarations.extend(declared.map(|three| Declaration {
                name: three[2].to_owned(),
                crate_name: crate_name.to_owned(),
                source: source.to_owned(),
                file: file.to_owned(),
            }));
        }
        let starts = tokens.iter().enumerate().filter(|(_, token)| **token == "impl");
        let found = starts.filter_map(|(at, _)| implementation(&tokens[at + 1..]));
        self.implementations.extend(found.map(|(path, implementor)| Implementation {
            path,
            implementor,
            file: file.to_owned(),
        }));
    }

    fn problems(&self, rows: &[Row]) -> Vec<String> {
        let mut problems = Vec::new();
        let listed: BTreeSet<(&str, &str)> =
            rows.iter().map(|row| (&*row.name, &*row.file)).collect();
        for seam in self.declarations.iter().filter(|one| self.is_seam(one)) {
            if !listed.contains(&(&*seam.name, &*seam.file)) {
                let Declaration { name, file, .. } = seam;
                problems.push(format!("`{name}` in `{file}` is a seam and not listed. Add it"));
            }
        }
        for Row { name, file, implementors } in rows {
            let declaration =
                self.declarations.iter().find(|one| one.name == *name && one.file == *file);
            match declaration {
                None => problems.push(format!("`{file}` declares no public trait `{name}`")),
                Some(declaration) if !self.is_seam(declaration) => problems.push(format!(
                    "`{name}` is implemented in its own crate only, so it is no seam. Remove it"
                )),
                Some(_) => {}
            }
            for implementor in implementors {
                let implements = |one: &Implementation| {
                    one.implementor == *implementor && one.path.last() == Some(name)
                };
                if !self.implementations.iter().any(implements) {
                    problems.push(format!("`{implementor}` does not implement `{name}`"));
                }
            }
        }
        problems
    }

    fn is_seam(&self, declaration: &Declaration) -> bool {
        let Declaration { name, crate_name, source, .. } = declaration;
        self.implementations.iter().any(|one| {
            let outside = !one.file.starts_with(&format!("{source}/"));
            // Another library may have a trait of the same name.
            let own = one.path.len() == 1 || one.path.first() == Some(crate_name);
            outside && own && one.path.last() == Some(name)
        })
    }
}

/// Reads what follows `impl`: the path of a trait and the name of what it is implemented for. None
/// where no trait is implemented.
fn implementation(after: &[&str]) -> Option<(Vec<String>, String)> {
    let mut rest = after;
    if rest.first() == Some(&"<") {
        rest = &rest[balanced(rest, "<", ">")..];
    }
    let (path, rest) = path(rest)?;
    let (_, rest) = rest.split_first().filter(|(token, _)| **token == "for")?;
    let implementor = rest.iter().find(|token| is_name(token))?;
    Some((path, (*implementor).to_owned()))
}

/// Reads a path with its generic arguments, which are left out.
fn path<'a>(tokens: &'a [&'a str]) -> Option<(Vec<String>, &'a [&'a str])> {
    let mut path = Vec::new();
    let mut rest = tokens;
    loop {
        let (name, after) = rest.split_first().filter(|(token, _)| is_name(token))?;
        path.push((*name).to_owned());
        rest = after;
        if rest.first() == Some(&"<") {
            rest = &rest[balanced(rest, "<", ">")..];
        }
        let [":", ":", after @ ..] = rest else { return Some((path, rest)) };
        rest = after;
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "## The seams\n\n| trait | in | answers | implemented by |\n|---|---|---|---|\n\
        | `Tool` | `crates/tool/src/lib.rs` | what? | `Read`, in `crates/files` |\n\n## Next\n| `x` |";

    fn code() -> Code {
        let mut code = Code::default();
        let tool = Some(("lango_tool", "crates/tool/src"));
        let declared = "pub trait Tool<T> {} pub(crate) trait Inner {} pub trait Local {} \
                        impl Local for u8 {} impl<T: Fn() -> u8> Tool<T> for Own<T> {}";
        code.add(declared, "crates/tool/src/lib.rs", tool);
        let other = "impl lango_tool::Tool<u8> for Read {} impl std::fmt::Local for Read {}\n\
                     impl Read { fn a() -> impl Local + Send {} }";
        code.add(other, "crates/files/src/lib.rs", Some(("lango_files", "crates/files/src")));
        code
    }

    #[test]
    fn the_seams_of_this_workspace_are_the_table() {
        let root = crate::cargo::root().unwrap();
        check_or_explain(&root, &Workspace::read(&root).unwrap()).unwrap();
    }

    #[test]
    fn a_true_table_is_accepted() {
        let rows = rows(TABLE).unwrap();
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(code().problems(&rows), Vec::<String>::new());
    }

    #[test]
    fn a_trait_that_another_crate_or_a_test_implements_has_to_be_listed() {
        let mut code = code();
        code.add("impl Local for Fake {}", "crates/tool/tests/suite.rs", None);
        let problems = code.problems(&rows(TABLE).unwrap());
        let expected = "`Local` in `crates/tool/src/lib.rs` is a seam and not listed. Add it";
        assert_eq!(problems, [expected]);
    }

    #[test]
    fn a_line_that_is_not_true_is_found() {
        let table = TABLE.replace("`Read`", "`Write`") + "";
        assert_eq!(code().problems(&rows(&table).unwrap()), ["`Write` does not implement `Tool`"]);
        let table = TABLE.replace("tool/src/lib.rs", "tool/src/gone.rs");
        assert_eq!(
            code().problems(&rows(&table).unwrap()),
            [
                "`Tool` in `crates/tool/src/lib.rs` is a seam and not listed. Add it",
                "`crates/tool/src/gone.rs` declares no public trait `Tool`",
            ]
        );
        let table = TABLE.replace(
            "\n\n## Next",
            "\n| `Local` | `crates/tool/src/lib.rs` | what? | the tests |\n\n## Next",
        );
        assert_eq!(
            code().problems(&rows(&table).unwrap()),
            ["`Local` is implemented in its own crate only, so it is no seam. Remove it"]
        );
    }
}
