//! Tests that protected paths of the workspace stay unchanged, existing or not.

use std::os::unix::fs::symlink;

use lango_sandbox::{ConfinementLevel, ProtectedPath};

use crate::workspace::{LEVELS, TestWorkspace};

/// Attempts of a command on a protected directory or file.
const ATTEMPTS: [&str; 14] = [
    "echo evil > .git/config",
    "mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
    "mkdir .git",
    "mv .git moved",
    "rm -rf .git && mkdir .git",
    "echo evil > .git",
    "ln -s /tmp .git",
    "ln -sfn /tmp .git",
    "echo evil > AGENTS.md",
    "echo evil >> .mcp.json",
    "rm -f AGENTS.md && echo evil > AGENTS.md",
    "mkdir sub/new && mv sub/new .agents",
    "echo evil > sub/x && mv -f sub/x .mcp.json",
    "mkdir -p .lango/agents",
];

#[tokio::test]
async fn what_is_not_there_cannot_be_made() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        workspace.put("sub/file", "");
        for command in ATTEMPTS {
            if command.starts_with("mv .git") && level == ConfinementLevel::Landlock {
                continue;
            }
            workspace.refuses(command).await;
            let names = workspace.names();
            assert_eq!(names, ["sub"], "{level}: {command}");
        }
    }
}

#[tokio::test]
async fn what_is_there_cannot_be_changed() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        for (name, content) in [
            ("sub/file", ""),
            (".git/config", "good"),
            (".git/hooks/x", "good"),
            (".lango/x", "good"),
            (".agents/x", "good"),
            (".mcp.json", "good"),
            ("AGENTS.md", "good"),
        ] {
            workspace.put(name, content);
        }
        let before = workspace.names();
        for command in ATTEMPTS {
            workspace.refuses(command).await;
            assert_eq!(workspace.names(), before, "{level}: {command}");
        }
        workspace.refuses("ln .git/config sub/hard && echo evil > sub/hard").await;
        if level == ConfinementLevel::Bubblewrap {
            // Landlock does not control modes.
            workspace.refuses("chmod 777 .git/config").await;
        }
        for name in
            [".git/config", ".git/hooks/x", ".lango/x", ".agents/x", ".mcp.json", "AGENTS.md"]
        {
            assert_eq!(workspace.content(name), "good", "{level}: {name}");
            assert_eq!(workspace.prints(&format!("cat {name}")).await, "good");
        }
    }
}

#[tokio::test]
async fn what_leads_to_a_protected_place_cannot_be_moved_away() {
    for level in LEVELS {
        let mut workspace = TestWorkspace::at(level);
        workspace.put("a/b/.git/config", "good");
        workspace.put("a/file", "");
        workspace.bounds.protected.push(ProtectedPath::directory(workspace.path("a/b/.git")));
        workspace.bounds.protected.push(ProtectedPath::directory(workspace.path("a/none/at/all")));
        for command in [
            "mv a x && mkdir -p a/b/.git",
            "mv a/b a/x && mkdir -p a/b/.git",
            "mv a/b/.git a/b/x",
            "echo evil > a/b/.git/config",
            "mkdir -p a/none/at/all",
            "rm -rf a/b && mkdir -p a/b/.git",
        ] {
            workspace.refuses(command).await;
            assert_eq!(workspace.content("a/b/.git/config"), "good", "{level}: {command}");
            assert!(
                !workspace.path("a/none").exists() && !workspace.path("a/b/.git/hooks").exists()
            );
        }
        workspace.prints("echo x > a/file").await;
    }
}

#[tokio::test]
async fn a_link_at_a_protected_name_cannot_be_replaced() {
    for level in LEVELS {
        let workspace = TestWorkspace::at(level);
        workspace.put("real/config", "good");
        workspace.put("notes", "good");
        workspace.put("sub/file", "");
        symlink("real", workspace.path(".git")).unwrap();
        symlink("notes", workspace.path("AGENTS.md")).unwrap();
        for command in [
            "rm .git && mkdir .git",
            "ln -sfn sub .git",
            "mv .git x",
            "echo evil > .git/config",
            "echo evil > real/config",
            "echo evil > AGENTS.md",
            "echo evil > sub/x && mv sub/x AGENTS.md",
        ] {
            workspace.refuses(command).await;
            assert_eq!(workspace.content(".git/config"), "good", "{level}: {command}");
            assert_eq!(workspace.content("AGENTS.md"), "good", "{level}: {command}");
            assert_eq!(workspace.names(), [".git", "AGENTS.md", "notes", "real", "sub"]);
        }
        workspace.prints("echo x > sub/file").await;
    }
}

/// Checks that the end of one command does not uncover the paths for another that still runs.
#[tokio::test]
async fn commands_side_by_side_do_not_uncover_names() {
    let workspace = TestWorkspace::at(ConfinementLevel::Bubblewrap);
    let first = workspace
        .start("while ! test -e go; do sleep 0.02; done; mkdir .git/x || mkdir .git")
        .await;
    let first = first.unwrap();
    workspace.prints("true").await;
    workspace.prints("true").await;
    assert!(workspace.path(".git").exists(), "the first still needs it");
    workspace.put("go", "");
    let result = crate::workspace::finish(first).await.unwrap();
    assert_ne!(result.code, Some(0));
    assert_eq!(workspace.names(), ["go"]);
}
