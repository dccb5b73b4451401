//! Tries paths that leave the workspace, and special files.

use std::time::Duration;

use lango_tool::ToolError;
use rustix::fs::{CWD, Mode};
use serde_json::{Value, json};

use crate::support::Bench;

/// Returns a call of every file tool on `path`.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("fs_read", json!({"path": path})),
        ("fs_list", json!({"path": path})),
        ("fs_search", json!({"path": path, "pattern": "secret"})),
        ("fs_stat", json!({"path": path})),
        ("fs_write", json!({"path": path, "content": "mine"})),
        ("fs_edit", json!({"path": path, "old_text": "secret", "new_text": "mine"})),
        ("exec_shell", json!({"command": "pwd", "cwd": path})),
    ]
}

#[tokio::test]
async fn paths_that_lead_outside_are_forbidden_to_every_tool() {
    let bench = Bench::new().await;
    std::fs::create_dir(bench.path("inner")).unwrap();
    bench.link(bench.outside(), "absolute_link");
    bench.link("../outside", "relative_link");
    bench.link(bench.outside().join("secret"), "file_link");
    bench.link("../outside/secret", "relative_file_link");
    bench.link("../outside/missing", "dangling_link");
    bench.link("/proc/self/root", "proc_link");
    let absolute = bench.outside().join("secret").display().to_string();
    let through = format!("{}/../outside/secret", bench.path("").display());
    let hostile = [
        "../outside/secret",
        "..",
        "inner/../../outside/secret",
        "inner/../..",
        "absolute_link",
        "absolute_link/secret",
        "relative_link",
        "relative_link/secret",
        "relative_link/new",
        "file_link",
        "relative_file_link",
        "dangling_link",
        "proc_link/etc/passwd",
        "inner/../relative_link/secret",
        &absolute,
        &through,
        "/etc/passwd",
        "/proc/self/root/etc/passwd",
        "/dev/zero",
        "/",
        "~",
        "~/secret",
        "~root/secret",
        "file:///etc/passwd",
        "\\\\?\\C:\\secret",
        "secret\0",
        &"a".repeat(5000),
        &"a/".repeat(5000),
        &"ä".repeat(128),
    ];
    for path in hostile {
        for (tool, arguments) in calls(path) {
            let result = bench.call(tool, arguments).await;
            assert!(matches!(result, Err(ToolError::Forbidden(_))), "{tool} {path:?}: {result:?}");
        }
    }
    bench.assert_outside_untouched();
    let mut left: Vec<_> = std::fs::read_dir(bench.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left.len(), 7, "{left:?}");
}

#[tokio::test]
async fn encoded_dots_are_a_name_like_any_other() {
    let bench = Bench::new().await;
    for (tool, arguments) in calls("%2e%2e/outside/secret") {
        if tool != "fs_write" {
            assert!(matches!(bench.call(tool, arguments).await, Err(ToolError::Failed(_))));
        }
    }
    bench.assert_outside_untouched();
}

#[tokio::test]
async fn links_and_absolute_paths_that_stay_inside_work() {
    let bench = Bench::new().await;
    bench.put("real/file.txt", "inside\n");
    bench.link("real", "directory_link");
    bench.link("real/file.txt", "file_link");
    let absolute = bench.path("real/file.txt").display().to_string();
    for path in
        ["directory_link/file.txt", "file_link", "real/../file_link", "./file_link", &absolute]
    {
        let text = bench.call("fs_read", json!({"path": path})).await.unwrap();
        assert!(text.ends_with("lines 1-1 of 1\ninside\n"), "{text}");
    }
    bench.call("fs_write", json!({"path": "file_link", "content": "new\n"})).await.unwrap();
    assert_eq!(bench.content("real/file.txt"), b"new\n");
    assert!(bench.path("file_link").is_symlink());
    bench.call("fs_write", json!({"path": "directory_link/two", "content": "2"})).await.unwrap();
    assert_eq!(bench.content("real/two"), b"2");
    let found = bench.call("fs_search", json!({"path": "directory_link", "pattern": "new"})).await;
    assert!(found.unwrap().contains("real/file.txt:1: new"));
}

