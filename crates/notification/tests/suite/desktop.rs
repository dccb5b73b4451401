//! The desktop: a real bus, with a service on it that takes notifications as desktops do.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use lango_notification::{Channel, DesktopChannel, Notification, NotificationEvent};
use lango_protocol::Timestamp;
use tokio::sync::mpsc;
use zbus::zvariant::OwnedValue;

/// A message bus of its own.
struct Bus {
    process: Child,
    address: String,
}

impl Drop for Bus {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Bus {
    fn start() -> Self {
        let mut process = Command::new("dbus-daemon")
            .args(["--session", "--print-address", "--nofork", "--nopidfile"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("dbus-daemon is missing; run the tests with: cargo xtask test");
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { process, address: address.trim().to_owned() }
    }

    fn channel(&self) -> Channel {
        Channel::Desktop(DesktopChannel { bus: Some(self.address.clone()) })
    }
}

/// What desktops provide.
struct Notifications(mpsc::UnboundedSender<(String, String)>);

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Notifications {
    #[expect(
        clippy::too_many_arguments,
        clippy::needless_pass_by_value,
        reason = "the protocol has them, and the macro makes them"
    )]
    fn notify(
        &self,
        app: String,
        replaces: u32,
        icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        hints: HashMap<String, OwnedValue>,
        timeout: i32,
    ) -> u32 {
        assert_eq!((app.as_str(), replaces, icon.as_str(), timeout), ("Lango", 0, "", -1));
        assert!(actions.is_empty() && hints.contains_key("urgency"), "{hints:?}");
        self.0.send((summary, body)).unwrap();
        1
    }
}

fn sample() -> Notification {
    let at = Timestamp::from_microseconds(0);
    Notification::new("n".to_owned(), NotificationEvent::Failure, "Failed: backup", "a < b", at)
}

#[tokio::test]
async fn a_desktop_shows_a_notification() {
    let bus = Bus::start();
    // No program shows them yet.
    let error = bus.channel().deliver(&sample()).await.unwrap_err();
    assert!(!error.may_pass() && error.to_string().contains("no program shows"), "{error}");
    let (sender, mut shown) = mpsc::unbounded_channel();
    let _service = zbus::connection::Builder::address(bus.address.as_str())
        .unwrap()
        .name("org.freedesktop.Notifications")
        .unwrap()
        .serve_at("/org/freedesktop/Notifications", Notifications(sender))
        .unwrap()
        .build()
        .await
        .unwrap();
    bus.channel().deliver(&sample()).await.unwrap();
    let (summary, body) = shown.recv().await.unwrap();
    assert_eq!((summary.as_str(), body.as_str()), ("Failed: backup", "a &lt; b"));
}

#[tokio::test]
async fn without_a_bus_it_fails_softly_and_clearly() {
    let nowhere = DesktopChannel { bus: Some("unix:path=/nonexistent/bus".to_owned()) };
    let error = Channel::Desktop(nowhere).deliver(&sample()).await.unwrap_err();
    assert!(!error.may_pass(), "{error:?}");
    assert!(error.to_string().contains("no D-Bus session bus"), "{error}");
}
