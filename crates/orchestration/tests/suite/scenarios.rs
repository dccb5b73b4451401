//! Checks the checklist of scenarios.

const CHECKLIST: &str = include_str!("../SCENARIOS.md");

/// Holds the tests of this crate.
const SOURCES: &[&str] = &[
    include_str!("author.rs"),
    include_str!("capabilities.rs"),
    include_str!("conditional.rs"),
    include_str!("delegation.rs"),
    include_str!("partition.rs"),
    include_str!("prompts.rs"),
    include_str!("properties.rs"),
    include_str!("reporting.rs"),
    include_str!("tree.rs"),
];

/// Holds the test files of the scenarios that need a runtime or a whole turn.
const OTHER_SOURCES: &[(&str, &[&str])] = &[
    ("runtime", &[include_str!("../../../runtime/src/events_adapter.rs")]),
    (
        "turn",
        &[
            include_str!("../../../cli/tests/suite/requirements/keywords.rs"),
            include_str!("../../../cli/tests/suite/requirements/knowledge.rs"),
            include_str!("../../../cli/tests/suite/requirements/limits.rs"),
            include_str!("../../../cli/tests/suite/requirements/rejection.rs"),
            include_str!("../../../cli/tests/suite/requirements/remote.rs"),
            include_str!("../../../cli/tests/suite/requirements/routing.rs"),
        ],
    ),
];

fn declares(sources: &[&str], test: &str) -> bool {
    let declaration = format!("fn {test}(");
    sources.iter().any(|source| source.contains(&declaration))
}

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let rows = CHECKLIST.lines().filter(|line| line.starts_with("| 00"));
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect())
}

#[test]
fn the_checklist_has_all_84_scenarios() {
    let count = |document: &str| rows().filter(|row| row[0] == document).count();
    assert_eq!(["000", "001", "002", "003"].map(count), [52, 13, 9, 10]);
}

#[test]
fn every_scenario_has_a_test_or_says_where_it_is_shown() {
    for row in rows() {
        let (test, note) = (row[3], row.get(4).copied().unwrap_or_default());
        assert!(test.starts_with('`') || !note.is_empty(), "{row:?}");
    }
}

#[test]
fn every_test_in_the_checklist_exists() {
    for name in CHECKLIST.split('`').filter(|name| name.starts_with('r') && !name.contains(' ')) {
        let in_other_sources = OTHER_SOURCES.iter().any(|(_, sources)| declares(sources, name));
        assert!(in_other_sources || declares(SOURCES, name), "{name}");
    }
}

#[test]
fn what_needs_a_runtime_or_a_turn_names_a_test_that_is_there() {
    for row in rows() {
        for entry in row.get(4).copied().unwrap_or_default().split("; ") {
            let place = entry.split(':').next().unwrap_or_default();
            let Some((_, sources)) = OTHER_SOURCES.iter().find(|(name, _)| *name == place) else {
                assert!(!["turn", "runtime"].iter().any(|word| entry.starts_with(word)), "{row:?}");
                continue;
            };
            let test = entry.split('`').nth(1).unwrap_or_default();
            assert!(declares(sources, test), "{row:?}");
        }
    }
}
