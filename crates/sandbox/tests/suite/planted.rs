//! Tests that a command leaves nothing behind that runs programs later, and no placeholder.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lango_places::{Places, PlacesSettings};
use lango_sandbox::{ConfinementLevel, SandboxError, SandboxPolicy};

use crate::workspace::{LEVELS, TestWorkspace, finish};

/// Returns a workspace with the bounds of the policy, taken now.
fn with_policy(mut workspace: TestWorkspace) -> TestWorkspace {
    workspace.bounds =
        SandboxPolicy::default().job_bounds(&workspace.path(".").canonicalize().unwrap());
    workspace
}

/// Tells whether git finds a repository of its own in a directory of the workspace.
fn git_finds_repository(workspace: &TestWorkspace, directory: &str) -> bool {
    let mut git = Command::new("git");
    git.args(["rev-parse", "--git-dir"]).current_dir(workspace.path(directory));
    git.env("GIT_CEILING_DIRECTORIES", workspace.path("").parent().unwrap());
    git.stdin(Stdio::null()).output().unwrap().status.success()
}

/// The shell commands that make a repository in the current directory, without git.
const BARE: &str = "mkdir -p objects refs && echo 'ref: refs/heads/main' > HEAD && \
    printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = true\\n' > config";

#[tokio::test]
async fn a_bare_repository_at_the_top_cannot_be_made() {
    let workspace = with_policy(TestWorkspace::at(ConfinementLevel::Bubblewrap));
    workspace.refuses(BARE).await;
    assert!(!git_finds_repository(&workspace, "."));
    assert!(!workspace.path("HEAD").exists());
}

#[tokio::test]
async fn repositories_that_a_command_makes_below_are_disabled() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        workspace.put("sub/file", "");
        workspace.put("link/file", "");
        workspace.put("deep/a/b/file", "");
        let workspace = with_policy(workspace);
        let command = format!(
            "(cd sub && {BARE}) && (mkdir -p sub/new/x && cd sub/new/x && {BARE}) && \
             (mkdir deep/a/.git && cd deep/a/.git && {BARE}) && \
             echo 'gitdir: ../sub' > link/.git && \
             (mkdir -p deep/tree && cd deep/tree && echo ref: refs/heads/main > HEAD && \
              echo ../../sub > commondir)"
        );
        let mut confined = workspace.start(&command).await.unwrap();
        assert!(confined.wait().await.unwrap().success());
        let planted = confined.take_planted_repositories();
        let mut paths: Vec<PathBuf> = planted.iter().map(|one| one.path.clone()).collect();
        paths.sort();
        let expected = ["deep/a/.git", "deep/tree", "link/.git", "sub", "sub/new/x"];
        let top = workspace.path(".").canonicalize().unwrap();
        assert_eq!(paths, expected.map(|path| top.join(path)), "{level}");
        for directory in ["sub", "sub/new/x", "deep/a", "deep/tree", "link"] {
            assert!(!git_finds_repository(&workspace, directory), "{level}: {directory}");
        }
        assert!(planted.iter().all(|one| one.renamed.is_some()), "{planted:?}");
        // Nothing is lost.
        assert!(workspace.path("sub/HEAD.untrusted").exists());
        assert!(workspace.path("sub/config").exists());
    }
}

#[tokio::test]
async fn repositories_that_were_there_stay_as_they_are() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        workspace.put("deep/a/b/c/d/file", "");
        for arguments in [&["one"][..], &["deep/a/b/c/d"], &["bare", "--bare"]] {
            let mut git = Command::new("git");
            git.args(["init", "-q"]).args(arguments).current_dir(workspace.path("."));
            assert!(git.status().unwrap().success());
        }
        let workspace = with_policy(workspace);
        workspace.refuses("echo '[core]' >> bare/config").await;
        let mut confined = workspace.start("touch deep/a/b/c/d/x").await.unwrap();
        assert!(confined.wait().await.unwrap().success());
        assert_eq!(confined.take_planted_repositories(), [], "{level}");
        for directory in ["one", "bare", "deep/a/b/c/d"] {
            assert!(git_finds_repository(&workspace, directory), "{level}: {directory}");
        }
    }
}

