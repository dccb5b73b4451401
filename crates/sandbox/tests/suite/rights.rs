//! Tests what a job can do with a right that it was given, and that everything else stays as it was.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use lango_places::{Places, PlacesSettings};
use lango_protocol::Right;
use lango_sandbox::{
    ConfinementLevel, Job, PlantedKind, PlantedRepository, Sandbox, SandboxError, SandboxPolicy,
};

use crate::workspace::{CommandResult, LEVELS, TestWorkspace, finish};

const BUBBLEWRAP: ConfinementLevel = ConfinementLevel::Bubblewrap;
const IDENTITY: &str = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
    GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1;";

/// Runs git outside of the sandbox.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    git.args(arguments).current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null");
    git.env("GIT_CEILING_DIRECTORIES", directory.parent().unwrap());
    let output = git.output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Returns a workspace with a repository that has one commit.
fn with_repository() -> TestWorkspace {
    let workspace = TestWorkspace::at(BUBBLEWRAP);
    git(&top(&workspace), &["init", "-q"]);
    workspace.put("file", "one\n");
    git(&top(&workspace), &["add", "."]);
    git(&top(&workspace), &["commit", "-qm", "first"]);
    workspace
}

fn top(workspace: &TestWorkspace) -> PathBuf {
    workspace.path(".").canonicalize().unwrap()
}

/// Builds a job with rights, as the operator does.
fn job(
    workspace: &TestWorkspace,
    policy: &SandboxPolicy,
    rights: &[&str],
    command: &str,
) -> Result<Job, SandboxError> {
    let top = top(workspace);
    let mut job = workspace.job(&format!("{IDENTITY} {command}"));
    job.bounds = policy.job_bounds(&top);
    for right in rights {
        let right: Right = right.parse().unwrap();
        job.bounds.grant(workspace.sandbox.resolve_right(policy, &top, &top, &right)?);
    }
    Ok(job)
}

async fn run_with(
    workspace: &TestWorkspace,
    rights: &[&str],
    command: &str,
) -> (CommandResult, Vec<PlantedRepository>) {
    let job = job(workspace, &SandboxPolicy::default(), rights, command).unwrap();
    let mut confined = workspace.sandbox.spawn(job).await.unwrap();
    confined.wait().await.unwrap();
    let planted = confined.take_planted_repositories();
    (finish(confined).await.unwrap(), planted)
}

async fn succeeds(workspace: &TestWorkspace, rights: &[&str], command: &str) -> String {
    let (result, planted) = run_with(workspace, rights, command).await;
    assert_eq!((result.code, planted), (Some(0), vec![]), "{command}: {result:?}");
    result.out
}

#[tokio::test]
async fn git_works_with_its_right_and_not_without() {
    let workspace = with_repository();
    let before = workspace.names();
    let (result, _) = run_with(&workspace, &[], "echo two > file && git commit -qam two").await;
    assert_ne!(result.code, Some(0));
    assert!(result.err.contains("Read-only file system"), "{result:?}");
    for command in [
        "git add -A && git commit -qm second",
        "git branch side && git checkout -q side && echo x > x && git add x && git commit -qm x",
        "git checkout -q main && echo y > y && git add y && git commit -qm y && git merge -qm m side",
        "echo z >> file && git stash -q && git stash pop -q && git checkout -q file",
        "git tag one && git mv x moved && git commit -qm moved && git reset -q --soft HEAD~1",
        "git commit -qm again && git rebase -q HEAD~1 && git gc -q && git fsck",
    ] {
        succeeds(&workspace, &["git"], command).await;
    }
    assert_eq!(git(&top(&workspace), &["log", "-1", "--format=%s"]), "again");
    assert_eq!(git(&top(&workspace), &["status", "--short"]), "");
    // No reserved name was committed, and none is left.
    let mut expected = [&before[..], &["moved".to_owned(), "y".to_owned()]].concat();
    expected.sort();
    assert_eq!(workspace.names(), expected);
    for name in ["commondir", "config.worktree", "modules", "remotes", "objects/info/alternates"] {
        assert!(!workspace.path(".git").join(name).exists(), "{name}");
    }
}

