//! Every dependency in a manifest is named by the code: one of the product by code that is no test, one
//! of the tests by anything.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};

use crate::manifests::{Dependency, Member, Workspace};
use crate::repository_files::{files_below, read};
use crate::rust_source::{code_only, is_test_file, tokens, without_test_modules};

/// Folders whose code is not part of the product.
const TEST_FOLDERS: [&str; 3] = ["tests", "benches", "examples"];

/// Dependencies that no code names, such as one that only turns on a feature of another: the member,
/// the dependency, and the reason.
const ALLOWED: &[(&str, &str, &str)] = &[];

/// The crates that the code of a member names.
#[derive(Debug, Default)]
struct NamedCrates {
    in_product: BTreeSet<String>,
    in_tests: BTreeSet<String>,
}

/// Fails with the dependencies that could be removed, or could be those of tests.
pub(crate) fn check_or_explain(root: &Path, workspace: &Workspace) -> Result<()> {
    let mut problems = surplus(workspace);
    for member in &workspace.members {
        let named = NamedCrates::read(&root.join(&member.folder))?;
        problems.extend(problems_of(member, &named, ALLOWED));
    }
    if problems.is_empty() {
        return Ok(());
    }
    bail!("dependencies that are not used:\n  {}", problems.join("\n  "));
}

/// Returns the shared dependencies that no member has.
fn surplus(workspace: &Workspace) -> Vec<String> {
    let dependencies = workspace.members.iter().flat_map(|member| &member.dependencies);
    let shared = workspace.shared_dependencies.iter();
    let surplus = shared.filter(|name| !dependencies.clone().any(|one| one.code_name == **name));
    surplus.map(|name| format!("Cargo.toml: no member depends on {name}. Remove it")).collect()
}

fn problems_of(
    member: &Member,
    named: &NamedCrates,
    allowed: &[(&str, &str, &str)],
) -> Vec<String> {
    let manifest = format!("{}/Cargo.toml", member.folder);
    let problem = |dependency: &Dependency| {
        let name = &dependency.name;
        let is_allowed = allowed.iter().any(|(of, on, _)| *of == member.name && on == name);
        let in_product = named.in_product.contains(&dependency.code_name);
        let in_tests = named.in_tests.contains(&dependency.code_name);
        match (is_allowed, in_product, in_tests) {
            (false, false, false) => Some(format!("{manifest}: nothing names {name}. Remove it")),
            (false, false, true) if !dependency.only_in_tests => {
                Some(format!("{manifest}: only tests name {name}. Make it a dev-dependency"))
            }
            (true, true, _) => Some(format!(
                "{manifest}: the code names {name}. Remove it from ALLOWED in \
                 xtask/src/unused_dependencies.rs"
            )),
            _ => None,
        }
    };
    member.dependencies.iter().filter_map(problem).collect()
}

impl NamedCrates {
    fn read(folder: &Path) -> Result<Self> {
        let mut named = Self::default();
        let source = folder.join("src");
        for file in files_below(&source, &["rs"])? {
            let text = read(&file)?;
            let code = code_only(&text);
            let all = tokens(&code);
            if is_test_file(file.strip_prefix(&source)?) {
                named.in_tests.extend(crate_names(&all));
            } else {
                named.in_product.extend(crate_names(&without_test_modules(&all)));
                named.in_tests.extend(crate_names(&all));
            }
        }
        let build = folder.join("build.rs");
        if build.is_file() {
            let text = read(&build)?;
            named.in_product.extend(crate_names(&tokens(&code_only(&text))));
            // Code that a build script takes out of a document becomes part of the crate.
            for document in included_documents(&text) {
                let code = rust_blocks(&read(&folder.join(document))?);
                let code = code_only(&code);
                let all = tokens(&code);
                named.in_product.extend(crate_names(&without_test_modules(&all)));
                named.in_tests.extend(crate_names(&all));
            }
        }
        for tests in TEST_FOLDERS {
            for file in files_below(&folder.join(tests), &["rs"])? {
                named.in_tests.extend(crate_names(&tokens(&code_only(&read(&file)?))));
            }
        }
        Ok(named)
    }
}