#[tokio::test]
async fn a_walk_does_not_follow_links_out() {
    let bench = Bench::new().await;
    bench.link("../outside", "out");
    bench.link("../outside/secret", "file");
    let found = bench.call("fs_search", json!({"pattern": "secret"})).await.unwrap();
    assert_eq!(found, "0 matching lines in 0 files searched");
    let listed = bench.call("fs_list", json!({"path": ".", "depth": 8})).await.unwrap();
    assert!(listed.contains("out -> ../outside") && !listed.contains("out/secret"), "{listed}");
}

#[tokio::test]
async fn git_internals_are_read_and_not_written() {
    let bench = Bench::new().await;
    bench.put(".git/config", "[core]\n");
    bench.link(".git", "innocent");
    assert!(bench.call("fs_read", json!({"path": ".git/config"})).await.is_ok());
    for path in [
        ".git/config",
        ".git/hooks/post-commit",
        "innocent/config",
        "innocent/new",
        "sub/.git",
        "sub/.GIT/config",
        "sub/../.git/config",
    ] {
        std::fs::create_dir_all(bench.path("sub")).unwrap();
        for (tool, arguments) in [
            ("fs_write", json!({"path": path, "content": "x"})),
            ("fs_edit", json!({"path": path, "old_text": "core", "new_text": "x"})),
        ] {
            let result = bench.call(tool, arguments).await;
            assert!(matches!(result, Err(ToolError::Forbidden(_))), "{tool} {path}: {result:?}");
        }
    }
    assert_eq!(bench.content(".git/config"), b"[core]\n");
}

#[tokio::test]
async fn a_hard_link_is_not_written_through() {
    let bench = Bench::new().await;
    std::fs::hard_link(bench.outside().join("secret"), bench.path("hard")).unwrap();
    for (tool, arguments) in [
        ("fs_write", json!({"path": "hard", "content": "x"})),
        ("fs_edit", json!({"path": "hard", "old_text": "secret", "new_text": "x"})),
    ] {
        let result = bench.call(tool, arguments).await;
        assert!(matches!(result, Err(ToolError::Forbidden(_))), "{result:?}");
    }
    bench.assert_outside_untouched();
}

#[tokio::test]
async fn special_files_are_described_or_refused_and_never_waited_for() {
    let bench = Bench::new().await;
    bench.put("text", "x\n");
    for name in ["fifo", ".gitignore"] {
        rustix::fs::mkfifoat(CWD, bench.path(name), Mode::RWXU).unwrap();
    }
    let _listener = std::os::unix::net::UnixListener::bind(bench.path("socket")).unwrap();
    bench.link("/dev/zero", "zero");
    for path in ["fifo", "socket", "zero"] {
        for (tool, arguments) in calls(path) {
            let call = bench.call(tool, arguments);
            let result = tokio::time::timeout(Duration::from_secs(5), call).await.unwrap();
            if tool == "fs_stat" && path != "zero" {
                assert!(result.unwrap().starts_with(&format!("{path}: {path}, ")));
            } else {
                assert!(result.is_err(), "{tool} {path}: {result:?}");
            }
        }
    }
    let search = bench.call("fs_search", json!({"pattern": "x"}));
    let found = tokio::time::timeout(Duration::from_secs(5), search).await.unwrap().unwrap();
    assert!(found.starts_with("1 matching lines in 1 files"), "{found}");
    let listed = bench.call("fs_list", json!({"path": "."})).await.unwrap();
    assert!(listed.contains("\nfifo ") && listed.contains("\nsocket "), "{listed}");
}

#[tokio::test]
async fn an_ignore_file_that_links_to_a_device_is_not_read() {
    let bench = Bench::new().await;
    bench.put("text", "x\n");
    bench.link("/dev/zero", ".gitignore");
    let search = bench.call("fs_search", json!({"pattern": "x"}));
    let found = tokio::time::timeout(Duration::from_secs(5), search).await.unwrap().unwrap();
    assert!(found.contains("text:1: x"), "{found}");
}

#[test]
fn a_workspace_must_be_a_directory_that_confines() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [file, directory.path().join("missing"), "/".into()] {
        assert!(lango_operator::Workspace::open(path).is_err());
    }
}
