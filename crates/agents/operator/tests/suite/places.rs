//! Tests that keys are never read, and that what decides about other programs is asked about, where
//! the workspace is the user's home.

use lango_tool::ToolError;
use serde_json::{Value, json};

use crate::support::Bench;

const HIDDEN: [&str; 5] =
    [".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/lango/config.toml", ".gnupg/key"];

const PROTECTED: [&str; 7] = [
    ".bashrc",
    ".mcp.json",
    "AGENTS.md",
    ".agents/skills/x/SKILL.md",
    ".profile",
    "sub/.vscode/tasks.json",
    ".github/workflows/ci.yml",
];

async fn home() -> Bench {
    let bench = Bench::in_home().await;
    for path in HIDDEN.iter().chain(&PROTECTED) {
        bench.put(path, "canary 4711\n");
    }
    bench.put("notes/todo.md", "canary 4711\n");
    bench.link(".ssh", "way");
    bench
}

fn is_forbidden(result: &Result<String, ToolError>) -> bool {
    matches!(result, Err(ToolError::Forbidden(_)))
}

#[tokio::test]
async fn keys_are_not_read_by_any_tool_or_spelling() {
    let bench = home().await;
    let spellings = HIDDEN.iter().map(|path| (*path).to_owned());
    let spellings =
        spellings.chain(["way/id_ed25519", "notes/../.ssh/id_ed25519"].map(str::to_owned));
    for path in spellings {
        for (tool, arguments) in [
            ("fs_read", json!({ "path": path })),
            ("fs_stat", json!({ "path": path })),
            ("fs_search", json!({ "path": path, "pattern": "canary" })),
            ("fs_write", json!({ "path": path, "content": "x" })),
            ("fs_edit", json!({ "path": path, "old_text": "canary", "new_text": "x" })),
            ("fs_delete", json!({ "path": path })),
            ("fs_move", json!({ "from": path, "to": "free" })),
            ("fs_move", json!({ "from": "notes/todo.md", "to": format!("{path}2") })),
            ("fs_append", json!({ "path": path, "content": "x" })),
            ("fs_copy", json!({ "from": path, "to": "free" })),
            ("fs_copy", json!({ "from": ["notes/todo.md", path], "to": "free" })),
            ("fs_copy", json!({ "from": "notes/todo.md", "to": format!("{path}2") })),
            ("fs_delete", json!({ "path": ["notes/todo.md", path] })),
        ] {
            // A file beside a hidden file is another one.
            if ["fs_copy", "fs_move"].contains(&tool) && arguments["to"] == json!(".netrc2") {
                continue;
            }
            let result = bench.call(tool, arguments).await;
            assert!(is_forbidden(&result), "{tool} {path}");
        }
    }
    for directory in [".ssh", "way", ".ssh/.", "notes/../.aws"] {
        for tool in ["fs_list", "fs_search"] {
            let arguments: Value = if tool == "fs_list" {
                json!({ "path": directory, "depth": 3 })
            } else {
                json!({ "path": directory, "pattern": "canary" })
            };
            assert!(is_forbidden(&bench.call(tool, arguments).await), "{tool} {directory}");
        }
    }
}

#[tokio::test]
async fn a_walk_through_the_home_leaves_keys_out() {
    let bench = home().await;
    let found = bench.call("fs_search", json!({ "pattern": "canary" })).await.unwrap();
    assert!(found.contains("notes/todo.md") && !found.contains("id_ed25519"), "{found}");
    assert!(!found.contains("credentials") && !found.contains(".netrc"), "{found}");
    let listed = bench.call("fs_list", json!({ "path": ".", "depth": 4 })).await.unwrap();
    assert!(listed.contains("todo.md") && !listed.contains("id_ed25519"), "{listed}");
}

#[tokio::test]
async fn what_decides_about_other_programs_is_asked_about_each_time() {
    let bench = home().await;
    for path in PROTECTED {
        for (tool, arguments) in [
            ("fs_write", json!({ "path": path, "content": "x" })),
            ("fs_edit", json!({ "path": path, "old_text": "canary", "new_text": "x" })),
            ("fs_delete", json!({ "path": path })),
            ("fs_move", json!({ "from": "notes/todo.md", "to": path })),
            ("fs_move", json!({ "from": path, "to": "free" })),
            ("fs_move", json!({ "from": ["notes/todo.md", path], "to": "free" })),
            ("fs_copy", json!({ "from": "notes/todo.md", "to": path })),
            ("fs_append", json!({ "path": path, "content": "x" })),
            ("fs_delete", json!({ "path": ["notes/todo.md", path] })),
        ] {
            let proposal = bench.propose(tool, &arguments);
            let why = proposal.always_ask.unwrap_or_default();
            assert!(why.starts_with("it decides"), "{tool} {path}: {why:?}");
        }
    }
    // A directory takes along what is in it.
    let whole = bench.propose("fs_move", &json!({ "from": ".config", "to": "free" }));
    assert!(whole.always_ask.is_some());
    let plain = bench.propose("fs_write", &json!({ "path": "notes/todo.md", "content": "x" }));
    assert_eq!(plain.always_ask, None);
}

#[tokio::test]
async fn a_directory_with_a_hidden_place_in_it_is_neither_copied_nor_moved_nor_deleted() {
    let bench = home().await;
    for (tool, arguments) in [
        ("fs_copy", json!({ "from": ".config", "to": "free" })),
        ("fs_copy", json!({ "from": [".config", "notes"], "to": "free" })),
        ("fs_move", json!({ "from": ".config", "to": "free" })),
        ("fs_delete", json!({ "path": ".config", "recursive": true })),
    ] {
        let result = bench.call(tool, arguments.clone()).await;
        assert!(is_forbidden(&result), "{tool} {arguments}: {result:?}");
        assert!(bench.path(".config/lango/config.toml").exists() && !bench.path("free").exists());
    }
    // A glob does not find it.
    for path in [".ssh/*", "**/id_ed25519", ".*", "way/*"] {
        let arguments = json!({ "path": path, "recursive": true });
        let proposal = bench.propose("fs_delete", &arguments);
        let words: Vec<_> = proposal.steps.iter().map(|step| step.words[0].as_str()).collect();
        assert!(!words.iter().any(|word| [".ssh", ".ssh/id_ed25519"].contains(word)), "{words:?}");
        assert!(bench.call("fs_delete", arguments).await.is_err(), "{path}");
    }
    assert!(bench.path(".ssh/id_ed25519").exists());
}

#[tokio::test]
async fn a_directory_does_not_become_a_repository_without_a_question() {
    let bench = Bench::new().await;
    bench.put("x/HEAD", "ref: refs/heads/main");
    bench.put("x/config", "[core]\n\tfsmonitor = evil\n");
    for path in ["x/objects", "x/refs", "x/REFS"] {
        let proposal = bench.propose("fs_mkdir", &json!({ "path": path }));
        assert!(proposal.always_ask.is_some_and(|why| why.contains("repository")), "{path}");
    }
    for path in ["objects", "y/refs", "x/other"] {
        assert_eq!(bench.propose("fs_mkdir", &json!({ "path": path })).always_ask, None, "{path}");
    }
}
