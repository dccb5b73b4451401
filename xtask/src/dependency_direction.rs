//! The direction of dependencies: each room of the house knows only the rooms below it.

use std::fmt;

use anyhow::{Result, bail};

use crate::manifests::{Member, Workspace};

/// A floor of the house, from the bottom. A crate may depend on crates of lower floors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Vocabulary,
    Ground,
    Means,
    Turn,
    Specialists,
    Surfaces,
    Assembly,
    Clients,
}

/// Says which layer a crate belongs to, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CrateRole {
    In(Layer),
    /// One of the agents: on the specialists' floor, and known to the assembly and its clients alone.
    Agent,
    /// Support for tests, on a floor. Tests of every crate may use it; of the product the wiring alone.
    TestSupport(Layer),
    /// Beside the house: may depend on anything, and nothing may depend on it.
    Outside,
}

/// Every crate that is not an agent. Agents are recognised by their folder.
const CRATE_ROLES: &[(&str, CrateRole)] = &[
    ("lango-protocol", CrateRole::In(Layer::Vocabulary)),
    ("lango-text", CrateRole::In(Layer::Vocabulary)),
    ("lango-egress", CrateRole::In(Layer::Ground)),
    ("lango-encoder", CrateRole::In(Layer::Ground)),
    ("lango-phrases", CrateRole::In(Layer::Ground)),
    ("lango-places", CrateRole::In(Layer::Ground)),
    ("lango-redaction", CrateRole::In(Layer::Ground)),
    ("lango-sandbox", CrateRole::In(Layer::Ground)),
    ("lango-schedule", CrateRole::In(Layer::Ground)),
    ("lango-shell-command", CrateRole::In(Layer::Ground)),
    ("lango-skill", CrateRole::In(Layer::Ground)),
    ("lango-store", CrateRole::In(Layer::Ground)),
    ("lango-workflow", CrateRole::In(Layer::Ground)),
    ("lango-tool", CrateRole::In(Layer::Means)),
    ("lango-model", CrateRole::In(Layer::Means)),
    ("lango-retrieval", CrateRole::In(Layer::Means)),
    ("lango-payments", CrateRole::In(Layer::Means)),
    ("lango-notification", CrateRole::In(Layer::Means)),
    ("lango-keystore", CrateRole::In(Layer::Means)),
    ("lango-embedded", CrateRole::In(Layer::Turn)),
    ("lango-scripted", CrateRole::TestSupport(Layer::Turn)),
    ("lango-orchestration", CrateRole::In(Layer::Turn)),
    ("lango-runtime", CrateRole::In(Layer::Turn)),
    ("lango-a2a", CrateRole::In(Layer::Specialists)),
    ("lango-mcp", CrateRole::In(Layer::Specialists)),
    ("lango-server", CrateRole::In(Layer::Surfaces)),
    ("lango-app", CrateRole::In(Layer::Assembly)),
    ("lango-eval", CrateRole::In(Layer::Assembly)),
    ("lango-terminal", CrateRole::In(Layer::Clients)),
    ("lango-arguments", CrateRole::In(Layer::Clients)),
    ("lango", CrateRole::In(Layer::Clients)),
    ("lango-conformance", CrateRole::Outside),
    ("lango-chaos", CrateRole::Outside),
    ("lango-bench", CrateRole::Outside),
    ("lango-recipes", CrateRole::Outside),
    ("xtask", CrateRole::Outside),
];

/// Dependencies within a floor, each for a reason.
const WITHIN_A_LAYER: &[(&str, &str)] = &[
    // A sandbox hides and protects places.
    ("lango-sandbox", "lango-places"),
    // A request to a model declares the tools that it may call.
    ("lango-model", "lango-tool"),
    // A turn runs the agents of a tree.
    ("lango-runtime", "lango-orchestration"),
    // Commands print and ask at a terminal.
    ("lango", "lango-terminal"),
    // A command is a function of its arguments, which have types of what is printed.
    ("lango", "lango-arguments"),
    ("lango-arguments", "lango-terminal"),
];

