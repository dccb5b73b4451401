//! Delivers notifications to people who do not look at the program: on the desktop, to an address of
//! their choice, by e-mail, or through a command.
//!
//! A [`Channel`] makes one attempt. When to notify, what to repeat and what to record is decided by its
//! users; nothing here is stored.

mod channel;
mod command;
mod desktop;
mod email;
mod error;
mod notification;
mod webhook;

pub use channel::{Channel, ChannelKind};
pub use command::CommandChannel;
pub use desktop::DesktopChannel;
pub use email::{EmailChannel, EmailSecurity, InvalidAddress};
pub use error::DeliveryError;
pub use notification::{Notification, NotificationEvent};
pub use webhook::WebhookChannel;
