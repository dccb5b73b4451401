//! Changes of a turn, taken back.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::approvals::toml_text;
use crate::fixture::{Lango, TO_OPERATOR, calling};

fn content(directory: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(directory.join(name)).ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn replacing_text_shows_the_difference_and_can_be_undone() {
    let edit = r#"{ path = "config.toml", old_text = "port = 80", new_text = "port = 8080" }"#;
    let lango = Lango::playing(&[TO_OPERATOR, &calling("operator", &[("fs_edit", edit)])]).await;
    let before = "# mine\nport = 80\nhost = \"a\"\n";
    std::fs::write(lango.workspace().join("config.toml"), before).unwrap();
    let turn = lango.ask("replace port 80 by 8080 in config.toml");
    let turn = turn.with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.code, 0);
    assert!(turn.answer().contains("-port = 80\n+port = 8080"), "{}", turn.answer());
    let pretended = lango.command(&["undo", "--dry-run"]).run().await;
    assert!(pretended.stdout.contains("would be restored  config.toml"), "{pretended:?}");
    assert!(content(&lango.workspace(), "config.toml").unwrap().contains("8080"));
    let undone = lango.command(&["undo"]).run().await;
    assert_eq!(
        (undone.code, content(&lango.workspace(), "config.toml").as_deref()),
        (0, Some(before))
    );
    let again = lango.command(&["undo"]).run().await;
    assert!(again.code == 2 && again.stderr.contains("lango undo --list"), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_change_of_a_turn_is_taken_back_in_order() {
    let script = calling(
        "operator",
        &[
            ("fs_write", r#"{ path = "new/deep/file", content = "x" }"#),
            ("fs_mkdir", r#"{ path = "made/inside" }"#),
            ("fs_move", r#"{ from = "README.md", to = "made/inside/READ.me" }"#),
            ("fs_write", r#"{ path = "made/inside/READ.me", content = "other" }"#),
            ("fs_delete", r#"{ path = "src", recursive = true }"#),
            ("fs_write", r#"{ path = "run.sh", content = "changed" }"#),
        ],
    );
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    let workspace = lango.workspace();
    std::fs::write(workspace.join("run.sh"), "as it was").unwrap();
    let mode = std::fs::Permissions::from_mode(0o754);
    std::fs::set_permissions(workspace.join("run.sh"), mode).unwrap();
    std::os::unix::fs::symlink("main.rs", workspace.join("src/link")).unwrap();
    let turn = lango.ask("change much").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.code, 0, "{:?}", turn.results());
    assert!(!workspace.join("src").exists() && !workspace.join("README.md").exists());
    let undone = lango.command(&["undo", "--json"]).run().await;
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(content(&workspace, "README.md").unwrap(), "# Sample\n\nThree lines.\n");
    assert_eq!(content(&workspace, "src/main.rs").unwrap(), "fn main() {}\n");
    assert_eq!(std::fs::read_link(workspace.join("src/link")).unwrap(), Path::new("main.rs"));
    assert_eq!(content(&workspace, "run.sh").unwrap(), "as it was");
    let mode = std::fs::metadata(workspace.join("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o754);
    assert!(!workspace.join("made").exists() && !workspace.join("new").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_changed_since_is_left_alone() {
    let script = calling(
        "operator",
        &[
            ("fs_write", r#"{ path = "one", content = "1" }"#),
            ("fs_write", r#"{ path = "two", content = "2" }"#),
        ],
    );
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    lango.ask("write").with(&["--approve", "all"]).turn().await;
    std::fs::write(lango.workspace().join("one"), "mine").unwrap();
    let undone = lango.command(&["undo"]).run().await;
    assert_eq!(undone.code, 1, "{undone:?}");
    assert!(undone.stdout.contains("left alone one: it was changed since"), "{undone:?}");
    assert_eq!(content(&lango.workspace(), "one").as_deref(), Some("mine"));
    assert_eq!(content(&lango.workspace(), "two"), None);
    // It can be tried again once the obstacle has gone.
    std::fs::write(lango.workspace().join("one"), "1").unwrap();
    let undone = lango.command(&["undo"]).run().await;
    assert_eq!((undone.code, content(&lango.workspace(), "one")), (0, None), "{undone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_or_of_git_is_moved_or_deleted() {
    let lango = Lango::silent().await;
    let outside = lango.file("outside/file", "precious");
    let workspace = lango.workspace();
    std::fs::create_dir_all(workspace.join(".git/hooks")).unwrap();
    std::os::unix::fs::symlink(lango.path("outside"), workspace.join("way")).unwrap();
    let quoted = toml_text(&outside);
    for (tool, arguments) in [
        ("fs_delete", r#"{ path = ".git", recursive = true }"#.to_owned()),
        ("fs_delete", r#"{ path = "way/file" }"#.to_owned()),
        ("fs_delete", r#"{ path = "../outside/file" }"#.to_owned()),
        ("fs_delete", format!("{{ path = {quoted} }}")),
        ("fs_delete", r#"{ path = "." , recursive = true }"#.to_owned()),
        ("fs_move", r#"{ from = "way/file", to = "here" }"#.to_owned()),
        ("fs_move", r#"{ from = "README.md", to = "way/there" }"#.to_owned()),
        ("fs_move", r#"{ from = "README.md", to = ".git/hooks/post-commit" }"#.to_owned()),
        ("fs_move", r#"{ from = ".git", to = "git" }"#.to_owned()),
        ("fs_move", r#"{ from = "README.md", to = "src/main.rs" }"#.to_owned()),
        ("fs_mkdir", r#"{ path = "way/made" }"#.to_owned()),
        ("fs_mkdir", r#"{ path = ".git/made" }"#.to_owned()),
    ] {
        let other =
            Lango::playing(&[TO_OPERATOR, &calling("operator", &[(tool, &arguments)])]).await;
        let here = workspace.to_str().unwrap().to_owned();
        let ask = other.ask("do it").with(&["--approve", "all", "--workspace", &here]);
        let turn = ask.turn().await;
        let (_, status, output) = turn.results()[0];
        assert_eq!(status, lango_protocol::CallStatus::Error, "{tool} {arguments}: {output}");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
        assert!(workspace.join("README.md").exists() && workspace.join(".git/hooks").exists());
        let entries = std::fs::read_dir(lango.path("outside")).unwrap().count();
        assert_eq!(entries, 1, "{tool} {arguments}");
    }
}
