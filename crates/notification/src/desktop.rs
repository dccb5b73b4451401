//! Shows notifications on the desktop, through the session bus.

use std::collections::HashMap;

use zbus::connection::Builder;
use zbus::zvariant::Value;

use crate::{DeliveryError, Notification, NotificationEvent};

/// The service that shows notifications, as freedesktop.org names it.
const SERVICE: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// The urgencies of its protocol.
const NORMAL: u8 = 1;
const CRITICAL: u8 = 2;

/// Shows notifications on the desktop.
#[derive(Debug, Clone, Default)]
pub struct DesktopChannel {
    /// The address of the bus; that of the session if absent.
    pub bus: Option<String>,
}

impl DesktopChannel {
    /// Tells whether a desktop may be there, without connecting to it.
    pub fn is_likely() -> bool {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        is_set("DBUS_SESSION_BUS_ADDRESS") || is_set("XDG_RUNTIME_DIR")
    }

    pub(crate) async fn deliver(&self, notification: &Notification) -> Result<(), DeliveryError> {
        let no_bus = |error: zbus::Error| {
            tracing::debug!(%error, "no session bus");
            DeliveryError::Never(
                "there is no desktop session to show it in (no D-Bus session bus). Choose another \
                 channel: lango config set automator.notify.failure '[\"NAME\"]'"
                    .to_owned(),
            )
        };
        let builder = match &self.bus {
            Some(address) => Builder::address(address.as_str()),
            None => Builder::session(),
        };
        let connection = builder.map_err(no_bus)?.build().await.map_err(no_bus)?;
        let urgency = match notification.event {
            NotificationEvent::Success => NORMAL,
            _ => CRITICAL,
        };
        let hints = HashMap::from([("urgency", Value::U8(urgency))]);
        let actions: [&str; 0] = [];
        let body = (
            "Lango",
            0_u32,
            "",
            notification.title.as_str(),
            escape(&notification.text),
            actions.as_slice(),
            hints,
            -1_i32,
        );
        let shown =
            connection.call_method(Some(SERVICE), PATH, Some(SERVICE), "Notify", &body).await;
        match shown {
            Ok(_) => Ok(()),
            Err(zbus::Error::MethodError(name, _, _)) if name.ends_with("ServiceUnknown") => {
                let reason = "no program shows notifications in this desktop session";
                Err(DeliveryError::Never(reason.to_owned()))
            }
            Err(error) => {
                tracing::debug!(%error, "the desktop did not show a notification");
                Err(DeliveryError::Later("the desktop did not show it".to_owned()))
            }
        }
    }
}

/// Writes a text so that desktops that read marks in it show it as it is.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
