//! Finds the paths that a call must leave out, because a rule names them and the call does not.

use std::path::Path;

use lango_tool::ExcludedPaths;

use super::rule::{Rule, RuleCase};

/// Returns the paths that rules keep from a call which they do not keep from running: a search of a
/// directory leaves out what it may not read by name.
///
/// A rule that questions this very call was answered, and excludes nothing.
pub(crate) fn find_excluded_paths(rules: &[Rule], cases: &[RuleCase<'_>]) -> ExcludedPaths {
    let Some(workspace) = cases.first().map(|case| case.directory.to_owned()) else {
        return ExcludedPaths::default();
    };
    let excludes = |rule: &&Rule| cases.iter().any(|case| rule.excludes_paths_of(case));
    let excluding: Vec<Rule> = rules.iter().filter(excludes).cloned().collect();
    if excluding.is_empty() {
        return ExcludedPaths::default();
    }
    ExcludedPaths::new(move |path: &Path| {
        excluding.iter().any(|rule| rule.names_path(&workspace, path))
    })
}

#[cfg(test)]
mod tests {
    use lango_protocol::Rights;
    use lango_tool::Proposal;

    use super::super::rule::{Effect, StepPattern};
    use super::*;

    fn rule(effect: Effect, word: &str) -> Rule {
        Rule {
            id: "1".to_owned(),
            effect,
            tool: Some("fs_*".to_owned()),
            agent: None,
            directory: None,
            step_directory: None,
            words: StepPattern::Pattern(vec![word.to_owned()]),
            bound: None,
            rights: Rights::default(),
        }
    }

    fn excludes(rules: &[Rule], called: &str, path: &str) -> bool {
        let agent = "operator".parse().unwrap();
        let proposal = Proposal::of("", [called]);
        let directory = Path::new("/home/me");
        let case = RuleCase { tool: "fs_search", agent: &agent, directory, proposal: &proposal };
        find_excluded_paths(rules, &[case]).contains(Path::new(path))
    }

    #[test]
    fn what_a_rule_names_is_excluded_from_a_call_for_another_path() {
        let rules = [rule(Effect::Deny, "secrets/*"), rule(Effect::Ask, "*.env")];
        for path in ["secrets/key", "secrets/a/b", "x/.env", "a.env"] {
            assert!(excludes(&rules, ".", path), "{path}");
        }
        assert!(excludes(&[rule(Effect::Deny, "/home/me/x*")], ".", "xy"));
        assert!(excludes(&[rule(Effect::Deny, ".env")], ".", "deep/.env"));
        assert!(!excludes(&rules, ".", "src/main.rs"));
        assert!(!excludes(&[rule(Effect::Allow, "src/*")], ".", "src/main.rs"));
    }

    #[test]
    fn what_was_agreed_to_is_not_excluded() {
        let rules = [rule(Effect::Ask, "secrets*")];
        assert!(!excludes(&rules, "secrets", "secrets/key"));
        assert!(excludes(&rules, ".", "secrets/key"));
    }
}
