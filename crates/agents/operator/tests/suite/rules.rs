//! Tests that rules mean what they say: whatever is written around a command, however a path is
//! spelt, and in which directory it happens.

use lango_protocol::Rights;
use lango_runtime::{ApprovalPolicy, Effect, Rule, RuleCase, StepPattern, Verdict, decide_call};
use lango_tool::Proposal;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::Bench;

fn rule(effect: Effect, tool: &str, words: Option<&str>) -> Rule {
    Rule {
        id: "1".to_owned(),
        effect,
        tool: Some(tool.to_owned()),
        agent: None,
        directory: None,
        step_directory: None,
        words: words.map_or(StepPattern::Any, |words| {
            StepPattern::Pattern(words.split(' ').map(str::to_owned).collect())
        }),
        bound: None,
        rights: Rights::default(),
    }
}

/// Decides about a call that needs a decision.
fn decide(bench: &Bench, rules: &[Rule], tool: &str, arguments: &Value) -> Verdict {
    decide_proposal(bench, rules, tool, &bench.propose(tool, arguments))
}

fn decide_proposal(bench: &Bench, rules: &[Rule], tool: &str, proposal: &Proposal) -> Verdict {
    let agent = "operator".parse().unwrap();
    let root = bench.path("").canonicalize().unwrap();
    let case = RuleCase { tool, agent: &agent, directory: &root, proposal };
    decide_call(ApprovalPolicy::AskDangerous, true, rules, &case)
}

fn always(bench: &Bench, tool: &str, arguments: &Value) -> Vec<Rule> {
    let agent = "operator".parse().unwrap();
    let root = bench.path("").canonicalize().unwrap();
    let proposal = bench.propose(tool, arguments);
    Rule::allowing_exactly(&RuleCase { tool, agent: &agent, directory: &root, proposal: &proposal })
}

fn runs(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Run { .. })
}

fn is_refused(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Refuse { .. })
}

fn prefix() -> impl Strategy<Value = String> {
    let parts = [
        "A=1",
        "PATH=.:$PATH",
        "B='x y'",
        "env",
        "env C=2",
        "nohup",
        "time -p",
        "nice -n 5",
        "timeout 5",
        "command",
        "exec",
        "stdbuf -o0",
        "setsid",
        "/usr/bin/env",
        "busybox",
    ];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 0..5)
        .prop_map(|parts| parts.iter().map(|part| format!("{part} ")).collect())
}

fn wrapped() -> impl Strategy<Value = String> {
    let programs =
        ["rm x", "/bin/rm -rf x", "./rm x", "rm x > out", "rm x 2>/dev/null &", "r''m x"];
    (prefix(), prop::sample::select(programs.to_vec()), 0..4_u8).prop_map(
        |(prefix, program, shape)| {
            let command = format!("{prefix}{program}");
            match shape {
                0 => command,
                1 => format!("ls; {command}"),
                2 => format!("if true; then {command}; fi"),
                _ => format!("( cd / && {command} )"),
            }
        },
    )
}

#[test]
fn a_denied_command_never_runs_whatever_precedes_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = runtime.block_on(Bench::new());
    let rules =
        [rule(Effect::Allow, "exec_shell", None), rule(Effect::Deny, "exec_*", Some("rm *"))];
    proptest!(ProptestConfig::with_cases(400), |(command in wrapped())| {
        let verdict = decide(&bench, &rules, "exec_shell", &json!({ "command": command }));
        prop_assert!(!runs(&verdict), "{command}: {verdict:?}");
        // What is read as a whole is refused, not asked about.
        let proposal = bench.propose("exec_shell", &json!({ "command": command }));
        prop_assert!(proposal.unreadable.is_some() || is_refused(&verdict), "{command}: {verdict:?}");
    });
}

#[tokio::test]
async fn what_is_not_read_whole_does_not_pass_a_rule_that_denies() {
    let bench = Bench::new().await;
    let allowed = rule(Effect::Allow, "exec_shell", None);
    for command in [
        format!("echo {}; rm x", "a".repeat(70_000)),
        format!("{}rm x{}", "( ".repeat(60), " )".repeat(60)),
        format!("{}rm x", "env ".repeat(40)),
        "$program x".to_owned(),
    ] {
        let arguments = json!({ "command": command });
        for effect in [Effect::Deny, Effect::Ask] {
            let rules = [allowed.clone(), rule(effect, "exec_*", Some("rm *"))];
            let verdict = decide(&bench, &rules, "exec_shell", &arguments);
            assert!(!runs(&verdict), "{verdict:?}: {}", &command[..40.min(command.len())]);
        }
        // Without such a rule, the user allowed the whole tool.
        let allowed = decide(&bench, std::slice::from_ref(&allowed), "exec_shell", &arguments);
        assert!(runs(&allowed));
    }
    let long = json!({ "command": format!("echo {}", "a".repeat(70_000)) });
    let error = bench.call("exec_shell", long).await.unwrap_err();
    assert!(error.to_string().contains("longer than 64 KiB"), "{error}");
}

