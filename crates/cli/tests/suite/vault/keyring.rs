//! The system's keyring: a real one, on a D-Bus of its own.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

use super::{CANARY, files_with};
use crate::fixture::Lango;
use crate::invocation::{CommandOutput, Invocation, TEST_TIMEOUT};

/// A bus that starts no program by itself.
const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=SOCKET</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>"#;

/// A desktop session with a keyring.
struct Desktop {
    directory: TempDir,
    bus: Child,
    keyring: Option<Child>,
}

impl Desktop {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let configuration = directory.path().join("bus.conf");
        let socket = directory.path().join("bus");
        std::fs::write(&configuration, BUS.replace("SOCKET", socket.to_str().unwrap())).unwrap();
        let mut bus = Command::new("dbus-daemon");
        bus.args(["--nofork", "--config-file"]).arg(&configuration).kill_on_drop(true);
        let bus = bus.stderr(Stdio::null()).spawn().expect("run the tests with: cargo xtask test");
        let mut desktop = Self { directory, bus, keyring: None };
        desktop.wait_until("the bus", "org.freedesktop.DBus.ListNames", &[], "string").await;
        desktop.log_in(Some("the user's password")).await;
        desktop
    }

    fn address(&self) -> String {
        format!("unix:path={}", self.directory.path().join("bus").display())
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Starts the keyring, unlocked with a password if there is one.
    async fn log_in(&mut self, password: Option<&str>) {
        let mut keyring = Command::new("gnome-keyring-daemon");
        keyring.args(["--foreground", "--components=secrets"]);
        if password.is_some() {
            keyring.arg("--unlock");
        }
        let run = self.directory.path().join("run");
        std::fs::create_dir_all(&run).unwrap();
        let mut keyring = keyring
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.directory.path())
            .env("XDG_DATA_HOME", self.data())
            .env("XDG_RUNTIME_DIR", run)
            .env("DBUS_SESSION_BUS_ADDRESS", self.address())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("run the tests with: cargo xtask test");
        let mut input = keyring.stdin.take().unwrap();
        input.write_all(password.unwrap_or_default().as_bytes()).await.unwrap();
        drop(input);
        self.keyring = Some(keyring);
        let owner = ["string:org.freedesktop.secrets"];
        self.wait_until("its name", "org.freedesktop.DBus.NameHasOwner", &owner, "true").await;
        if password.is_some() {
            let alias = ["string:default"];
            let read = "org.freedesktop.Secret.Service.ReadAlias";
            self.wait_until("a collection", read, &alias, "/collection/").await;
        }
    }

    /// Ends the keyring as the end of the session does.
    async fn log_out(&mut self) {
        let mut keyring = self.keyring.take().unwrap();
        keyring.kill().await.unwrap();
        let owner = ["string:org.freedesktop.secrets"];
        self.wait_until("its end", "org.freedesktop.DBus.NameHasOwner", &owner, "false").await;
    }

    /// Calls a method until its answer has this text.
    async fn wait_until(&mut self, what: &str, method: &str, arguments: &[&str], text: &str) {
        let (destination, path) = if method.starts_with("org.freedesktop.Secret") {
            ("org.freedesktop.secrets", "/org/freedesktop/secrets")
        } else {
            ("org.freedesktop.DBus", "/org/freedesktop/DBus")
        };
        let begin = Instant::now();
        loop {
            let mut call = Command::new("dbus-send");
            call.args([format!("--bus={}", self.address()), format!("--dest={destination}")]);
            call.args(["--print-reply", path, method]).args(arguments);
            let output = call.output().await.unwrap();
            if String::from_utf8_lossy(&output.stdout).contains(text) {
                return;
            }
            assert!(begin.elapsed() < TEST_TIMEOUT, "{what} is not there: {output:?}");
            assert_eq!(self.bus.try_wait().unwrap(), None, "the bus ended");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn with<'a>(&self, invocation: Invocation<'a>) -> Invocation<'a> {
        invocation.set("DBUS_SESSION_BUS_ADDRESS", self.address())
    }

    async fn run(&self, lango: &Lango, arguments: &[&str]) -> CommandOutput {
        self.with(lango.bare(arguments)).run().await
    }
}

