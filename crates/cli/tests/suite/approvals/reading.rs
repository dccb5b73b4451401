//! Commands that only read, in whole turns with no user to ask.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use lango_protocol::CallStatus;

use super::toml_text;
use crate::fixture::{Lango, TO_OPERATOR, calling};

const LEVELS: [&str; 2] = ["bubblewrap", "landlock"];

/// Lango with an operator that runs one command in a directory of the workspace.
async fn wanting(command: &str, directory: &str) -> Lango {
    let arguments =
        format!("{{ command = {}, cwd = {} }}", toml_text(command), toml_text(directory));
    Lango::playing(&[TO_OPERATOR, &calling("operator", &[("exec_shell", &arguments)])]).await
}

/// Runs the command at a level of the sandbox. Returns its result, and none if it was not run unasked.
async fn run_unasked(lango: &Lango, level: &str) -> Option<String> {
    let turn = lango.ask("look").set("LANGO_SANDBOX_LEVEL", level).turn().await;
    let ran = turn.count("tool_started") == 1;
    assert_eq!(turn.count("approval_requested"), usize::from(!ran), "{:?}", turn.results());
    assert_eq!(turn.results_with(CallStatus::Denied), usize::from(!ran), "{:?}", turn.results());
    ran.then(|| turn.results()[0].2.to_owned())
}

