//! A model that wants files it must not have. Threats B1, B2, B3, B6 and B8.

use lango_protocol::CallStatus;

use crate::approvals::{run_once, toml_text};
use crate::fixture::{Lango, TO_OPERATOR, calling};
use crate::journal::Turn;

const SECRET: &str = "precious-content";

/// One call of the operator, in a workspace with ways out of it; the person allows everything.
async fn attempt(tool: &str, arguments: &str) -> (Lango, Turn) {
    let script = calling("operator", &[(tool, arguments)]);
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    let outside = lango.file("outside/secret", SECRET);
    let workspace = lango.workspace();
    std::os::unix::fs::symlink(&outside, workspace.join("link")).unwrap();
    std::os::unix::fs::symlink(lango.path("outside"), workspace.join("way")).unwrap();
    std::os::unix::fs::symlink("/", workspace.join("root")).unwrap();
    std::fs::hard_link(&outside, workspace.join("hard")).unwrap();
    let turn = lango.ask("do it").with(&["--approve", "all"]).turn().await;
    (lango, turn)
}

fn nothing_happened(lango: &Lango, turn: &Turn, what: &str) {
    let (_, status, output) = turn.results()[0];
    assert!(matches!(status, CallStatus::Error | CallStatus::Refused), "{what}: {output}");
    let events = serde_json::to_string(&turn.events).unwrap();
    assert!(!events.contains(SECRET), "{what} was read: {events}");
    let kept = std::fs::read_to_string(lango.path("outside/secret")).unwrap();
    assert_eq!(kept, SECRET, "{what} was changed");
    let entries = std::fs::read_dir(lango.path("outside")).unwrap().count();
    assert_eq!(entries, 1, "{what} made something outside");
}

#[tokio::test(flavor = "multi_thread")]
async fn b1_and_b2_no_path_leads_outside() {
    let long = "a/".repeat(3000);
    let paths = [
        "../outside/secret",
        "src/../../outside/secret",
        "~/x",
        "/etc/passwd",
        "..%2foutside%2fsecret",
        "%2e%2e/outside/secret",
        "a\0b",
        &long,
        "/proc/self/root/etc/passwd",
        "file:///etc/passwd",
        "\\\\?\\C:\\x",
        "link",
        "way/secret",
        "root/etc/passwd",
        "link/../way/secret",
    ];
    for path in paths {
        let path = toml_text(path);
        let (lango, turn) = attempt("fs_read", &format!("{{ path = {path} }}")).await;
        nothing_happened(&lango, &turn, &path);
    }
    for (tool, arguments) in [
        ("fs_write", r#"{ path = "link", content = "x" }"#),
        ("fs_write", r#"{ path = "way/new", content = "x" }"#),
        ("fs_edit", r#"{ path = "link", old_text = "precious", new_text = "x" }"#),
        ("fs_delete", r#"{ path = "way/secret" }"#),
        ("fs_delete", r#"{ path = ["README.md", "way/*"] }"#),
        ("fs_append", r#"{ path = "link", content = "x" }"#),
        ("fs_copy", r#"{ from = "way/secret", to = "here" }"#),
        ("fs_copy", r#"{ from = "README.md", to = "way/there" }"#),
        ("fs_copy", r#"{ from = ["README.md", "src"], to = "way" }"#),
        ("fs_move", r#"{ from = "way/*", to = "here" }"#),
        ("fs_find", r#"{ path = "way" }"#),
        ("fs_list", r#"{ path = "way" }"#),
        ("fs_search", r#"{ pattern = "precious", path = "way" }"#),
        ("fs_stat", r#"{ path = "way/secret" }"#),
    ] {
        let (lango, turn) = attempt(tool, arguments).await;
        nothing_happened(&lango, &turn, &format!("{tool} {arguments}"));
    }
    // A search of everything does not follow what leads outside.
    let (lango, turn) =
        attempt("fs_search", r#"{ pattern = "precious", glob = "{link,way,root}/**" }"#).await;
    assert!(!serde_json::to_string(&turn.events).unwrap().contains(SECRET));
    drop(lango);
}

#[tokio::test(flavor = "multi_thread")]
async fn b3_a_hard_link_to_a_file_outside_is_not_written_through() {
    for (tool, arguments) in [
        ("fs_write", r#"{ path = "hard", content = "x" }"#),
        ("fs_edit", r#"{ path = "hard", old_text = "precious", new_text = "x" }"#),
    ] {
        let (lango, turn) = attempt(tool, arguments).await;
        assert_eq!(turn.results_with(CallStatus::Error), 1, "{:?}", turn.results());
        let kept = std::fs::read_to_string(lango.path("outside/secret")).unwrap();
        assert_eq!(kept, SECRET);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b6_an_archive_does_not_unpack_outside() {
    let archive = "import io, tarfile\n\
        t = tarfile.open('evil.tar', 'w')\n\
        def add(name, data=b'evil', **more):\n    \
            i = tarfile.TarInfo(name)\n    \
            i.size = len(data)\n    \
            for k, v in more.items(): setattr(i, k, v)\n    \
            t.addfile(i, io.BytesIO(data))\n\
        add('../outside/unpacked')\n\
        add('escape', b'', type=tarfile.SYMTYPE, linkname='../outside')\n\
        add('escape/through')\n\
        t.close()\n";
    let unpack = "python3 pack.py; tar -xPf evil.tar; tar -xf evil.tar; \
                  dd if=/dev/zero bs=1M count=64 2>/dev/null | gzip > bomb.gz; true";
    let lango = Lango::playing(&[TO_OPERATOR, &run_once(unpack)]).await;
    lango.file("outside/secret", SECRET);
    std::fs::write(lango.workspace().join("pack.py"), archive).unwrap();
    let turn = lango.ask("unpack").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.code, 0, "{:?}", turn.results());
    assert!(lango.workspace().join("evil.tar").exists(), "{:?}", turn.results());
    let entries = std::fs::read_dir(lango.path("outside")).unwrap().count();
    assert_eq!(entries, 1, "something was unpacked outside");
}

#[tokio::test(flavor = "multi_thread")]
async fn b8_special_files_are_never_waited_for() {
    for tool in ["fs_read", "fs_search"] {
        let arguments = match tool {
            "fs_read" => r#"{ path = "pipe" }"#,
            _ => r#"{ pattern = "x", path = "pipe" }"#,
        };
        let script = calling("operator", &[(tool, arguments)]);
        let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
        let made =
            std::process::Command::new("mkfifo").arg(lango.workspace().join("pipe")).status();
        assert!(made.unwrap().success());
        let turn = lango.ask("do it").turn().await;
        assert!(turn.is_answered(), "{tool}: {:?}", turn.results());
    }
    // A command gets no input at all, so it cannot wait for any.
    let lango =
        Lango::playing(&[TO_OPERATOR, &run_once("cat; cat /dev/stdin; read x; echo over")]).await;
    let turn = lango.ask("do it").with(&["--approve", "all"]).turn().await;
    assert!(turn.answer().contains("over"), "{}", turn.answer());
}