/// Attempts to change what decides which programs git starts.
const ATTEMPTS: [&str; 30] = [
    "git config x.y z",
    "git config core.fsmonitor ./evil",
    "echo evil > .git/hooks/pre-commit",
    "echo evil > .git/config",
    "echo evil > .git/config.lock && mv -f .git/config.lock .git/config",
    "rm -f .git/config && echo evil > .git/config",
    "ln -f file .git/config",
    "ln -sf ../file .git/config",
    "ln .git/config linked",
    "mv .git/config .git/c",
    "mv .git x",
    "mv .git .git2 && mkdir .git",
    "rm -rf .git/hooks; mkdir .git/hooks && touch .git/hooks/x",
    "mv .git/hooks .git/h",
    "rmdir .git/hooks; ln -sfn /tmp .git/hooks",
    "mkdir d && mv -T d .git/hooks",
    "echo '* filter=x' > .git/info/attributes",
    "mv .git/info .git/i",
    "mkdir -p .git/modules/x && echo evil > .git/modules/x/config",
    "mkdir -p .git/worktrees/x && echo evil > .git/worktrees/x/config.worktree",
    "git worktree add -q ../x 2>&1",
    "git worktree add -q tree",
    "echo /tmp/evil > .git/commondir",
    "rm -f .git/commondir && echo ../evil > .git/commondir",
    "echo x > c && mv -f c .git/commondir",
    "echo evil > .git/config.worktree",
    "mkdir -p .git/remotes && echo 'URL: ext::evil' > .git/remotes/origin",
    "echo /tmp > .git/objects/info/alternates",
    "mv .git/objects .git/o && mkdir -p .git/objects/info && echo /tmp > .git/objects/info/alternates",
    "rm -f .git/HEAD; echo 'ref: refs/heads/main' > HEAD",
];

/// Returns the names and contents of what decides about programs, as a user's git sees them.
fn deciding(workspace: &TestWorkspace) -> String {
    let listed = Command::new("sh")
        .args([
            "-c",
            "for f in config config.worktree commondir modules worktrees remotes; do \
            echo $f; cat $f 2>&1; done; find hooks info objects/info | sort; cat hooks/* info/*; \
            test ! -e ../HEAD",
        ])
        .current_dir(workspace.path(".git"))
        .output()
        .unwrap();
    assert!(listed.status.success());
    String::from_utf8_lossy(&listed.stdout).into_owned()
}

