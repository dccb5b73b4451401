//! One way to reach a person.

use std::time::Duration;

use crate::{
    CommandChannel, DeliveryError, DesktopChannel, EmailChannel, Notification, WebhookChannel,
};

/// Limits how long one attempt may take.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(30);

/// A way to reach a person.
#[derive(Debug, Clone)]
pub enum Channel {
    /// The desktop of this machine.
    Desktop(DesktopChannel),
    /// A server that gets a request.
    Webhook(WebhookChannel),
    /// A message by e-mail.
    Email(EmailChannel),
    /// A program on this machine.
    Command(CommandChannel),
}

/// The kinds of channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    /// See [`Channel::Desktop`].
    Desktop,
    /// See [`Channel::Webhook`].
    Webhook,
    /// See [`Channel::Email`].
    Email,
    /// See [`Channel::Command`].
    Command,
}

impl Channel {
    /// Makes one attempt.
    pub async fn deliver(&self, notification: &Notification) -> Result<(), DeliveryError> {
        let delivery = async {
            match self {
                Self::Desktop(channel) => channel.deliver(notification).await,
                Self::Webhook(channel) => channel.deliver(notification).await,
                Self::Email(channel) => channel.deliver(notification).await,
                Self::Command(channel) => channel.deliver(notification).await,
            }
        };
        tokio::time::timeout(DELIVERY_TIMEOUT, delivery).await.unwrap_or_else(|_| {
            let seconds = DELIVERY_TIMEOUT.as_secs();
            Err(DeliveryError::Later(format!("it took longer than {seconds} s")))
        })
    }

    /// Returns its kind.
    pub fn kind(&self) -> ChannelKind {
        match self {
            Self::Desktop(_) => ChannelKind::Desktop,
            Self::Webhook(_) => ChannelKind::Webhook,
            Self::Email(_) => ChannelKind::Email,
            Self::Command(_) => ChannelKind::Command,
        }
    }

    /// Tells whether an attempt whose outcome is not known may be repeated: the receiver recognises
    /// the id of the notification, or is a person who does no harm by reading it twice. A command may
    /// do anything.
    pub fn is_repeatable(&self) -> bool {
        !matches!(self, Self::Command(_))
    }
}
