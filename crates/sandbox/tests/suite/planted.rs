//! Tests that a command leaves nothing behind that runs programs later, and no placeholder.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lango_places::{Places, PlacesSettings};
use lango_sandbox::{
    ConfinementLevel, PlantedKind, PlantedRepository, SandboxError, SandboxPolicy,
};

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

/// Runs a command that must succeed, and returns what it planted.
async fn run_planting(workspace: &TestWorkspace, command: &str) -> Vec<PlantedRepository> {
    let mut confined = workspace.start(command).await.unwrap();
    let planted = confined.wait().await.map(|_| confined.take_planted_repositories()).unwrap();
    let result = finish(confined).await.unwrap();
    assert_eq!(result.code, Some(0), "{command}: {result:?}");
    planted
}

/// Returns the paths of what was planted, relative to the workspace, sorted.
fn list_paths(workspace: &TestWorkspace, planted: &[PlantedRepository]) -> Vec<String> {
    let top = workspace.path(".").canonicalize().unwrap();
    let below = planted.iter().map(|one| one.path.strip_prefix(&top).unwrap());
    let mut paths: Vec<String> = below.map(|path| path.to_str().unwrap().to_owned()).collect();
    paths.sort();
    paths
}

#[tokio::test]
async fn repositories_are_found_however_deep_and_behind_however_many_files() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        let deep = (0..40).map(|number| format!("d{number}")).collect::<Vec<_>>().join("/");
        workspace.put(&format!("{deep}/file"), "");
        for number in 0..3000 {
            workspace.put(&format!("many/{}/{number}", number % 10), "");
        }
        workspace.put("many/zz/y/x/file", "");
        let workspace = with_policy(workspace);
        let command = format!(
            "(mkdir {deep}/.git && cd {deep}/.git && {BARE}) && \
             (mkdir -p {deep}/new/x && cd {deep}/new/x && {BARE}) && \
             (cd many/zz/y/x && {BARE})"
        );
        let planted = run_planting(&workspace, &command).await;
        let expected = [format!("{deep}/.git"), format!("{deep}/new/x"), "many/zz/y/x".to_owned()];
        assert_eq!(list_paths(&workspace, &planted), expected, "{level}");
        for directory in [&deep, &expected[1], &expected[2]] {
            assert!(!git_finds_repository(&workspace, directory), "{level}: {directory}");
        }
    }
}

/// The directory of a repository that is too deep to be protected.
const DEEP: &str = "a/b/c/d/e";

fn git_in(directory: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=x", "-c", "user.email=x@example.org"]).args(arguments);
    assert!(git.current_dir(directory).status().unwrap().success(), "{arguments:?}");
}

/// Returns a workspace with a deep repository that has a hook and settings of the user's.
fn with_deep_repository(level: ConfinementLevel) -> TestWorkspace {
    let workspace = TestWorkspace::at(level);
    workspace.put(&format!("{DEEP}/file"), "one");
    let directory = workspace.path(DEEP);
    git_in(&directory, &["init", "-q", "-b", "main"]);
    git_in(&directory, &["config", "core.fsmonitor", "/bin/true"]);
    git_in(&directory, &["add", "file"]);
    git_in(&directory, &["commit", "-qm", "one"]);
    std::fs::write(directory.join(".git/hooks/post-checkout"), "#!/bin/sh\n").unwrap();
    with_policy(workspace)
}

#[tokio::test]
async fn a_deep_repository_can_be_used_and_stays_the_users() {
    for level in LEVELS {
        let workspace = with_deep_repository(level);
        let command = format!(
            "cd {DEEP} && echo two > file && \
             git -c user.name=x -c user.email=x@example.org commit -qam two && \
             git checkout -qb side && git status && git gc -q && git update-server-info"
        );
        assert_eq!(run_planting(&workspace, &command).await, [], "{level}");
        assert!(git_finds_repository(&workspace, DEEP), "{level}");
        let config = workspace.content(&format!("{DEEP}/.git/config"));
        assert!(config.contains("/bin/true"), "{level}: {config}");
    }
}

/// Ways to make git start programs in a deep repository, as seen from its `.git`, with the kind of what is
/// found.
const CHANGES: [(&str, PlantedKind); 12] = [
    ("echo evil > hooks/pre-commit", PlantedKind::Repository),
    ("echo evil >> hooks/post-checkout", PlantedKind::Repository),
    ("mv hooks aside && mkdir hooks && echo evil > hooks/pre-commit", PlantedKind::Repository),
    ("cp hooks/post-checkout hooks/pre-push", PlantedKind::Repository),
    ("echo '* filter=x' > info/attributes", PlantedKind::Repository),
    ("echo ../evil > commondir", PlantedKind::Repository),
    ("printf '[core]\n\tpager = evil\n' > config.worktree", PlantedKind::Repository),
    ("mkdir -p modules/sub/hooks && echo evil > modules/sub/hooks/x", PlantedKind::Repository),
    ("echo /evil > objects/info/alternates", PlantedKind::Repository),
    ("printf '[alias]\n\tst = !evil\n' >> config", PlantedKind::Config),
    ("mkdir rebase-merge && echo 'exec evil' > rebase-merge/git-rebase-todo", PlantedKind::Steps),
    ("rm -f description && ln -s ../../x description", PlantedKind::Link),
];

#[tokio::test]
async fn a_deep_repository_in_which_programs_were_planted_is_disabled() {
    for level in LEVELS {
        for (change, kind) in CHANGES {
            let workspace = with_deep_repository(level);
            let planted = run_planting(&workspace, &format!("cd {DEEP}/.git && {change}")).await;
            let kinds: Vec<PlantedKind> = planted.iter().map(|one| one.kind).collect();
            assert_eq!(kinds, [kind], "{level}: {change}: {planted:?}");
            assert!(planted[0].renamed.is_some(), "{level}: {change}: {planted:?}");
            let is_disabled = kind == PlantedKind::Repository;
            assert_eq!(!git_finds_repository(&workspace, DEEP), is_disabled, "{level}: {change}");
            if kind == PlantedKind::Config {
                let config = workspace.content(&format!("{DEEP}/.git/config"));
                assert!(config.contains("/bin/true") && !config.contains("alias"), "{config}");
            }
        }
    }
}

#[tokio::test]
async fn a_directory_that_cannot_be_looked_through_is_reported() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        workspace.put("sub/file", "");
        let workspace = with_policy(workspace);
        // A path longer than any call takes, in steps.
        let perl = "chdir(\"sub\"); $n = \"x\" x 250; for (1..20) { mkdir($n) or die $!; \
            chdir($n) or die $! } mkdir(\".git\")";
        let planted = run_planting(&workspace, &format!("/usr/bin/perl -e '{perl}'")).await;
        let kinds: Vec<PlantedKind> = planted.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [PlantedKind::Unchecked], "{level}: {planted:?}");
        assert!(planted[0].to_string().contains("could not be checked"), "{planted:?}");
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