const AGENTS_FOLDER: &str = "crates/agents/";

/// A dependency or crate that breaks the rules.
#[derive(Debug, PartialEq, Eq)]
enum Violation {
    /// A crate that `CRATE_ROLES` does not have.
    NoRole { name: String, folder: String },
    /// A dependency that does not point downwards.
    NotDownwards { from: String, to: String },
    /// An agent that a crate below the assembly knows.
    KnowsAnAgent { from: String, to: String },
    /// Code that is no test uses what tests are made with.
    UsesTestSupport { from: String, to: String },
    /// Something depends on what is outside of the house.
    OnOutside { from: String, to: String },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRole { name, folder } => write!(
                f,
                "{name} ({folder}) has no layer. Add it to CRATE_ROLES in \
                 xtask/src/dependency_direction.rs, or put it under {AGENTS_FOLDER} if it is an \
                 agent"
            ),
            Self::NotDownwards { from, to } => write!(
                f,
                "{from} must not depend on {to}, which is not below it. Move what they share \
                 down, or let {from} name a trait that is handed in"
            ),
            Self::KnowsAnAgent { from, to } => write!(
                f,
                "{from} must not depend on the agent {to}: only lango-app, the crates above it and \
                 lango-bench know agents. Move what they share below both"
            ),
            Self::UsesTestSupport { from, to } => write!(
                f,
                "{from} must not depend on {to}, which is for tests. Make it one of its \
                 dev-dependencies"
            ),
            Self::OnOutside { from, to } => {
                write!(f, "{from} must not depend on {to}, which is no part of the product")
            }
        }
    }
}

/// Fails with everything that is wrong, one to a line.
pub(crate) fn check_or_explain(workspace: &Workspace) -> Result<()> {
    let violations = violations(workspace);
    if violations.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    bail!("dependencies must point downwards:\n  {}", lines.join("\n  "));
}

fn violations(workspace: &Workspace) -> Vec<Violation> {
    let mut violations = Vec::new();
    for member in &workspace.members {
        let Some(role) = role_of(member) else {
            let (name, folder) = (member.name.clone(), member.folder.clone());
            violations.push(Violation::NoRole { name, folder });
            continue;
        };
        for dependency in &member.dependencies {
            // Tests of a crate may turn on a feature of it.
            if dependency.name == member.name {
                continue;
            }
            let below = workspace.members.iter().find(|other| other.name == dependency.name);
            // A dependency without a role is reported once, as the crate that it is.
            let below = below.and_then(|other| Some((other, role_of(other)?)));
            violations.extend(below.and_then(|(other, other_role)| {
                violation((&member.name, role), (&other.name, other_role), dependency.only_in_tests)
            }));
        }
    }
    violations
}

fn violation(
    (from, role): (&str, CrateRole),
    (to, on): (&str, CrateRole),
    only_in_tests: bool,
) -> Option<Violation> {
    let (from, to) = (from.to_owned(), to.to_owned());
    let knows_agents = role == CrateRole::Outside || layer(role) >= Some(Layer::Assembly);
    match (role, on) {
        (_, CrateRole::Outside) => Some(Violation::OnOutside { from, to }),
        (_, CrateRole::TestSupport(_)) if only_in_tests => None,
        (_, CrateRole::TestSupport(_)) if !knows_agents => {
            Some(Violation::UsesTestSupport { from, to })
        }
        (_, CrateRole::Agent) if !knows_agents => Some(Violation::KnowsAnAgent { from, to }),
        (CrateRole::Outside, _) => None,
        _ if WITHIN_A_LAYER.contains(&(&from, &to)) || layer(on) < layer(role) => None,
        _ => Some(Violation::NotDownwards { from, to }),
    }
}

/// Returns whether a crate is no part of the product.
pub(crate) fn is_outside(member: &Member) -> bool {
    role_of(member) == Some(CrateRole::Outside)
}

