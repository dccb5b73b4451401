//! A job that only reads sees the workspace and the programs of the machine, and changes nothing.

use std::os::unix::fs::symlink;
use std::path::Path;

use lango_sandbox::SandboxPolicy;

use crate::workspace::{LEVELS, TestWorkspace};

/// Returns workspaces for jobs that only read: among temporary files, and in another directory.
fn workspaces() -> impl Iterator<Item = TestWorkspace> {
    let places = [std::env::temp_dir(), Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned()];
    let places = places.into_iter().flat_map(|place| LEVELS.map(|level| (place.clone(), level)));
    places.map(|(place, level)| {
        let mut workspace = TestWorkspace::within(level, &place);
        let root = workspace.path("").canonicalize().unwrap();
        workspace.bounds = SandboxPolicy::default().reading_bounds(&root);
        workspace.put("notes.txt", "first\nsecond\n");
        workspace.put("docs/a.txt", "TODO\n");
        workspace
    })
}

#[tokio::test]
async fn the_workspace_is_read_with_the_programs_of_the_machine() {
    for workspace in workspaces() {
        assert_eq!(workspace.prints("cat notes.txt | sort -r | head -n 1").await, "second\n");
        assert_eq!(workspace.prints("grep -rl TODO .").await, "./docs/a.txt\n");
        assert_eq!(
            workspace.prints("pwd").await.trim(),
            workspace.path("").to_str().unwrap().trim_end_matches('/')
        );
        assert!(
            workspace.prints("ls -la && wc -l notes.txt && uptime && free").await.contains("Mem")
        );
    }
}

#[tokio::test]
async fn nothing_outside_of_the_workspace_is_read_whatever_leads_there() {
    for workspace in workspaces() {
        let secret = workspace.outside().join("secret");
        symlink(&secret, workspace.path("link")).unwrap();
        symlink(workspace.outside(), workspace.path("way")).unwrap();
        workspace.put("list", &format!("{}\0", secret.display()));
        for command in [
            format!("cat {}", secret.display()),
            "cat link".to_owned(),
            "cat way/secret".to_owned(),
            "sort --files0-from=list".to_owned(),
            "wc --files0-from=list".to_owned(),
            format!("ls {}", workspace.outside().display()),
        ] {
            let result = workspace.refuses(&command).await;
            assert!(!result.out.contains("canary"), "{command}: {result:?}");
        }
        for command in
            ["grep -R canary . || true", "find -L . -name secret || true", "ls -RL || true"]
        {
            let shown = workspace.prints(command).await;
            assert!(
                !shown.contains("canary") && !shown.contains("way/secret"),
                "{command}: {shown}"
            );
        }
        // Other processes of the user are out of sight, and so are their environments.
        workspace.refuses("cat /proc/$PPID/environ").await;
    }
}

#[tokio::test]
async fn temporary_files_and_sockets_of_others_are_not_read() {
    for level in LEVELS {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let mut workspace = TestWorkspace::within(level, target);
        let root = workspace.path("").canonicalize().unwrap();
        workspace.bounds = SandboxPolicy::default().reading_bounds(&root);
        let tried = ["/tmp", "/run"].map(tempfile::tempdir_in);
        // Only root can write to /run.
        for place in tried.into_iter().filter_map(Result::ok) {
            let other = place.path().join("other");
            std::fs::write(&other, "canary").unwrap();
            symlink(&other, workspace.path("link")).unwrap();
            for command in [format!("cat {}", other.display()), "cat link".to_owned()] {
                let result = workspace.refuses(&command).await;
                assert!(!result.out.contains("canary"), "{level}: {command}: {result:?}");
            }
            std::fs::remove_file(workspace.path("link")).unwrap();
        }
    }
}

#[tokio::test]
async fn nothing_is_changed() {
    for workspace in workspaces() {
        let before = workspace.names();
        for command in [
            "echo x > new",
            "echo x >> notes.txt",
            "rm notes.txt",
            "mkdir new",
            "mv notes.txt other",
            "sort -o notes.txt notes.txt",
        ] {
            workspace.refuses(command).await;
        }
        assert_eq!(workspace.names(), before);
        assert_eq!(workspace.content("notes.txt"), "first\nsecond\n");
    }
}