/// Returns every name that a path begins with, and every name that is imported as a whole. Modules of
/// the crate itself are among them.
fn crate_names(tokens: &[&str]) -> BTreeSet<String> {
    let is_path = |at: usize| tokens.get(at..at + 2) == Some(&[":", ":"]);
    let before = |at: usize, back: usize| at.checked_sub(back).map_or("", |at| tokens[at]);
    let is_name =
        |token: &str| token != "use" && token.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let begins_path = |at: usize| {
        let follows_path = at >= 2 && is_path(at - 2);
        let root = before(at, 3);
        !follows_path || !(is_name(root) || root == ">")
    };
    let imported = |at: usize| {
        before(at, 1) == "use" || (before(at, 2) == "extern" && before(at, 1) == "crate")
    };
    let names = tokens.iter().enumerate().filter(|(at, token)| {
        is_name(token) && ((is_path(at + 1) && begins_path(*at)) || imported(*at))
    });
    names.map(|(_, token)| (*token).to_owned()).collect()
}

/// Returns the Markdown files that a source file includes.
fn included_documents(text: &str) -> Vec<&str> {
    let included = text.split("include_str!(\"").skip(1).filter_map(|rest| rest.split_once('"'));
    included
        .map(|(path, _)| path)
        .filter(|path| Path::new(path).extension().is_some_and(|one| one == "md"))
        .collect()
}

/// Returns the code of the blocks of a Markdown file that are marked as Rust.
fn rust_blocks(markdown: &str) -> String {
    let mut code = String::new();
    let mut language = None;
    for line in markdown.lines() {
        match (language, line.strip_prefix("```")) {
            (None, Some(mark)) => language = Some(mark),
            (Some(_), Some(_)) => language = None,
            (Some("rust"), None) => code += &format!("{line}\n"),
            _ => {}
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(code: &str) -> Vec<String> {
        crate_names(&tokens(&code_only(code))).into_iter().collect()
    }

    #[test]
    fn the_dependencies_of_this_workspace_are_used() {
        let root = crate::cargo::root().unwrap();
        check_or_explain(&root, &Workspace::read(&root).unwrap()).unwrap();
    }

    #[test]
    fn a_crate_is_named_by_the_beginning_of_a_path() {
        assert_eq!(
            names("use serde::Deserialize; fn a() { toml::from_str(x) }"),
            ["serde", "toml"]
        );
        assert_eq!(names("#[tokio::test] async fn b() { insta::assert_snapshot!(x) }").len(), 2);
        assert_eq!(names("extern crate c; pub use d; use ::e::F; x(::g::H)"), ["c", "d", "e", "g"]);
    }

    #[test]
    fn a_part_of_a_path_a_comment_or_a_string_names_no_crate() {
        assert_eq!(names("let x = crate::uuid::make();"), ["crate"]);
        assert!(names("// uuid::Uuid\nlet uuid = \"uuid::Uuid\";").is_empty());
    }

    #[test]
    fn code_in_an_included_document_is_found() {
        let text =
            "#![doc = include_str!(\"../GUIDE.md\")]\nconst A: &str = include_str!(\"a.txt\");";
        assert_eq!(included_documents(text), ["../GUIDE.md"]);
        let markdown =
            "text\n```sh\nb::c\n```\n```rust\nuse serde::D;\n```\ne::f\n```rust\ng::h\n```";
        assert_eq!(names(&rust_blocks(markdown)), ["g", "serde"]);
    }

    #[test]
    fn a_shared_dependency_without_a_member_is_found() {
        let workspace = "[workspace.dependencies]\nserde-x = \"1\"\nspare = \"1\"";
        let manifest = "[package]\nname = \"a\"\n[dependencies]\nserde-x.workspace = true";
        let workspace = Workspace::parse(workspace, &[("crates/a", manifest)]).unwrap();
        assert_eq!(surplus(&workspace), ["Cargo.toml: no member depends on spare. Remove it"]);
    }

    #[test]
    fn a_dependency_is_used_where_its_kind_says() {
        let manifest = "[package]\nname = \"a\"\n[dependencies]\nused = \"1\"\nunused = \"1\"\n\
                        for-tests = \"1\"\nfeature-only = \"1\"\n[dev-dependencies]\ntested = \"1\"";
        let workspace = Workspace::parse("[workspace]", &[("crates/a", manifest)]).unwrap();
        let named = NamedCrates {
            in_product: names("used::x").into_iter().collect(),
            in_tests: names("used::x; tested::x; for_tests::x").into_iter().collect(),
        };
        let allowed = [("a", "feature-only", "turns on a feature"), ("a", "used", "no reason")];
        assert_eq!(
            problems_of(&workspace.members[0], &named, &allowed),
            [
                "crates/a/Cargo.toml: only tests name for-tests. Make it a dev-dependency",
                "crates/a/Cargo.toml: nothing names unused. Remove it",
                "crates/a/Cargo.toml: the code names used. Remove it from ALLOWED in \
                 xtask/src/unused_dependencies.rs",
            ]
        );
    }
}