#[tokio::test]
async fn a_rule_holds_in_the_directory_it_was_made_for() {
    let bench = Bench::new().await;
    bench.put("sub/file", "");
    let status = |cwd: Option<&str>| json!({ "command": "git status", "cwd": cwd });
    let rules = [rule(Effect::Allow, "exec_shell", Some("git *"))];
    assert!(runs(&decide(&bench, &rules, "exec_shell", &status(None))));
    assert!(runs(&decide(&bench, &rules, "exec_shell", &status(Some(".")))));
    assert!(!runs(&decide(&bench, &rules, "exec_shell", &status(Some("sub")))));
    let below =
        Rule { step_directory: Some(bench.path("").canonicalize().unwrap()), ..rules[0].clone() };
    assert!(runs(&decide(&bench, &[below], "exec_shell", &status(Some("sub")))));
    // "Always" in a directory is for that directory.
    let stored = always(&bench, "exec_shell", &status(Some("sub")));
    assert!(runs(&decide(&bench, &stored, "exec_shell", &status(Some("sub")))));
    assert!(!runs(&decide(&bench, &stored, "exec_shell", &status(None))));
}

#[tokio::test]
async fn after_a_change_of_directory_only_a_rule_for_the_whole_command_holds() {
    let bench = Bench::new().await;
    bench.put("sub/file", "");
    let allowed = |words| rule(Effect::Allow, "exec_shell", Some(words));
    let rules = [allowed("cd *"), allowed("cargo *"), allowed("ls *")];
    let verdict =
        |command: &str| decide(&bench, &rules, "exec_shell", &json!({ "command": command }));
    assert!(runs(&verdict("ls; cargo test")));
    for command in ["cd sub && cargo test", "cd sub; cargo test", "(cd sub); cargo test", "cd sub"]
    {
        assert!(!runs(&verdict(command)), "{command}");
    }
    let whole = [allowed("x")].map(|rule| Rule {
        words: StepPattern::Exact(vec!["cd sub && cargo test".to_owned()]),
        ..rule
    });
    let arguments = json!({ "command": "cd sub && cargo test" });
    assert!(runs(&decide(&bench, &whole, "exec_shell", &arguments)));
}

#[tokio::test]
async fn always_covers_exactly_the_command_that_was_shown() {
    let bench = Bench::new().await;
    let command = |text: &str| json!({ "command": text });
    for (shown, others) in [
        ("cd d && rm -rf data", vec!["rm -rf data", "cd e && rm -rf data", "cd d; rm -rf data"]),
        ("test -f ok && rm x", vec!["rm x", "test -f ok || rm x", "test -f ok; rm x"]),
        ("A=1 touch x", vec!["touch x", "A=2 touch x"]),
        ("touch -c x", vec!["touch x", "touch -c x y"]),
    ] {
        let rules = always(&bench, "exec_shell", &command(shown));
        assert_eq!(rules.len(), 1, "{shown}");
        assert!(runs(&decide(&bench, &rules, "exec_shell", &command(shown))), "{shown}");
        for other in others {
            let verdict = decide(&bench, &rules, "exec_shell", &command(other));
            assert!(!runs(&verdict), "{shown} allows {other}");
        }
    }
    assert_eq!(always(&bench, "exec_shell", &command("rm $x")), [], "it cannot be said");
}

#[tokio::test]
async fn always_covers_exactly_the_change_that_was_shown() {
    let bench = Bench::new().await;
    bench.put("d/file", "one\n");
    let cases = [
        ("fs_write", json!({"path": "a", "content": "x"}), json!({"path": "a", "content": "y"})),
        ("fs_delete", json!({"path": "d"}), json!({"path": "d", "recursive": true})),
        ("fs_delete", json!({"path": "d", "recursive": true}), json!({"path": "d"})),
        (
            "fs_edit",
            json!({"path": "d/file", "old_text": "one", "new_text": "two"}),
            json!({"path": "d/file", "old_text": "one", "new_text": "three"}),
        ),
        ("fs_move", json!({"from": "d", "to": "e"}), json!({"from": "d", "to": "f"})),
    ];
    for (tool, shown, other) in cases {
        let rules = always(&bench, tool, &shown);
        assert!(runs(&decide(&bench, &rules, tool, &shown)), "{tool} {shown}: {rules:?}");
        assert!(!runs(&decide(&bench, &rules, tool, &other)), "{tool} {shown} allows {other}");
    }
    let pattern = [rule(Effect::Allow, "fs_delete", Some("d*"))];
    assert!(runs(&decide(&bench, &pattern, "fs_delete", &json!({"path": "d/file"}))));
    let all = json!({"path": "d", "recursive": true});
    assert!(!runs(&decide(&bench, &pattern, "fs_delete", &all)));
}