fn role_of(member: &Member) -> Option<CrateRole> {
    if member.folder.starts_with(AGENTS_FOLDER) {
        return Some(CrateRole::Agent);
    }
    CRATE_ROLES.iter().find(|(name, _)| *name == member.name).map(|(_, role)| *role)
}

fn layer(role: CrateRole) -> Option<Layer> {
    match role {
        CrateRole::In(layer) | CrateRole::TestSupport(layer) => Some(layer),
        CrateRole::Agent => Some(Layer::Specialists),
        CrateRole::Outside => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace of made-up crates: folder, name, names of dependencies. One with `dev ` before it
    /// is for tests.
    fn workspace(crates: &[(&str, &str, &[&str])]) -> Workspace {
        let manifests: Vec<(&str, String)> = crates
            .iter()
            .map(|(folder, name, dependencies)| {
                let lines = |kind: &str| -> String {
                    let of_kind = dependencies.iter().filter_map(|line| match kind {
                        "dependencies" => Some(*line).filter(|line| !line.starts_with("dev ")),
                        _ => line.strip_prefix("dev "),
                    });
                    of_kind.map(|name| format!("{name}.workspace = true\n")).collect()
                };
                let text = format!(
                    "[package]\nname = \"{name}\"\n[dependencies]\n{}[dev-dependencies]\n{}",
                    lines("dependencies"),
                    lines("dev-dependencies")
                );
                (*folder, text)
            })
            .collect();
        let manifests: Vec<(&str, &str)> =
            manifests.iter().map(|(folder, text)| (*folder, text.as_str())).collect();
        Workspace::parse("[workspace]\nmembers = []", &manifests).unwrap()
    }

    /// The house as it may be, with one crate's dependencies replaced.
    fn house_with(changed: &str, dependencies: &[&str]) -> Vec<Violation> {
        let mut crates: Vec<(&str, &str, &[&str])> = vec![
            ("crates/protocol", "lango-protocol", &["serde"]),
            ("crates/store", "lango-store", &["lango-protocol"]),
            ("crates/tool", "lango-tool", &["lango-protocol"]),
            (
                "crates/model",
                "lango-model",
                &["lango-protocol", "lango-tool", "dev lango-scripted"],
            ),
            ("crates/scripted", "lango-scripted", &["lango-model"]),
            ("crates/orchestration", "lango-orchestration", &["lango-tool"]),
            ("crates/runtime", "lango-runtime", &["lango-orchestration", "lango-store"]),
            ("crates/agents/operator", "lango-operator", &["lango-tool", "lango-runtime"]),
            ("crates/agents/vault", "lango-vault", &["lango-tool", "lango-store"]),
            ("crates/a2a", "lango-a2a", &["lango-runtime"]),
            ("crates/server", "lango-server", &["lango-runtime", "lango-a2a"]),
            ("crates/app", "lango-app", &["lango-server", "lango-operator", "lango-vault"]),
            ("crates/cli", "lango", &["lango-app", "lango-server", "lango-operator"]),
            ("bench", "lango-bench", &["lango-operator", "lango-runtime"]),
            ("xtask", "xtask", &["toml"]),
        ];
        for (_, name, old) in &mut crates {
            if *name == changed {
                *old = dependencies;
            }
        }
        violations(&workspace(&crates))
    }

    #[test]
    fn the_dependencies_of_this_workspace_point_downwards() {
        let workspace = Workspace::read(&crate::cargo::root().unwrap()).unwrap();
        assert!(workspace.members.len() >= 10, "{workspace:?}");
        check_or_explain(&workspace).unwrap();
    }

    #[test]
    fn the_layers_that_newcomers_read_about_are_these() {
        let root = crate::cargo::root().unwrap();
        let guide = crate::repository_files::read(&root.join("AGENTS.md")).unwrap();
        let mut told: Vec<(String, String)> = Vec::new();
        for row in crate::document_tables::rows(&guide, "## The layers").unwrap() {
            let names = row[1].split('`').skip(1).step_by(2).filter(|name| !name.contains('/'));
            told.extend(names.map(|name| (row[0].clone(), name.to_owned())));
        }
        let members = Workspace::read(&root).unwrap().members;
        let mut true_layers: Vec<(String, String)> = members
            .iter()
            .filter_map(|member| {
                let layer = layer(role_of(member)?)?;
                Some((format!("{layer:?}").to_lowercase(), member.name.clone()))
            })
            .collect();
        told.sort();
        true_layers.sort();
        assert_eq!(told, true_layers);
    }

    #[test]
    fn the_house_as_it_may_be_is_accepted() {
        assert_eq!(house_with("no-crate", &[]), []);
    }

    #[test]
    fn a_dependency_upwards_or_sideways_is_found() {
        for (from, to) in [
            ("lango-protocol", "lango-store"),
            ("lango-store", "lango-runtime"),
            ("lango-tool", "lango-model"),
            ("lango-orchestration", "lango-runtime"),
            ("lango-runtime", "lango-a2a"),
            ("lango-operator", "lango-server"),
            ("lango-operator", "lango-a2a"),
            ("lango-server", "lango-app"),
            ("lango-app", "lango"),
        ] {
            let (from, to) = (from.to_owned(), to.to_owned());
            let found = house_with(&from, &[&to]);
            assert_eq!(found, [Violation::NotDownwards { from, to }]);
        }
    }

    #[test]
    fn only_the_assembly_its_clients_and_the_benchmarks_know_agents() {
        for from in ["lango-vault", "lango-runtime", "lango-a2a", "lango-server", "lango-tool"] {
            let found = house_with(from, &["lango-operator"]);
            let (from, to) = (from.to_owned(), "lango-operator".to_owned());
            assert_eq!(found, [Violation::KnowsAnAgent { from, to }]);
        }
        for from in ["lango-app", "lango", "lango-bench"] {
            assert_eq!(house_with(from, &["lango-operator"]), []);
        }
    }

    #[test]
    fn tests_of_every_crate_use_test_support_and_of_the_product_the_wiring_alone() {
        for from in ["lango-tool", "lango-runtime", "lango-operator", "lango-server"] {
            assert_eq!(house_with(from, &["dev lango-scripted"]), []);
            let found = house_with(from, &["lango-scripted"]);
            let (from, to) = (from.to_owned(), "lango-scripted".to_owned());
            assert_eq!(found, [Violation::UsesTestSupport { from, to }]);
        }
        assert_eq!(house_with("lango", &["lango-scripted"]), []);
        let found = house_with("lango-scripted", &["lango-server"]);
        let (from, to) = ("lango-scripted".to_owned(), "lango-server".to_owned());
        assert_eq!(found, [Violation::NotDownwards { from, to }]);
    }

    #[test]
    fn a_dependency_of_tests_points_downwards_too() {
        let found = house_with("lango-store", &["dev lango-runtime"]);
        let (from, to) = ("lango-store".to_owned(), "lango-runtime".to_owned());
        assert_eq!(found, [Violation::NotDownwards { from, to }]);
    }

    #[test]
    fn nothing_depends_on_what_is_outside() {
        for (from, to) in
            [("lango", "lango-bench"), ("lango-store", "xtask"), ("xtask", "lango-bench")]
        {
            let (from, to) = (from.to_owned(), to.to_owned());
            let found = house_with(&from, &[&to]);
            assert_eq!(found, [Violation::OnOutside { from, to }]);
        }
    }

    #[test]
    fn a_crate_without_a_role_is_told_where_to_add_it() {
        let workspace = workspace(&[("crates/attic", "lango-attic", &["lango-protocol"])]);
        let error = check_or_explain(&workspace).unwrap_err().to_string();
        assert!(error.contains("lango-attic (crates/attic) has no layer"), "{error}");
        assert!(error.contains("xtask/src/dependency_direction.rs"), "{error}");
    }
}
