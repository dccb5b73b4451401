//! What runs without asking, and what never does.

use lango_protocol::CallStatus;

use super::{listed, run_once};
use crate::fixture::{Lango, TO_OPERATOR};

/// Runs one command with no user to ask, and returns whether it ran.
async fn runs(lango_rules: &[&[&str]], command: &str) -> bool {
    let lango = Lango::playing(&[TO_OPERATOR, &run_once(command)]).await;
    for rule in lango_rules {
        let added = lango.command(&[&["approvals", "add"], *rule].concat()).run().await;
        assert_eq!(added.code, 0, "{added:?}");
    }
    let turn = lango.ask("do it").turn().await;
    let ran = turn.count("tool_started") == 1;
    assert_eq!(turn.results_with(CallStatus::Denied), usize::from(!ran), "{command}");
    ran
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_allows_what_it_names_and_nothing_more() {
    let rule: &[&str] = &["allow", "--", "echo", "*"];
    assert!(runs(&[rule], "echo hello").await);
    assert!(!runs(&[rule], "touch README.md").await);
    assert!(!runs(&[rule, &["deny", "--", "echo", "*"]], "echo hello").await, "deny wins");
    assert!(!runs(&[rule, &["ask", "--", "echo", "*"]], "echo hello").await, "ask wins");
    assert!(!runs(&[&["allow", "--directory", "/nowhere", "--", "echo", "*"]], "echo").await);
    assert!(!runs(&[&["allow", "--agent", "navigator", "--", "echo", "*"]], "echo").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_command_is_denied_in_the_background_too() {
    let script = run_once("/bin/rm README.md").replace("exec_shell", "exec_background");
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    let deny = ["approvals", "add", "deny", "--", "rm", "*"];
    assert_eq!(lango.command(&deny).run().await.code, 0);
    let turn = lango.ask("do it").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.results_with(CallStatus::Denied), 1, "{:?}", turn.results());
    assert!(lango.workspace().join("README.md").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_of_the_configuration_holds_and_can_deny_what_only_reads() {
    let script = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "fs_read", arguments = { path = "README.md" } }]
[[reply]]
agent = "operator"
say = "{result}"
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    std::fs::write(
        lango.config_file(),
        "[[approvals.rules]]\neffect = \"deny\"\ntool = \"fs_*\"\n",
    )
    .unwrap();
    let turn = lango.ask("read it").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.results_with(CallStatus::Denied), 1);
    assert!(turn.results()[0].2.contains("rule config:1 (deny fs_*)"), "{:?}", turn.results());
    let revoked = lango.command(&["approvals", "revoke", "config:1"]).run().await;
    assert!(revoked.code == 2 && revoked.stderr.contains("lango config path"), "{revoked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn always_stores_a_rule_that_can_be_seen_and_revoked() {
    let lango = Lango::playing(&[TO_OPERATOR, &run_once("echo hello")]).await;
    let mut session = lango.at_terminal("run 'do it'").start_typing();
    session.answer("a\n").await;
    let typed = session.finish().await;
    assert!(typed.stdout.contains("allow exec_shell: exactly echo hello"), "{}", typed.stdout);
    assert_eq!(typed.code, 0, "{}", typed.stdout);
    let turn = lango.ask("do it again").turn().await;
    assert_eq!((turn.code, turn.count("approval_requested")), (0, 0));
    assert_eq!(turn.count("approval_resolved"), 1, "the rule is named in the journal");
    let rules = listed(&lango).await["rules"].clone();
    let id = rules[0]["id"].as_str().unwrap();
    assert!(rules[0]["rule"].as_str().unwrap().contains("exactly echo hello"), "{rules}");
    let shown = lango.command(&["approvals", "show", id]).run().await;
    assert!(shown.stdout.contains("exactly echo hello"), "{shown:?}");
    let revoked = lango.command(&["approvals", "revoke", id]).run().await;
    assert_eq!(revoked.code, 0, "{revoked:?}");
    assert_eq!(lango.ask("and again").turn().await.code, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_never_asks_denies_at_a_terminal_too() {
    let lango = Lango::playing(&[TO_OPERATOR, &run_once("touch made")]).await;
    let terminal = lango.at_terminal("run 'do it'").input("y\n");
    let finished = terminal.set("LANGO_APPROVALS_POLICY", "never-ask-deny").run().await;
    assert_eq!(finished.code, 3, "{}", finished.stdout);
    assert!(!finished.stdout.contains("Allow this once?"), "{}", finished.stdout);
    assert!(!lango.workspace().join("made").exists());
}