/// The ways to give a file a set-ID bit, as Perl.
const SET_ID: [&str; 9] = [
    "chmod(04755, \"sub/f\") or die $!",
    "chmod(02755, \"sub/f\") or die $!",
    "open(F, \"<sub/f\"); chmod(06755, *F) or die $!",
    "sysopen(F, \"sub/new\", 0101, 04755) or die $!",
    "sysopen(F, \"sub\", 020200001, 04755) or die $!",
    // creat, mknod, mknodat, fchmodat2 by number.
    "$n = \"sub/new\"; syscall(85, $n, 04755) >= 0 or die $!",
    "$n = \"sub/new\"; syscall(133, $n, 0104755, 0) >= 0 or die $!",
    "$n = \"sub/new\"; syscall(259, -100, $n, 0104755, 0) >= 0 or die $!",
    "$n = \"sub/f\"; syscall(452, -100, $n, 04755, 0) >= 0 or die $!",
];

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn no_file_gets_a_set_id_bit() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        workspace.put("sub/f", "");
        for attempt in SET_ID {
            let result = workspace.refuses(&format!("/usr/bin/perl -e '{attempt}'")).await;
            assert!(result.err.contains("not permitted"), "{level}: {attempt}: {result:?}");
            for entry in std::fs::read_dir(workspace.path("sub")).unwrap() {
                let mode = entry.unwrap().metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o6000, 0, "{level}: {attempt}");
            }
        }
        // The mode of this call is in memory, so that the whole call is missing.
        let missing = "/usr/bin/perl -e '$n = \"sub/f\"; $how = \"\\0\" x 24;
            syscall(437, -100, $n, $how, 24); print $!+0'";
        assert_eq!(workspace.prints(missing).await, "38", "{level}");
        // Other modes, pipes and files are as usual.
        workspace
            .prints("chmod 1777 sub && chmod 755 sub/f && mkfifo sub/p && cp -p sub/f sub/g")
            .await;
    }
}

#[tokio::test]
async fn directories_of_the_machine_are_no_workspaces() {
    for level in LEVELS {
        for path in ["/tmp", "/run", "/dev"] {
            let mut workspace = TestWorkspace::at(level);
            workspace.bounds.writable = vec![path.into()];
            let error = workspace.try_run("true").await.unwrap_err();
            assert!(matches!(error, SandboxError::Writable { .. }), "{level} {path}: {error}");
            assert!(error.to_string().contains("sockets"), "{error}");
        }
    }
}

#[tokio::test]
async fn names_of_editors_agents_and_pipelines_are_protected() {
    for level in LEVELS {
        let workspace = with_policy(TestWorkspace::at(level));
        for name in [
            ".claude",
            ".cursor",
            ".codex",
            ".vscode",
            ".github/workflows",
            ".gitlab-ci.yml",
            ".pre-commit-config.yaml",
            ".envrc",
        ] {
            workspace.refuses(&format!("mkdir -p {name} && touch {name}/x")).await;
            workspace.refuses(&format!("rm -rf {name}; echo evil > {name}")).await;
        }
        assert!(workspace.names().is_empty(), "{level}: {:?}", workspace.names());
    }
}

/// Returns a policy whose home is the workspace.
fn policy_at_home(home: &Path) -> SandboxPolicy {
    let settings = PlacesSettings { home: Some(home.to_owned()), ..PlacesSettings::default() };
    SandboxPolicy { places: Places::new(settings), ..SandboxPolicy::default() }
}

#[tokio::test]
async fn start_up_files_and_socket_directories_of_a_home_are_out_of_reach() {
    for level in LEVELS {
        let mut workspace = TestWorkspace::at(level);
        for name in [".rd", ".lima", ".orbstack", ".1password"] {
            workspace.put(&format!("{name}/socket"), "canary");
        }
        workspace.put("kept/file", "");
        let home = workspace.path(".").canonicalize().unwrap();
        workspace.bounds = policy_at_home(&home).job_bounds(&home);
        for name in [".rd", ".lima", ".orbstack", ".1password"] {
            workspace.refuses(&format!("cat {name}/socket")).await;
        }
        for name in [".kshrc", ".cshrc", ".bashrc", ".config/environment.d/x.conf"] {
            workspace.refuses(&format!("mkdir -p .config/environment.d; echo evil > {name}")).await;
        }
        workspace.prints("echo fine > kept/file").await;
        let expected = [".1password", ".lima", ".orbstack", ".rd", "kept"];
        assert_eq!(workspace.names(), expected, "{level}");
    }
}

#[tokio::test]
async fn placeholders_of_a_killed_owner_are_removed_and_nothing_else() {
    let workspace = TestWorkspace::at(ConfinementLevel::Bubblewrap);
    let top = workspace.path(".").canonicalize().unwrap();
    let policy = SandboxPolicy::default();
    let workspace = with_policy(workspace);
    let confined = workspace.start("while ! test -e go; do sleep 0.02; done").await.unwrap();
    assert!(workspace.path(".claude").exists());
    // In use, they stay.
    policy.remove_leftovers(&top).unwrap();
    assert!(workspace.path(".claude").exists() && workspace.path("AGENTS.md").exists());
    // A copy with the same times is what a killed owner leaves.
    let left = TestWorkspace::at(ConfinementLevel::Bubblewrap);
    let copy = Command::new("cp").arg("-a").arg(&top).arg(left.path("copy")).status().unwrap();
    assert!(copy.success());
    std::fs::write(left.path("copy/mine"), "").unwrap();
    std::fs::remove_file(left.path("copy/.mcp.json")).unwrap();
    std::fs::write(left.path("copy/.mcp.json"), "").unwrap();
    std::fs::write(left.path("copy/.git/file"), "").unwrap();
    let copy = left.path("copy").canonicalize().unwrap();
    policy.remove_leftovers(&copy).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(&copy)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".git", ".mcp.json", "mine"]);
    workspace.put("go", "");
    finish(confined).await.unwrap();
    assert_eq!(workspace.names(), ["go"]);
}
