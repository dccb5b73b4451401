//! Commands that ask for rights beyond the sandbox, in whole turns.

use std::process::Command;

use lango_protocol::CallStatus;

use super::{listed, question};
use crate::fixture::{Lango, TO_OPERATOR, calling};
use crate::journal::Turn;

const COMMIT: &str = "git commit -q --allow-empty -m second";

fn committing(rights: &str) -> String {
    let arguments = format!("{{ command = \"{COMMIT}\", rights = [{rights}] }}");
    calling("operator", &[("exec_shell", &arguments)])
}

fn git(lango: &Lango, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    let output = git.args(arguments).current_dir(lango.workspace()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A workspace with a repository that has one commit, and an operator that commits with these rights.
async fn with_repository(rights: &str) -> Lango {
    let lango = Lango::playing(&[TO_OPERATOR, &committing(rights)]).await;
    git(&lango, &["init", "-q"]);
    git(&lango, &["config", "user.name", "a"]);
    git(&lango, &["config", "user.email", "a@b"]);
    git(&lango, &["commit", "-q", "--allow-empty", "-m", "first"]);
    lango
}

fn last_commit(lango: &Lango) -> String {
    git(lango, &["log", "-1", "--format=%s"])
}

async fn add(lango: &Lango, rule: &[&str]) {
    let added = lango.command(&[&["approvals", "add"], rule].concat()).run().await;
    assert_eq!(added.code, 0, "{added:?}");
}

fn was_denied(turn: &Turn) -> bool {
    turn.count("tool_started") == 0 && turn.results_with(CallStatus::Denied) == 1
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_needs_the_right_and_a_yes() {
    let lango = with_repository("").await;
    let turn = lango.ask("commit").with(&["--approve", "all"]).turn().await;
    assert_eq!(last_commit(&lango), "first");
    assert!(turn.results()[0].2.contains("rights [\"git\"]"), "{:?}", turn.results());

    let lango = with_repository("\"git\"").await;
    assert!(was_denied(&lango.ask("commit").turn().await), "no user could be asked");
    assert_eq!(last_commit(&lango), "first");
    let turn = lango.ask("commit").with(&["--approve", "all"]).turn().await;
    assert_eq!((turn.code, last_commit(&lango).as_str()), (0, "second"));
    assert!(!lango.workspace().join(".git/commondir").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_names_the_right_and_always_covers_exactly_it() {
    let lango = with_repository("\"git\"").await;
    let running = lango.ask("commit").with(&["--approve", "wait"]).start();
    let id = question(&lango).await;
    let shown = lango.command(&["approvals", "show", &id]).run().await;
    for text in [
        "+ git: it may write the repository ",
        "except for its hooks, configuration and submodules",
        "exactly git commit -q --allow-empty -m second",
        ", with git",
    ] {
        assert!(shown.stdout.contains(text), "{text}\n{}", shown.stdout);
    }
    let answered = lango.command(&["approvals", "approve", "--always", &id]).run().await;
    assert_eq!(answered.code, 0, "{answered:?}");
    assert_eq!((running.turn().await.code, last_commit(&lango).as_str()), (0, "second"));
    let rules = listed(&lango).await["rules"].clone();
    assert!(rules[0]["rule"].as_str().unwrap().ends_with(", with git"), "{rules}");
    let turn = lango.ask("again").turn().await;
    assert_eq!((turn.code, turn.count("approval_requested")), (0, 0));
    // More rights, or none, are another call.
    for rights in ["\"git\", \"network\"", "\"network\"", ""] {
        let other = with_repository(rights).await;
        let rule = ["allow", "--exact", "--with", "git", "--"];
        let words: Vec<&str> = COMMIT.split(' ').collect();
        add(&other, &[&rule[..], &words].concat()).await;
        assert!(was_denied(&other.ask("again").turn().await), "{rights}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_gives_the_rights_that_it_states_and_deny_wins() {
    let pattern: &[&str] = &["--", "git", "commit", "*"];
    let with_git = [&["allow", "--with", "git"], pattern].concat();
    let runs = async |rules: &[&[&str]]| {
        let lango = with_repository("\"git\"").await;
        for rule in rules {
            add(&lango, rule).await;
        }
        let turn = lango.ask("commit").turn().await;
        let is_committed = last_commit(&lango) == "second";
        assert_eq!(is_committed, !was_denied(&turn), "{rules:?}: {:?}", turn.results());
        is_committed
    };
    assert!(runs(&[&with_git]).await);
    let without = [&["allow"], pattern].concat();
    assert!(!runs(&[&without, &["allow", "--tool", "exec_*"]]).await, "no rule states the right");
    assert!(!runs(&[&with_git, &["deny", "--with", "git"]]).await);
    assert!(!runs(&[&with_git, &["ask", "--with", "git"]]).await);
    assert!(!runs(&[&with_git, &["deny", "--", "git", "commit", "*"]]).await);
    assert!(runs(&[&with_git, &["deny", "--with", "network"]]).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_with_rights_are_explained_and_read_from_the_configuration() {
    let lango = with_repository("\"git\"").await;
    let rule = "[[approvals.rules]]\neffect = \"allow\"\ntool = \"exec_*\"\n\
        words = [\"git\", \"commit\", \"*\"]\nrights = [\"git\"]\n";
    std::fs::write(lango.config_file(), rule).unwrap();
    let explain = async |rights: &[&str]| {
        let arguments = [&["approvals", "explain", "git commit -m x"], rights].concat();
        lango.command(&arguments).run().await.stdout
    };
    let explained = explain(&["--with", "git"]).await;
    assert!(explained.contains("runs without asking"), "{explained}");
    assert!(explained.contains("It asks for the rights: git"), "{explained}");
    let explained = explain(&["--with", "git", "--with", "network"]).await;
    assert!(explained.contains("is asked about"), "{explained}");
    assert!(explained.contains("(git, network)"), "{explained}");
    let turn = lango.ask("commit").turn().await;
    assert_eq!((turn.code, last_commit(&lango).as_str()), (0, "second"));
    for wrong in [
        &["allow", "--with", "git"][..],
        &["allow", "--with", "root", "--", "ls"],
        &["deny", "--with", "git", "--tool", "fs_write"],
    ] {
        let added = lango.command(&[&["approvals", "add"], wrong].concat()).run().await;
        assert_eq!(added.code, 2, "{wrong:?}: {added:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_leaves_out_what_a_rule_denies_or_asks_about() {
    let calls = [
        ("fs_search", "{ pattern = \"canary\" }"),
        ("fs_list", "{ depth = 3 }"),
        ("fs_search", "{ pattern = \"canary\", path = \"secrets\" }"),
    ];
    let lango = Lango::playing(&[TO_OPERATOR, &calling("operator", &calls)]).await;
    for name in ["secrets/key", "src/.env", "src/fine"] {
        std::fs::create_dir_all(lango.workspace().join("secrets")).unwrap();
        std::fs::write(lango.workspace().join(name), "canary\n").unwrap();
    }
    add(&lango, &["deny", "--tool", "fs_*", "--", "secrets/*"]).await;
    add(&lango, &["ask", "--tool", "fs_*", "--", "*.env"]).await;
    let turn = lango.ask("search").turn().await;
    let results = turn.results();
    assert!(results[0].2.contains("src/fine:1: canary"), "{results:?}");
    assert!(results[0].2.contains("; 2 left out by a rule"), "{results:?}");
    for result in &results {
        assert!(!result.2.contains("secrets/key") && !result.2.contains(".env"), "{result:?}");
    }
    assert!(results[2].2.contains("1 left out by a rule"), "{results:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_script_is_not_asked_about() {
    let run = calling("operator", &[("exec_shell", "{ command = \"sh long.sh\" }")]);
    let lango = Lango::playing(&[TO_OPERATOR, &run]).await;
    let script = format!("{}touch made\n", "# a line\n".repeat(8000));
    std::fs::write(lango.workspace().join("long.sh"), script).unwrap();
    let turn = lango.ask("run it").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.count("approval_requested"), 0);
    assert!(was_denied(&turn), "{:?}", turn.results());
    assert!(turn.results()[0].2.contains("cannot be shown whole"), "{:?}", turn.results());
    assert!(!lango.workspace().join("made").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_contains_the_home_is_warned_about_once() {
    let lango =
        Lango::playing(&["[[reply]]\nagent = \"lango-orchestrator\"\nsay = \"hello\"\n"]).await;
    let warning = "contains your home";
    let workspace = lango.workspace().display().to_string();
    for (home, count) in [(workspace.as_str(), 1), ("/nowhere", 0)] {
        let ran = lango.command(&["run", "hello"]).set("HOME", home).run().await;
        assert_eq!((ran.code, ran.stderr.matches(warning).count()), (0, count), "{ran:?}");
        let doctor = lango.command(&["doctor"]).set("HOME", home).run().await;
        assert_eq!(doctor.stdout.matches(warning).count(), count, "{doctor:?}");
    }
    assert!(!lango.command(&["run", "hello"]).run().await.stderr.contains(warning));
}