async fn store(desktop: &Desktop, lango: &Lango, name: &str, value: &str) {
    let set = lango.bare(&["secrets", "set", name]).input(format!("{value}\n"));
    let stored = desktop.with(set).run().await;
    assert_eq!(stored.code, 0, "{stored:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keyring_of_the_desktop_unlocks_the_vault_in_place_of_the_key_file() {
    let (lango, mut desktop) = (Lango::silent().await, Desktop::start().await);
    store(&desktop, &lango, "github-token", CANARY).await;
    let moved = desktop.run(&lango, &["vault", "keyring"]).await;
    assert!(moved.code == 0 && moved.stdout.contains("lango vault export"), "{moved:?}");
    assert!(!lango.home().join("vault.key").exists());
    let status = desktop.run(&lango, &["vault", "status"]).await;
    assert!(status.stdout.contains("system's keyring unlocks the vault"), "{status:?}");
    // Other processes open it, replace its keys, and do so in a later session.
    store(&desktop, &lango, "other", "some value here").await;
    assert_eq!(desktop.run(&lango, &["vault", "rotate"]).await.code, 0);
    desktop.log_out().await;
    desktop.log_in(Some("the user's password")).await;
    assert_eq!(desktop.run(&lango, &["vault", "rotate"]).await.code, 0);
    for place in [lango.home(), desktop.directory.path().to_owned()] {
        assert_eq!(files_with(&place, CANARY), Vec::<String>::new());
    }
    // Without the session: a clear error, at once, and what needs no secret works.
    let begin = Instant::now();
    let away = lango.bare(&["secrets", "set", "third"]).input("some value here\n").run().await;
    assert!(begin.elapsed() < Duration::from_secs(20), "it waited: {:?}", begin.elapsed());
    assert_eq!(away.code, 2, "{away:?}");
    assert!(away.stderr.contains("the system's keyring cannot be used"), "{away:?}");
    assert!(away.stderr.contains("lango vault passphrase"), "{away:?}");
    let lango = lango.now_playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    let ran = lango.command(&["run", "hello"]).run().await;
    assert!(ran.code == 0 && ran.stderr.contains("the vault cannot be used"), "{ran:?}");
    // And back.
    let back = desktop.run(&lango, &["vault", "keyring", "--remove"]).await;
    assert!(back.code == 0 && back.stdout.contains("vault.key"), "{back:?}");
    assert_eq!(lango.bare(&["vault", "rotate"]).run().await.code, 0);
    let again = lango.bare(&["vault", "keyring", "--remove"]).run().await;
    assert!(again.code == 2 && again.stderr.contains("lango vault status"), "{again:?}");
    let audit = lango.bare(&["audit"]).run().await;
    assert_eq!(audit.stdout.matches("protection_changed").count(), 2, "{audit:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_and_a_locked_keyring_are_named_and_nothing_is_lost() {
    let (lango, mut desktop) = (Lango::silent().await, Desktop::start().await);
    store(&desktop, &lango, "github-token", CANARY).await;
    assert_eq!(desktop.run(&lango, &["vault", "keyring"]).await.code, 0);
    let export = lango.path("vault.age");
    let line = format!("vault export {}", export.display());
    let mut session = desktop.with(lango.at_terminal(&line)).start_typing();
    for prompt in ["Passphrase for the file: ", "The same again: "] {
        session.wait_for(prompt).await;
        session.paste("correct horse").await;
    }
    assert_eq!(session.finish().await.code, 0);
    // Locked: no one is there to type its password.
    desktop.log_out().await;
    desktop.log_in(None).await;
    let locked = desktop.run(&lango, &["vault", "rotate"]).await;
    assert_eq!(locked.code, 2, "{locked:?}");
    assert!(locked.stderr.contains("the system's keyring cannot be used"), "{locked:?}");
    // Lost: another keyring, without the key.
    desktop.log_out().await;
    let kept = desktop.directory.path().join("kept");
    std::fs::rename(desktop.data(), &kept).unwrap();
    desktop.log_in(Some("another password")).await;
    let database = std::fs::read(lango.database_file()).unwrap();
    for arguments in [["vault", "rotate"], ["vault", "status"], ["vault", "keyring"]] {
        let lost = desktop.run(&lango, &arguments).await;
        assert_eq!(lost.code, 2, "{arguments:?}: {lost:?}");
        assert!(lost.stderr.contains("has no key for this vault"), "{lost:?}");
        assert!(lost.stderr.contains("lango vault import FILE --start-anew"), "{lost:?}");
    }
    let listed = desktop.run(&lango, &["secrets", "list"]).await;
    assert!(listed.stdout.contains("github-token"), "{listed:?}");
    assert_eq!(std::fs::read(lango.database_file()).unwrap(), database, "nothing was changed");
    // It is back: everything is as it was.
    desktop.log_out().await;
    std::fs::remove_dir_all(desktop.data()).unwrap();
    std::fs::rename(&kept, desktop.data()).unwrap();
    desktop.log_in(Some("the user's password")).await;
    assert_eq!(desktop.run(&lango, &["vault", "rotate"]).await.code, 0);
    let line = format!("vault import {} --start-anew --yes", export.display());
    let refused = type_passphrase(&desktop, &lango, &line).await;
    assert!(refused.code == 2 && refused.stdout.contains("not lost"), "{refused:?}");
    // It is gone for good: the export is a vault of its own.
    desktop.log_out().await;
    std::fs::remove_dir_all(desktop.data()).unwrap();
    desktop.log_in(Some("a third password")).await;
    let asking = format!("vault import {} --start-anew", export.display());
    let mut session = desktop.with(lango.at_terminal(&asking)).start_typing();
    session.wait_for("has no key for this vault any more").await;
    session.wait_for("Delete everything that it has for good?").await;
    session.answer("n\n").await;
    assert!(session.finish().await.stdout.contains("It was kept."));
    let anew = type_passphrase(&desktop, &lango, &line).await;
    assert!(anew.code == 0 && anew.stdout.contains("Stored 1 entry"), "{anew:?}");
    assert_eq!(lango.bare(&["vault", "rotate"]).run().await.code, 0, "a key file opens it");
    let verified = lango.bare(&["audit", "--verify"]).run().await;
    assert_eq!(verified.code, 0, "{verified:?}");
}

async fn type_passphrase(desktop: &Desktop, lango: &Lango, line: &str) -> CommandOutput {
    let mut session = desktop.with(lango.at_terminal(line)).start_typing();
    session.wait_for("Passphrase of the file: ").await;
    session.paste("correct horse").await;
    session.finish().await
}