#[tokio::test]
async fn what_decides_about_programs_stays_while_the_repository_is_written() {
    let workspace = with_repository();
    let before = deciding(&workspace);
    for attempt in ATTEMPTS {
        let (result, _) = run_with(&workspace, &["git"], attempt).await;
        assert_ne!(result.code, Some(0), "{attempt}: {result:?}");
        assert_eq!(deciding(&workspace), before, "{attempt}");
        // A repository that was broken is put right for the next attempt.
        std::fs::write(workspace.path(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }
}

#[tokio::test]
async fn a_link_in_the_repository_keeps_it_read_only() {
    let workspace = with_repository();
    std::fs::remove_dir_all(workspace.path(".git/hooks")).unwrap();
    workspace.put("own-hooks/pre-commit", "mine");
    symlink("../own-hooks", workspace.path(".git/hooks")).unwrap();
    for attempt in ["git commit -q --allow-empty -m x", "echo evil > own-hooks/pre-commit"] {
        let (result, _) = run_with(&workspace, &["git"], attempt).await;
        assert_ne!(result.code, Some(0), "{attempt}: {result:?}");
    }
    assert_eq!(workspace.content("own-hooks/pre-commit"), "mine");
}

#[tokio::test]
async fn steps_of_a_rebase_that_run_programs_are_disabled() {
    let workspace = with_repository();
    let plant =
        "mkdir -p .git/rebase-merge && echo 'exec evil' > .git/rebase-merge/git-rebase-todo";
    let (result, planted) = run_with(&workspace, &["git"], plant).await;
    assert_eq!(result.code, Some(0));
    assert!(planted.len() == 1 && planted[0].kind == PlantedKind::Steps, "{planted:?}");
    assert!(!workspace.path(".git/rebase-merge").exists());
    // A pipe and a link without end are not waited for.
    for plant in ["mkfifo", "ln -s /dev/zero"] {
        let plant = format!("mkdir .git/rebase-merge && {plant} .git/rebase-merge/git-rebase-todo");
        let (_, planted) = run_with(&workspace, &["git"], &plant).await;
        assert!(planted.iter().any(|one| one.kind == PlantedKind::Steps), "{plant}");
        assert!(!workspace.path(".git/rebase-merge").exists(), "{plant}");
    }
    let plant =
        "mkdir .git/sequencer && printf '[options]\\n strategy = /../x' > .git/sequencer/opts";
    assert_eq!(run_with(&workspace, &["git"], plant).await.1.len(), 1);
    // One of the user that is not changed stays.
    workspace.put(".git/rebase-merge/git-rebase-todo", "exec mine\n");
    succeeds(&workspace, &["git"], "git tag x").await;
    assert!(workspace.path(".git/rebase-merge/git-rebase-todo").exists());
}

#[tokio::test]
async fn a_link_through_which_git_would_write_is_disabled() {
    let workspace = with_repository();
    std::fs::write(workspace.outside().join("start-up"), "mine\n").unwrap();
    let target = workspace.outside().join("start-up").display().to_string();
    symlink("own", workspace.path(".git/own-link")).unwrap();
    let plant = format!(
        "ln -sf {target} .git/COMMIT_EDITMSG && ln -sf {target} .git/logs/HEAD && \
         ln -sf {target} .git/MERGE_MSG && mkfifo .git/FETCH_HEAD"
    );
    let (result, planted) = run_with(&workspace, &["git"], &plant).await;
    assert_eq!((result.code, planted.len()), (Some(0), 4), "{planted:?}");
    git(&top(&workspace), &["commit", "-q", "--allow-empty", "-m", "evil"]);
    assert_eq!(std::fs::read_to_string(target).unwrap(), "mine\n");
    assert!(workspace.path(".git/own-link").symlink_metadata().is_ok(), "it was there before");
}

/// Writes an index with another path than git would add, as the last argument says.
const FORGE: &str = "mkdir -p xgit/hooks && echo 'echo evil > pwned' > xgit/hooks/post-checkout && \
    chmod +x xgit/hooks/post-checkout && git add xgit && perl -MDigest::SHA=sha1 -0777 -i -pe \
    'substr($_, -20) = q(); s(xgit/hooks)(.git/hooks); $_ .= sha1($_)' .git/index && rm -r xgit";

#[tokio::test]
async fn a_configuration_that_another_program_replaces_meanwhile_gives_no_way_in() {
    let workspace = with_repository();
    let wait = "touch started; while ! test -e replaced; do sleep 0.02; done; git config \
                core.fsmonitor ./evil; true";
    let job = job(&workspace, &SandboxPolicy::default(), &["git"], wait).unwrap();
    let mut confined = workspace.sandbox.spawn(job).await.unwrap();
    // As an editor does that notes where a branch came from: the file is replaced, and with it the
    // mount that covered it.
    while !workspace.path("started").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    git(&top(&workspace), &["config", "branch.main.vscode-merge-base", "origin/main"]);
    workspace.put("replaced", "");
    confined.wait().await.unwrap();
    let planted = confined.take_planted_repositories();
    let config = workspace.content(".git/config");
    assert!(!config.contains("evil"), "{config}");
    assert!(planted.iter().all(|one| one.kind == PlantedKind::Config), "{planted:?}");
    // What the user changes alone stays.
    let job = self::job(&workspace, &SandboxPolicy::default(), &["git"], "true").unwrap();
    git(&top(&workspace), &["config", "branch.main.remote", "origin"]);
    let mut confined = workspace.sandbox.spawn(job).await.unwrap();
    confined.wait().await.unwrap();
    assert_eq!(confined.take_planted_repositories(), []);
    assert!(workspace.content(".git/config").contains("remote = origin"));
}

#[tokio::test]
async fn an_index_that_makes_git_write_hooks_is_disabled() {
    for version in ["2", "4"] {
        let workspace = with_repository();
        git(&top(&workspace), &["update-index", "--index-version", version]);
        let (result, planted) = run_with(&workspace, &["git"], FORGE).await;
        assert_eq!(result.code, Some(0), "{result:?}");
        let kinds: Vec<_> = planted.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [PlantedKind::Index], "{version}");
        git(&top(&workspace), &["checkout", "."]);
        assert!(!workspace.path(".git/hooks/post-checkout").exists());
        assert!(!workspace.path("pwned").exists());
        // What git itself writes is in order.
        git(&top(&workspace), &["reset", "-q"]);
        let usual = "git update-index --split-index && echo x > x && git add x && git commit -qm x";
        succeeds(&workspace, &["git"], usual).await;
        let plant = format!("git init -q new && cd new && {FORGE}");
        assert_eq!(run_with(&workspace, &["git"], &plant).await.1.len(), 1, "{version}");
    }
}

#[tokio::test]
async fn a_new_repository_that_later_commands_could_change_is_disabled() {
    let workspace = with_repository();
    let make = "mkdir -p a/b/c/d && git init -q a/b/c && git init -q a/b/c/d";
    let (_, planted) = run_with(&workspace, &["git"], make).await;
    assert_eq!(planted.len(), 1, "{planted:?}");
    assert!(planted[0].path.ends_with("a/b/c/d/.git"));
    let (result, _) = run_with(&workspace, &[], "echo evil > a/b/c/.git/config").await;
    assert_ne!(result.code, Some(0), "{result:?}");
}

#[tokio::test]
async fn a_new_repository_stays_with_the_right_if_it_is_plain() {
    let make = "git init -q . && echo a > a && git add -A && git commit -qm first && \
        mkdir sub && git init -q sub/new && git clone -q . copy";
    let workspace = TestWorkspace::at(BUBBLEWRAP);
    let (result, _) = run_with(&workspace, &[], make).await;
    assert_ne!(result.code, Some(0));
    assert!(workspace.names().is_empty());
    succeeds(&workspace, &["git"], make).await;
    assert_eq!(git(&top(&workspace), &["log", "--format=%s"]), "first");
    assert_eq!(git(&top(&workspace), &["ls-files"]), "a", "no reserved name was committed");
    for directory in ["sub/new", "copy"] {
        assert_eq!(git(&workspace.path(directory), &["rev-parse", "--git-dir"]), ".git");
    }
    assert_eq!(workspace.names(), [".git", "a", "copy", "sub"]);
}

#[tokio::test]
async fn a_new_repository_that_names_a_program_is_disabled_in_spite_of_the_right() {
    for plant in [
        "git config core.fsmonitor ./evil",
        "echo evil > .git/hooks/pre-commit",
        "rm -rf .git/hooks && ln -s ../sub .git/hooks",
        "echo ../sub > .git/commondir",
        "echo '* filter=x' > .git/info/attributes",
        "git config remote.origin.url 'ext::sh -c evil'",
        "mkdir .git/modules/x -p && touch .git/modules/x/config",
        "mv .git/config c && ln -s ../c .git/config",
    ] {
        for directory in [".", "sub"] {
            let workspace = TestWorkspace::at(BUBBLEWRAP);
            workspace.put("sub/file", "");
            let command = format!("cd {directory} && git init -q . && {plant}");
            let (result, planted) = run_with(&workspace, &["git"], &command).await;
            assert_eq!(result.code, Some(0), "{command}: {result:?}");
            assert_eq!(planted.len(), 1, "{command}: {planted:?}");
            assert_eq!(git(&workspace.path(directory), &["rev-parse", "--git-dir"]), "");
        }
    }
    // A bare one, and one that leads to it.
    let workspace = TestWorkspace::at(BUBBLEWRAP);
    let command = "git init -q --bare sub && mkdir x && echo 'gitdir: ../sub' > x/.git";
    assert_eq!(run_with(&workspace, &["git"], command).await.1.len(), 2);
}

#[tokio::test]
async fn the_right_opens_the_repository_of_the_directory_alone() {
    let workspace = with_repository();
    workspace.put("sub/file", "");
    git(&workspace.path("sub"), &["init", "-q"]);
    let (result, _) = run_with(&workspace, &["git"], "git -C sub add file").await;
    assert_ne!(result.code, Some(0), "{result:?}");
    let (policy, top) = (SandboxPolicy::default(), top(&workspace));
    let sub = top.join("sub");
    let granted = workspace.sandbox.resolve_right(&policy, &top, &sub, &Right::Git).unwrap();
    assert!(granted.to_string().contains("sub/.git"), "{granted}");
    // What leads to another place is refused, and so is what the configuration protects.
    std::fs::rename(top.join("sub/.git"), top.join("moved")).unwrap();
    std::fs::write(top.join("sub/.git"), "gitdir: ../moved").unwrap();
    assert!(workspace.sandbox.resolve_right(&policy, &top, &sub, &Right::Git).is_err());
    let protected = vec![top.join(".git")];
    let places = Places::new(PlacesSettings { protected, ..PlacesSettings::default() });
    let policy = SandboxPolicy { places, ..SandboxPolicy::default() };
    assert!(workspace.sandbox.resolve_right(&policy, &top, &top, &Right::Git).is_err());
}

#[tokio::test]
async fn a_granted_directory_can_be_written_and_nothing_beside_it() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        let outside = workspace.outside().canonicalize().unwrap();
        for name in ["given/in", "given/deep/repository", "beside"] {
            std::fs::create_dir_all(outside.join(name)).unwrap();
        }
        git(&outside.join("given/deep/repository"), &["init", "-q"]);
        let given = outside.join("given").display().to_string();
        let right = format!("write:{given}");
        succeeds(&workspace, &[&right], &format!("echo x > {given}/in/x")).await;
        for attempt in [
            format!("mkdir {given}/.git"),
            format!("echo x > {given}/AGENTS.md"),
            format!("echo x > {given}/deep/repository/.git/hooks/pre-commit"),
            format!("mv {given} {given}2"),
        ] {
            let (result, _) = run_with(&workspace, &[&right], &attempt).await;
            assert_ne!(result.code, Some(0), "{level}: {attempt}: {result:?}");
        }
        // Where temporary files are private, this may write to another directory of the same name.
        let beside = format!("echo x > {given}/../beside/x; echo x > {given}/../secret");
        run_with(&workspace, &[&right], &beside).await;
        assert!(!outside.join("beside/x").exists(), "{level}");
        assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "canary\n", "{level}");
        let plant = format!("git init -q {given}/in/planted");
        let (_, planted) = run_with(&workspace, &[&right], &plant).await;
        assert_eq!(planted.len(), 1, "{level}");
        run_with(&workspace, &[], &format!("echo x > {given}/in/y")).await;
        assert!(!outside.join("given/in/y").exists(), "{level}");
    }
}

