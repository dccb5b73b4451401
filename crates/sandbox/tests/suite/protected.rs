//! What stays as it is within the workspace, there or not.

use std::os::unix::fs::symlink;

use lango_sandbox::{Level, Protected};

use crate::room::{LEVELS, Room};

/// Everything a command might try with a protected directory or file.
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
        let room = Room::at(level);
        room.put("sub/file", "");
        for command in ATTEMPTS {
            if command.starts_with("mv .git") && level == Level::Landlock {
                continue;
            }
            room.refuses(command).await;
            let names = room.names();
            assert_eq!(names, ["sub"], "{level}: {command}");
        }
    }
}

#[tokio::test]
async fn what_is_there_cannot_be_changed() {
    for level in LEVELS {
        let room = Room::at(level);
        for (name, content) in [
            ("sub/file", ""),
            (".git/config", "good"),
            (".git/hooks/x", "good"),
            (".lango/x", "good"),
            (".agents/x", "good"),
            (".mcp.json", "good"),
            ("AGENTS.md", "good"),
        ] {
            room.put(name, content);
        }
        let before = room.names();
        for command in ATTEMPTS {
            room.refuses(command).await;
            assert_eq!(room.names(), before, "{level}: {command}");
        }
        room.refuses("ln .git/config sub/hard && echo evil > sub/hard").await;
        if level == Level::Bubblewrap {
            // Landlock has no say about modes.
            room.refuses("chmod 777 .git/config").await;
        }
        for name in
            [".git/config", ".git/hooks/x", ".lango/x", ".agents/x", ".mcp.json", "AGENTS.md"]
        {
            assert_eq!(room.content(name), "good", "{level}: {name}");
            assert_eq!(room.prints(&format!("cat {name}")).await, "good");
        }
    }
}

#[tokio::test]
async fn what_leads_to_a_protected_place_cannot_be_moved_away() {
    for level in LEVELS {
        let mut room = Room::at(level);
        room.put("a/b/.git/config", "good");
        room.put("a/file", "");
        room.bounds.protected.push(Protected::directory(room.path("a/b/.git")));
        room.bounds.protected.push(Protected::directory(room.path("a/none/at/all")));
        for command in [
            "mv a x && mkdir -p a/b/.git",
            "mv a/b a/x && mkdir -p a/b/.git",
            "mv a/b/.git a/b/x",
            "echo evil > a/b/.git/config",
            "mkdir -p a/none/at/all",
            "rm -rf a/b && mkdir -p a/b/.git",
        ] {
            room.refuses(command).await;
            assert_eq!(room.content("a/b/.git/config"), "good", "{level}: {command}");
            assert!(!room.path("a/none").exists() && !room.path("a/b/.git/hooks").exists());
        }
        room.prints("echo x > a/file").await;
    }
}

#[tokio::test]
async fn a_link_at_a_protected_name_cannot_be_replaced() {
    for level in LEVELS {
        let room = Room::at(level);
        room.put("real/config", "good");
        room.put("notes", "good");
        room.put("sub/file", "");
        symlink("real", room.path(".git")).unwrap();
        symlink("notes", room.path("AGENTS.md")).unwrap();
        for command in [
            "rm .git && mkdir .git",
            "ln -sfn sub .git",
            "mv .git x",
            "echo evil > .git/config",
            "echo evil > real/config",
            "echo evil > AGENTS.md",
            "echo evil > sub/x && mv sub/x AGENTS.md",
        ] {
            room.refuses(command).await;
            assert_eq!(room.content(".git/config"), "good", "{level}: {command}");
            assert_eq!(room.content("AGENTS.md"), "good", "{level}: {command}");
            assert_eq!(room.names(), [".git", "AGENTS.md", "notes", "real", "sub"]);
        }
        room.prints("echo x > sub/file").await;
    }
}

/// While one command runs, the end of another must not uncover the names for the first.
#[tokio::test]
async fn commands_side_by_side_do_not_uncover_names() {
    let room = Room::at(Level::Bubblewrap);
    let first =
        room.start("while ! test -e go; do sleep 0.02; done; mkdir .git/x || mkdir .git").await;
    let first = first.unwrap();
    room.prints("true").await;
    room.prints("true").await;
    assert!(room.path(".git").exists(), "the first still needs it");
    room.put("go", "");
    let said = crate::room::finish(first).await.unwrap();
    assert_ne!(said.code, Some(0));
    assert_eq!(room.names(), ["go"]);
}
