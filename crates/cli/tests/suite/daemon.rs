//! The user service: its unit as systemd reads it, and clear words where systemd does not run.

use std::process::Command;

use crate::fixture::Lango;

#[tokio::test(flavor = "multi_thread")]
async fn the_unit_is_one_that_systemd_accepts() {
    let lango = Lango::silent().await;
    let strange = lango.workspace().join("a b$c%d");
    std::fs::create_dir(&strange).unwrap();
    let name = strange.display().to_string();
    let install = ["daemon", "install", "--print", "--workspace", &name];
    let printed = lango.bare(&install).run().await;
    assert_eq!(printed.code, 0, "{printed:?}");
    assert!(printed.stdout.contains(" worker --workspace \""), "{printed:?}");
    assert!(printed.stdout.contains("a b$$c%%d"), "{printed:?}");
    let unit = lango.path("lango-worker.service");
    std::fs::write(&unit, &printed.stdout).unwrap();
    let verified = Command::new("systemd-analyze")
        .args(["verify", "--user", "--man=no"])
        .arg(&unit)
        .env("XDG_RUNTIME_DIR", lango.path("."))
        .output()
        .expect("systemd-analyze is missing; run the tests with: cargo xtask test");
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(verified.status.success() && !said.contains("lango-worker.service:"), "{said}");
    // Nothing was written.
    assert!(!lango.path("user/.config/systemd").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_systemd_the_command_says_what_to_do() {
    if std::path::Path::new("/run/systemd/system").is_dir() {
        // Here the command would start a service of the person who runs the tests.
        return;
    }
    let lango = Lango::silent().await;
    let unit = lango.path("user/.config/systemd/user/lango-worker.service");
    let installed = lango.bare(&["daemon", "install"]).run().await;
    assert_eq!(installed.code, 1, "{installed:?}");
    assert!(installed.stderr.contains("systemd does not run"), "{installed:?}");
    assert!(installed.stderr.contains("lango worker"), "{installed:?}");
    assert!(std::fs::read_to_string(&unit).unwrap().contains("ExecStart="));
    let status = lango.bare(&["daemon", "status"]).run().await;
    assert!(
        status.stdout.contains("installed (") && status.stdout.contains("unknown"),
        "{status:?}"
    );
    assert!(status.stdout.contains("nothing runs the due work"), "{status:?}");
    let removed = lango.bare(&["daemon", "remove"]).run().await;
    assert!(removed.code == 0 && !unit.exists(), "{removed:?}");
    let again = lango.bare(&["daemon", "remove"]).run().await;
    assert!(again.stdout.contains("not installed"), "{again:?}");
}
