//! Tests commands that ask for rights beyond the sandbox, and what rules keep from tools that walk.

use std::path::Path;
use std::process::Command;

use lango_sandbox::ConfinementLevel;
use lango_tool::ToolError;
use serde_json::{Value, json};

use crate::support::Bench;

const COMMIT: &str = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m second";

async fn with_repository() -> Bench {
    let bench = Bench::at(ConfinementLevel::Bubblewrap).await;
    git(&bench, &["init", "-q"]);
    git(
        &bench,
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-mx"],
    );
    bench
}

fn git(bench: &Bench, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(bench.path("")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[tokio::test]
async fn a_command_commits_with_the_right_and_is_told_of_it_without() {
    let bench = with_repository().await;
    let text = bench.call("exec_shell", json!({"command": COMMIT})).await.unwrap();
    assert!(text.contains("call again with rights [\"git\"]"), "{text}");
    let call = json!({"command": COMMIT, "rights": ["git"]});
    let text = bench.call("exec_shell", call).await.unwrap();
    assert!(text.starts_with("exit code 0"), "{text}");
    assert_eq!(git(&bench, &["log", "-1", "--format=%s"]), "second");
    let call = json!({"command": "git config core.pager evil", "rights": ["git"]});
    let text = bench.call("exec_shell", call).await.unwrap();
    assert!(!text.contains("exit code 0") && !text.contains("call again"), "{text}");
}

#[tokio::test]
async fn a_background_command_has_the_right_too() {
    let bench = with_repository().await;
    let call = json!({"command": COMMIT, "rights": ["git"]});
    bench.call("exec_background", call).await.unwrap();
    let wait = json!({"id": "p1", "wait_seconds": 30});
    let text = bench.call("exec_status", wait).await;
    let text = text.unwrap_or_else(|error| panic!("{error}"));
    assert!(text.contains("with exit code 0"), "{text}");
    assert_eq!(git(&bench, &["log", "-1", "--format=%s"]), "second");
}

#[tokio::test]
async fn the_question_names_every_right_and_what_it_opens() {
    let bench = with_repository().await;
    let outside = bench.outside().canonicalize().unwrap();
    let write = format!("write:{}", outside.display());
    let call = |rights: &[&str]| json!({"command": "ls", "rights": rights});
    let proposal = bench.propose("exec_shell", &call(&["git", "network", &write]));
    assert_eq!(proposal.rights.len(), 3);
    let git = bench.path(".git").canonicalize().unwrap();
    for line in [
        format!("  + git: it may write the repository {}, except for its hooks", git.display()),
        "  + network: it may reach the network".to_owned(),
        format!("  + {write}: it may write to {} and everything in it", outside.display()),
        "\nthe command:\n  $ ls\n".to_owned(),
        "confined by bubblewrap; with network; may write to ".to_owned(),
    ] {
        assert!(proposal.summary.contains(&line), "{line}\n{}", proposal.summary);
    }
    let without = bench.propose("exec_shell", &call(&[]));
    assert!(without.rights.is_empty() && !without.summary.contains("rights"), "{without:?}");
    // A right that cannot be given is refused when it runs, and the question says so.
    let hidden = bench.propose("exec_shell", &call(&["write:/etc"]));
    assert!(hidden.summary.contains("+ write:/etc (will be refused: "), "{}", hidden.summary);
    let ran = bench.call("exec_shell", call(&["write:/etc"])).await;
    assert!(matches!(ran, Err(ToolError::Forbidden(_))), "{ran:?}");
    // The repository is part of what was shown.
    let before = bench.propose("exec_shell", &call(&["git"]));
    std::fs::rename(bench.path(".git"), bench.path("moved")).unwrap();
    assert_ne!(before, bench.propose("exec_shell", &call(&["git"])));
}

#[tokio::test]
async fn what_is_no_right_is_refused_before_anything_is_asked() {
    let bench = Bench::new().await;
    for rights in
        [json!(["root"]), json!(["write:.."]), json!(["write:/a/../b"]), json!("git"), json!([1])]
    {
        let arguments = json!({"command": "ls", "rights": rights}).to_string();
        for tool in ["exec_shell", "exec_background"] {
            let prepared = bench.registry.get(tool).unwrap().prepare(&arguments);
            assert!(matches!(prepared, Err(ToolError::Arguments(_))), "{arguments}");
        }
    }
}

#[tokio::test]
async fn without_confinement_there_is_no_right_to_give() {
    let bench = Bench::at(ConfinementLevel::None).await;
    let ran = bench.call("exec_shell", json!({"command": "ls", "rights": ["network"]})).await;
    let Err(ToolError::Forbidden(why)) = ran else { panic!("{ran:?}") };
    assert!(why.contains("call without rights"), "{why}");
}

fn is_secret(path: &Path) -> bool {
    path.starts_with("secrets") && path != Path::new("secrets")
        || path.extension().is_some_and(|extension| extension == "env")
}

#[tokio::test]
async fn what_a_rule_names_is_left_out_of_walks_and_kept_from_changes() {
    let bench = Bench::new().await;
    for name in ["secrets/key", "secrets/deep/key", "a/b/x.env", "a/b/fine", "top.env"] {
        bench.put(name, "canary\n");
    }
    let call =
        async |tool: &str, arguments: Value| bench.call_without(tool, arguments, is_secret).await;
    let found = call("fs_search", json!({"pattern": "canary"})).await.unwrap();
    assert_eq!(
        found,
        "1 matching lines in 1 files searched; 4 left out by a rule\na/b/fine:1: canary"
    );
    let listed = call("fs_list", json!({"depth": 8})).await.unwrap();
    assert!(listed.starts_with(".: 4 entries; 4 left out by a rule\n"), "{listed}");
    assert!(!listed.contains("key") && !listed.contains("env"), "{listed}");
    let listed = call("fs_list", json!({"path": "secrets"})).await.unwrap();
    assert_eq!(listed, "secrets: 0 entries; 2 left out by a rule");
    for (tool, arguments) in [
        ("fs_delete", json!({"path": "a", "recursive": true})),
        ("fs_move", json!({"from": "secrets", "to": "public"})),
        ("fs_move", json!({"from": "a", "to": "c"})),
        ("fs_copy", json!({"from": "a", "to": "c"})),
        ("fs_copy", json!({"from": ["a/b/fine", "secrets"], "to": "c"})),
    ] {
        let ran = call(tool, arguments.clone()).await;
        assert!(matches!(ran, Err(ToolError::Forbidden(_))), "{tool} {arguments}: {ran:?}");
    }
    assert!(bench.path("a/b/x.env").exists() && bench.path("secrets/deep/key").exists());
    call("fs_delete", json!({"path": "a/b/fine"})).await.unwrap();
}
