//! Every dependency has a reason: `docs/dependencies.md` lists what the manifests use, and nothing
//! else.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::manifests::Workspace;

const LIST: &str = "docs/dependencies.md";

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
    let own: BTreeSet<&str> = workspace.members.iter().map(|member| &*member.name).collect();
    let dependencies = workspace.members.iter().flat_map(|member| &member.dependencies);
    let used: BTreeSet<&str> =
        dependencies.map(|one| &*one.name).filter(|name| !own.contains(name)).collect();
    let listed: BTreeSet<&str> = list.lines().filter_map(listed_name).collect();
    let missing = used.difference(&listed).map(|name| {
        format!("{name} is used and not listed. Add a line with its reason and its licence")
    });
    let surplus = listed
        .difference(&used)
        .map(|name| format!("{name} is listed and not used. Remove its line"));
    missing.chain(surplus).collect()
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
        let manifests = [("a", manifest), ("b", other)];
        let workspace = Workspace::parse("[workspace]", &manifests).unwrap();
        let problems = problems(&workspace, "| library |\n| `serde` | x |\n| `toml` | `y` |");
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].starts_with("insta is used"), "{problems:?}");
        assert!(problems[1].starts_with("toml is listed"), "{problems:?}");
    }
}