fn git(directory: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    let output = git.args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn make_repository(directory: &Path) {
    git(directory, &["init", "-q"]);
    git(directory, &["add", "."]);
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
    git(directory, &[&identity[..], &["commit", "-q", "-m", "first"]].concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_reads_in_the_workspace_runs_unasked() {
    for level in LEVELS {
        for (command, shown) in [
            ("ls", "README.md"),
            ("cat README.md | wc -l", "exit code 0"),
            ("git status --short && git log --oneline", "?? new.txt"),
            ("git diff --stat", "README.md"),
            ("find . -name '*.txt' | sort", "./new.txt"),
        ] {
            let lango = wanting(command, ".").await;
            make_repository(&lango.workspace());
            std::fs::write(lango.workspace().join("new.txt"), "new\n").unwrap();
            std::fs::write(lango.workspace().join("README.md"), "changed\n").unwrap();
            let result = run_unasked(&lango, level).await;
            let result = result.unwrap_or_else(|| panic!("{level}: {command} was not run"));
            assert!(result.contains(shown), "{level}: {command}: {result}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leads_out_of_the_workspace_shows_nothing() {
    for level in LEVELS {
        for command in [
            "cat link",
            "cat way/private.txt",
            "sort --files0-from=list",
            "wc -l --files0-from=list && cat link",
            "grep -R canary .",
            "find -L . -name private.txt",
        ] {
            let lango = wanting(command, ".").await;
            let outside = lango.workspace().parent().unwrap().join("outside");
            std::fs::create_dir(&outside).unwrap();
            let private = outside.join("private.txt");
            std::fs::write(&private, "canary-4711\n").unwrap();
            symlink(&private, lango.workspace().join("link")).unwrap();
            symlink(&outside, lango.workspace().join("way")).unwrap();
            let list = format!("{}\0", private.display());
            std::fs::write(lango.workspace().join("list"), list).unwrap();
            let result = run_unasked(&lango, level).await.unwrap_or_default();
            assert!(!result.contains("canary-4711"), "{level}: {command}: {result}");
            assert!(!result.contains("way/private.txt\n"), "{level}: {command}: {result}");
        }
    }
}

/// Makes a directory that git takes for a repository whose configuration names a program.
fn plant_repository(directory: &Path, witness: &Path) {
    std::fs::create_dir_all(directory.join("objects")).unwrap();
    std::fs::create_dir_all(directory.join("refs")).unwrap();
    std::fs::write(directory.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = format!(
        "[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch {}; true\"\n",
        witness.display()
    );
    std::fs::write(directory.join("config"), config).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_in_the_workspace_runs_no_program_of_its_own() {
    for level in LEVELS {
        let lango = wanting("git status", "bundled").await;
        let witness = lango.workspace().join("witness");
        plant_repository(&lango.workspace().join("bundled"), &witness);
        make_repository(&lango.workspace());
        let result = run_unasked(&lango, level).await;
        let result = result.expect("the repository of the workspace is plain");
        assert!(result.contains("nothing to commit"), "{level}: {result}");
        assert!(!witness.exists(), "{level}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn git_is_asked_about_where_a_repository_could_name_programs() {
    for level in LEVELS {
        // A submodule, whose own configuration git obeys.
        let lango = wanting("git status", ".").await;
        let (root, witness) = (lango.workspace(), lango.workspace().join("witness"));
        make_repository(&root);
        let nested = root.join("sub");
        std::fs::create_dir(&nested).unwrap();
        std::fs::write(nested.join("a"), "a\n").unwrap();
        make_repository(&nested);
        git(&root, &["-c", "advice.addEmbeddedRepo=false", "add", "sub"]);
        let monitor = format!("touch {}; true", witness.display());
        git(&nested, &["config", "core.fsmonitor", &monitor]);
        assert_eq!(run_unasked(&lango, level).await, None, "{level}: a submodule");
        assert!(!witness.exists(), "{level}");
        // The repository of the workspace itself.
        let lango = wanting("git status", ".").await;
        make_repository(&lango.workspace());
        git(&lango.workspace(), &["config", "core.fsmonitor", &monitor]);
        assert_eq!(run_unasked(&lango, level).await, None, "{level}: a configuration");
        // No repository at all: git would look for one above.
        let lango = wanting("git status", ".").await;
        assert_eq!(run_unasked(&lango, level).await, None, "{level}: no repository");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_the_workspace_is_no_program_of_the_system() {
    let lango = wanting("ls", ".").await;
    let planted = lango.workspace().join("ls");
    std::fs::write(&planted, "#!/bin/sh\necho owned\n").unwrap();
    std::fs::set_permissions(&planted, std::fs::Permissions::from_mode(0o755)).unwrap();
    for path in [format!("{}:/usr/bin:/bin", lango.workspace().display()), ".:/usr/bin".to_owned()]
    {
        let turn = lango.ask("look").set("PATH", &path).turn().await;
        assert_eq!(turn.results_with(CallStatus::Denied), 1, "{path}: {:?}", turn.results());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_sandbox_or_with_a_rule_that_reading_could_evade_it_is_asked_about() {
    let lango = wanting("cat README.md", ".").await;
    assert_eq!(run_unasked(&lango, "none").await, None);
    for rule in [
        &["deny", "--tool", "fs_read", "--", "README.md"][..],
        &["deny", "--tool", "*", "--", "README.md"],
        &["ask", "--", "head", "README.md"],
        &["deny", "--", "cat", "./README.md"],
    ] {
        let lango = wanting("cat README.md", ".").await;
        let added = lango.command(&[&["approvals", "add"], rule].concat()).run().await;
        assert_eq!(added.code, 0, "{added:?}");
        assert_eq!(run_unasked(&lango, "auto").await, None, "{rule:?}");
    }
    let lango = wanting("cat README.md", ".").await;
    let rule = ["approvals", "add", "deny", "--", "rm", "*"];
    assert_eq!(lango.command(&rule).run().await.code, 0);
    assert!(run_unasked(&lango, "auto").await.is_some(), "a rule about another program");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_place_in_the_workspace_is_not_read() {
    for level in LEVELS {
        for command in ["cat .ssh/id_ed25519", "grep -r canary .", "cat link", "ls -la .ssh"] {
            let lango = wanting(command, ".").await;
            let home = lango.workspace();
            std::fs::create_dir(home.join(".ssh")).unwrap();
            std::fs::write(home.join(".ssh/id_ed25519"), "canary-4711\n").unwrap();
            symlink(".ssh/id_ed25519", home.join("link")).unwrap();
            let ask = lango.ask("look").set("LANGO_SANDBOX_LEVEL", level).set("HOME", &home);
            let turn = ask.turn().await;
            for (_, _, output) in turn.results() {
                assert!(!output.contains("canary-4711"), "{level}: {command}: {output}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_for_git_does_not_hold_in_a_repository_within_the_workspace() {
    for level in LEVELS {
        let lango = wanting("git status", "bundled").await;
        let witness = lango.workspace().join("witness");
        plant_repository(&lango.workspace().join("bundled"), &witness);
        make_repository(&lango.workspace());
        let rule = ["approvals", "add", "allow", "--", "git", "status"];
        assert_eq!(lango.command(&rule).run().await.code, 0);
        lango.ask("look").set("LANGO_SANDBOX_LEVEL", level).turn().await;
        assert!(!witness.exists(), "{level}");
    }
}
