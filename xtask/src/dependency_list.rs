//! Every dependency has a reason: `docs/dependencies.md` lists what the manifests use, and nothing
//! else. What the product uses and what tests alone use are two lists.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::dependency_direction::is_outside;
use crate::manifests::Workspace;

const LIST: &str = "docs/dependencies.md";
/// The heading of what is no part of the product.
const TESTS_HEADING: &str = "## In tests and benchmarks only";

/// Fails with what is missing in the list, and what is there for no reason.
pub(crate) fn check_or_explain(root: &Path, workspace: &Workspace) -> Result<()> {
    let list = std::fs::read_to_string(root.join(LIST))
        .with_context(|| format!("could not read {LIST}"))?;
    let problems = problems(workspace, &list);
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{LIST} is not up to date:\n  {}", problems.join("\n  "));
}

fn problems(workspace: &Workspace, list: &str) -> Vec<String> {
    let (product, tests) = list.split_once(TESTS_HEADING).unwrap_or((list, ""));
    let (in_product, all) = (product_dependencies(workspace), all_dependencies(workspace));
    let only_in_tests: BTreeSet<&str> = all.difference(&in_product).copied().collect();
    let mut problems = Vec::new();
    for (list, used, name) in
        [(product, &in_product, "product"), (tests, &only_in_tests, "tests and benchmarks")]
    {
        let listed: BTreeSet<&str> = list.lines().filter_map(listed_name).collect();
        problems.extend(used.difference(&listed).map(|missing| {
            format!(
                "{missing} is used and not listed under {name}. Add a line with its reason and its \
                 licence"
            )
        }));
        problems.extend(listed.difference(used).map(|surplus| {
            format!("{surplus} is listed under {name} and not used there. Remove its line")
        }));
    }
    problems
}

/// Returns the external dependencies of every member.
fn all_dependencies(workspace: &Workspace) -> BTreeSet<&str> {
    let own: BTreeSet<&str> = workspace.members.iter().map(|member| &*member.name).collect();
    let dependencies = workspace.members.iter().flat_map(|member| &member.dependencies);
    dependencies.map(|one| &*one.name).filter(|name| !own.contains(name)).collect()
}

/// Returns the external dependencies that code of the product uses.
fn product_dependencies(workspace: &Workspace) -> BTreeSet<&str> {
    let all = all_dependencies(workspace);
    let members = workspace.members.iter().filter(|member| !is_outside(member));
    let dependencies = members.flat_map(|member| &member.dependencies);
    let product = dependencies.filter(|one| !one.only_in_tests).map(|one| &*one.name);
    product.filter(|name| all.contains(name)).collect()
}

/// The name in a line such as "| `serde` | …".
fn listed_name(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("| `")?.split_once('`')?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_this_workspace_is_up_to_date() {
        let root = crate::cargo::root().unwrap();
        check_or_explain(&root, &Workspace::read(&root).unwrap()).unwrap();
    }

    #[test]
    fn what_is_missing_and_what_is_surplus_is_found() {
        let manifest = "[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\nserde = \"1\"";
        let other = "[package]\nname = \"b\"\n[dev-dependencies]\ninsta = \"1\"";
        let outside = "[package]\nname = \"xtask\"\n[dependencies]\nzip = \"1\"\nserde = \"1\"";
        let manifests = [("a", manifest), ("b", other), ("xtask", outside)];
        let workspace = Workspace::parse("[workspace]", &manifests).unwrap();
        let good = format!("| `serde` | x |\n{TESTS_HEADING}\n| `insta` | x |\n| `zip` | x |");
        assert!(problems(&workspace, &good).is_empty());
        let bad = format!("| `zip` | x |\n{TESTS_HEADING}\n| `serde` | x |\n| `zip` | x |");
        let found = problems(&workspace, &bad).join("\n");
        assert_eq!(
            found,
            "serde is used and not listed under product. Add a line with its reason and its licence\n\
             zip is listed under product and not used there. Remove its line\n\
             insta is used and not listed under tests and benchmarks. Add a line with its reason \
             and its licence\n\
             serde is listed under tests and benchmarks and not used there. Remove its line"
        );
    }
}