#[tokio::test]
async fn a_directory_that_becomes_a_link_is_not_granted() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        let outside = workspace.outside().canonicalize().unwrap();
        std::fs::create_dir_all(outside.join("given")).unwrap();
        std::fs::create_dir_all(outside.join("other")).unwrap();
        let right = format!("write:{}", outside.join("given").display());
        let job = job(&workspace, &SandboxPolicy::default(), &[&right], "true").unwrap();
        std::fs::remove_dir(outside.join("given")).unwrap();
        symlink(outside.join("other"), outside.join("given")).unwrap();
        let error = workspace.sandbox.spawn(job).await.unwrap_err();
        assert!(matches!(error, SandboxError::Writable { .. }), "{level}: {error}");
    }
}

#[test]
fn no_directory_is_granted_that_decides_about_programs_or_holds_secrets() {
    let workspace = TestWorkspace::at(BUBBLEWRAP);
    let home = workspace.outside().canonicalize().unwrap();
    for name in
        [".ssh", ".config/lango", "dotfiles", "sock", "own", ".claude/x", "fine", "a/.git/x"]
    {
        std::fs::create_dir_all(home.join(name)).unwrap();
    }
    symlink(home.join("dotfiles"), home.join(".bashrc")).unwrap();
    symlink(home.join("fine"), home.join("link")).unwrap();
    let _listener = UnixListener::bind(home.join("sock/s")).unwrap();
    let top = top(&workspace);
    let places = Places::new(PlacesSettings {
        home: Some(home.clone()),
        own: vec![home.join("own/lango.db")],
        roots: vec![top.clone()],
        ..PlacesSettings::default()
    });
    let policy = SandboxPolicy { places, ..SandboxPolicy::default() };
    let grant = |path: &Path| {
        let right = format!("write:{}", path.display()).parse().unwrap();
        workspace.sandbox.resolve_right(&policy, &top, &top, &right)
    };
    grant(&home.join("fine")).unwrap();
    let at_home = ["", ".ssh", ".config", ".config/lango", "dotfiles", "sock", "own", ".claude"];
    let refused = at_home.map(|name| home.join(name)).into_iter();
    let refused = refused.chain(
        [".claude/x", "a/.git", "a/.git/x", "secret", "link", "gone"].map(|name| home.join(name)),
    );
    let machine =
        ["/", "/etc", "/usr/local/bin", "/bin", "/tmp", "/run", "/dev/shm", "/proc", "/var"];
    let refused = refused.chain(machine.map(PathBuf::from));
    for path in refused.chain([top.clone(), top.join("sub"), top.parent().unwrap().to_owned()]) {
        let error = grant(&path.components().collect::<PathBuf>()).unwrap_err();
        assert!(matches!(error, SandboxError::Right { .. }), "{}: {error}", path.display());
    }
}

#[tokio::test]
async fn the_network_is_reached_with_its_right_alone() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let connect = format!("/bin/bash -c '{connect}'");
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        let (result, _) = run_with(&workspace, &[], &connect).await;
        assert_ne!(result.code, Some(0), "{level}: {result:?}");
        succeeds(&workspace, &["network"], &connect).await;
    }
}

#[test]
fn a_level_that_cannot_keep_a_right_narrow_does_not_give_it() {
    let workspace = with_repository();
    let (policy, top) = (SandboxPolicy::default(), top(&workspace));
    let at = |level, right: &str| {
        let sandbox = Sandbox {
            requirement: lango_sandbox::LevelRequirement::Exactly(level),
            ..Sandbox::default()
        };
        sandbox.resolve_right(&policy, &top, &top, &right.parse().unwrap())
    };
    let refused = at(ConfinementLevel::Landlock, "git").unwrap_err().to_string();
    assert!(refused.contains("apt install bubblewrap"), "{refused}");
    for right in ["git", "network", "write:/home"] {
        let refused = at(ConfinementLevel::None, right).unwrap_err().to_string();
        assert!(refused.contains("not confined"), "{refused}");
    }
}
