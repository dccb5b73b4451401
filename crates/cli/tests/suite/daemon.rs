//! The user service: its unit as systemd reads it, and clear words where systemd does not run.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::fixture::Lango;
use crate::invocation::CommandOutput;

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

/// Makes the place at which a running systemd is recognised, in a namespace of mounts of its own.
const WITH_SYSTEMD: [&str; 4] = [
    "--mount",
    "sh",
    "-c",
    "mount -t tmpfs none /run && mkdir -p /run/systemd/system && exec \"$0\" \"$@\"",
];

/// A service manager that notes what it is told, and says what the test wants.
struct StandIn<'a> {
    lango: &'a Lango,
}

impl<'a> StandIn<'a> {
    fn new(lango: &'a Lango) -> Self {
        let directory = lango.path("bin");
        std::fs::create_dir(&directory).unwrap();
        let program = directory.join("systemctl");
        let (log, answer) = (lango.path("systemctl.log"), lango.path("systemctl.answer"));
        let script =
            format!("#!/bin/sh\necho \"$@\" >> '{}'\n. '{}'\n", log.display(), answer.display());
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let stand_in = Self { lango };
        stand_in.says("exit 0");
        stand_in
    }

    fn says(&self, script: &str) {
        std::fs::write(self.lango.path("systemctl.answer"), script).unwrap();
    }

    /// Returns what it was told since the last time.
    fn take_calls(&self) -> Vec<String> {
        let log = self.lango.path("systemctl.log");
        let calls = std::fs::read_to_string(&log).unwrap_or_default();
        std::fs::write(log, "").unwrap();
        calls.lines().map(str::to_owned).collect()
    }

    async fn daemon(&self, arguments: &[&str]) -> CommandOutput {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", self.lango.path("bin").display());
        let all = [&["daemon"], arguments].concat();
        self.lango.through("unshare", &WITH_SYSTEMD, &all).set("PATH", path).run().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_is_started_watched_and_removed_through_the_service_manager() {
    let possible = Command::new("unshare").args(["--mount", "true"]).output();
    if !possible.as_ref().is_ok_and(|output| output.status.success()) {
        // This kernel gives no namespace of mounts.
        return;
    }
    let lango = Lango::silent().await;
    let manager = StandIn::new(&lango);
    let unit = lango.path("user/.config/systemd/user/lango-worker.service");
    let installed = manager.daemon(&["install"]).await;
    assert!(installed.code == 0 && unit.exists(), "{installed:?}");
    let expected = [
        "--user daemon-reload",
        "--user enable lango-worker.service",
        "--user restart lango-worker.service",
    ];
    assert_eq!(manager.take_calls(), expected);
    for (answer, word) in [("echo active", "running"), ("echo failed; exit 3", "stopped (failed)")]
    {
        manager.says(answer);
        let status = manager.daemon(&["status"]).await;
        assert!(status.code == 0 && status.stdout.contains(word), "{status:?}");
        assert_eq!(manager.take_calls(), ["--user is-active lango-worker.service"]);
    }
    manager.says("echo 'no bus of the user' >&2; exit 1");
    let status = manager.daemon(&["status"]).await;
    assert!(status.stdout.contains("unknown (no bus of the user)"), "{status:?}");
    let refused = manager.daemon(&["install"]).await;
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("was not started: no bus of the user"), "{refused:?}");
    manager.says("exit 0");
    manager.take_calls();
    let removed = manager.daemon(&["remove"]).await;
    assert!(removed.code == 0 && !unit.exists(), "{removed:?}");
    let expected = ["--user disable --now lango-worker.service", "--user daemon-reload"];
    assert_eq!(manager.take_calls(), expected);
}