/// Spellings of `secrets/key`, which is also reached through the link `way`.
const SPELLINGS: [&str; 6] = [
    "secrets/key",
    "./secrets/key",
    "docs/../secrets/key",
    "secrets//key",
    "way/key",
    "docs/../way/../secrets/key",
];

fn calls_with(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("fs_read", json!({ "path": path })),
        ("fs_stat", json!({ "path": path })),
        ("fs_list", json!({ "path": path })),
        ("fs_search", json!({ "path": path, "pattern": "x" })),
        ("fs_find", json!({ "path": path })),
        ("fs_write", json!({ "path": path, "content": "x" })),
        ("fs_append", json!({ "path": path, "content": "x" })),
        ("fs_edit", json!({ "path": path, "old_text": "a", "new_text": "b" })),
        ("fs_delete", json!({ "path": path })),
        ("fs_delete", json!({ "path": path, "recursive": true })),
        ("fs_mkdir", json!({ "path": path })),
        ("fs_move", json!({ "from": path, "to": "free" })),
        ("fs_move", json!({ "from": "docs", "to": path })),
        ("fs_move", json!({ "from": ["docs/*", path], "to": "free" })),
        ("fs_copy", json!({ "from": path, "to": "free" })),
        ("fs_copy", json!({ "from": "docs", "to": path })),
        ("fs_delete", json!({ "path": ["docs/open", path] })),
    ]
}

#[tokio::test]
async fn a_rule_about_a_path_holds_for_every_spelling_of_it() {
    let bench = Bench::new().await;
    bench.put("secrets/key", "a");
    bench.put("docs/open", "b");
    bench.link("secrets", "way");
    let absolute = bench.path("secrets/key").canonicalize().unwrap();
    let absolute = absolute.to_str().unwrap();
    for path in SPELLINGS.iter().copied().chain([absolute]) {
        for (tool, arguments) in calls_with(path) {
            for words in ["secrets/*", "secrets/key", absolute] {
                let rules =
                    [rule(Effect::Allow, "fs_*", None), rule(Effect::Deny, "fs_*", Some(words))];
                let verdict = decide(&bench, &rules, tool, &arguments);
                assert!(is_refused(&verdict), "{tool} {arguments} against {words}: {verdict:?}");
            }
        }
        let rules = [rule(Effect::Allow, "fs_*", Some("docs/*"))];
        let verdict = decide(&bench, &rules, "fs_write", &json!({"path": path, "content": ""}));
        assert!(!runs(&verdict), "{path} is not below docs");
    }
}

#[tokio::test]
async fn a_rule_with_words_that_denies_or_asks_holds_for_a_call_that_names_no_step() {
    let bench = Bench::new().await;
    // As that of a tool that does not say what its calls are about.
    let proposal = Proposal::plain("Look at something");
    let allowed = rule(Effect::Allow, "look", None);
    for effect in [Effect::Deny, Effect::Ask] {
        let rules = [allowed.clone(), rule(effect, "look", Some(".env"))];
        let verdict = decide_proposal(&bench, &rules, "look", &proposal);
        assert!(!runs(&verdict), "{verdict:?}");
        let other = [allowed.clone(), rule(effect, "listen", Some(".env"))];
        assert!(runs(&decide_proposal(&bench, &other, "look", &proposal)));
    }
}

#[tokio::test]
async fn every_call_of_every_tool_has_a_step_that_rules_are_compared_with() {
    let bench = Bench::new().await;
    bench.put("file", "text");
    for (tool, arguments) in calls_with("file").into_iter().chain([
        ("exec_shell", json!({ "command": "ls" })),
        ("exec_background", json!({ "command": "ls" })),
    ]) {
        let proposal = bench.propose(tool, &arguments);
        assert!(!proposal.steps.is_empty() && !proposal.steps[0].words.is_empty(), "{tool}");
    }
}
