//! Sends notifications by e-mail, over a connection that the outbound network policy allows.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use lango_egress::{Destination, EgressError, Guard};
use lango_text::{make_visible, to_one_line};
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::ClientId;

use crate::{DeliveryError, Notification};

/// The name of this program in the conversation with the server, and in ids of messages.
const CLIENT_NAME: &str = "lango.invalid";
/// Limits how long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Limits the characters of a reason.
const MAX_REASON_CHARACTERS: usize = 300;
/// Limits how long the end of a conversation may take, after the message was accepted.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);

/// How the connection to the server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmailSecurity {
    /// The connection begins in plain text and is protected before anything of value is sent. A server
    /// that cannot do it gets nothing.
    StartTls,
    /// The connection is protected from its beginning.
    Tls,
    /// It is not protected.
    None,
}

/// Says that something is no e-mail address.
#[derive(Debug, thiserror::Error)]
#[error("{given:?} is no e-mail address: {reason}")]
pub struct InvalidAddress {
    given: String,
    reason: String,
}

/// Sends a message for each notification.
#[derive(Clone)]
pub struct EmailChannel {
    host: String,
    port: u16,
    security: EmailSecurity,
    from: Mailbox,
    to: Vec<Mailbox>,
    credentials: Option<Credentials>,
    guard: Guard,
}

impl fmt::Debug for EmailChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmailChannel").field("host", &self.host).finish_non_exhaustive()
    }
}

impl EmailChannel {
    /// Creates a channel through the server at `host` and `port`.
    pub fn new(
        (host, port): (String, u16),
        security: EmailSecurity,
        (from, to): (&str, &[String]),
        guard: Guard,
    ) -> Result<Self, InvalidAddress> {
        let to = to.iter().map(|to| parse_mailbox(to)).collect::<Result<_, _>>()?;
        let from = parse_mailbox(from)?;
        Ok(Self { host, port, security, from, to, credentials: None, guard })
    }

    /// Signs in with a name and a password.
    #[must_use]
    pub fn with_credentials(self, name: String, password: String) -> Self {
        Self { credentials: Some(Credentials::new(name, password)), ..self }
    }

    pub(crate) async fn deliver(&self, notification: &Notification) -> Result<(), DeliveryError> {
        let message = self.build_message(notification)?;
        let mut connection = self.connect().await?;
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials).await.map_err(|error| {
                let reason = describe("the server refused the sign-in", &error);
                if error.is_permanent() {
                    DeliveryError::Never(reason)
                } else {
                    DeliveryError::Later(reason)
                }
            })?;
        }
        let sent = connection.send(message.envelope(), &message.formatted()).await;
        sent.map_err(|error| {
            let reason = describe("the server did not accept the message", &error);
            if error.is_permanent() {
                DeliveryError::Never(reason)
            } else {
                DeliveryError::Later(reason)
            }
        })?;
        // The message was accepted; how the conversation ends changes nothing.
        drop(tokio::time::timeout(QUIT_TIMEOUT, connection.quit()).await);
        Ok(())
    }

    fn build_message(&self, notification: &Notification) -> Result<Message, DeliveryError> {
        // The same message has the same id, so that mail programs show it once.
        let mut builder = Message::builder()
            .from(self.from.clone())
            .message_id(Some(format!("<{}@{CLIENT_NAME}>", plain_id(&notification.id))))
            .subject(notification.title.clone())
            .header(ContentType::TEXT_PLAIN);
        for to in &self.to {
            builder = builder.to(to.clone());
        }
        let text =
            format!("{}\n\n{} at {}\n", notification.text, notification.event, notification.at);
        builder.body(text).map_err(|error| DeliveryError::Never(error.to_string()))
    }

    /// Connects to an address of the server that was checked.
    async fn connect(&self) -> Result<AsyncSmtpConnection, DeliveryError> {
        let addresses = self.resolve().await?;
        let hello = ClientId::Domain(CLIENT_NAME.to_owned());
        let insecure = |error: SmtpError| {
            DeliveryError::Never(describe("the connection cannot be protected", &error))
        };
        let parameters = match self.security {
            EmailSecurity::None => None,
            _ => Some(TlsParameters::new(self.host.clone()).map_err(insecure)?),
        };
        let (first, later) = match self.security {
            EmailSecurity::Tls => (parameters, None),
            EmailSecurity::StartTls | EmailSecurity::None => (None, parameters),
        };
        let connected = AsyncSmtpConnection::connect_tokio1(
            addresses.as_slice(),
            Some(CONNECT_TIMEOUT),
            &hello,
            first,
            None,
        );
        let mut connection = connected.await.map_err(|error| {
            DeliveryError::Later(describe("the connection does not work", &error))
        })?;
        if let Some(parameters) = later {
            connection.starttls(parameters, &hello).await.map_err(insecure)?;
        }
        Ok(connection)
    }

    async fn resolve(&self) -> Result<Vec<SocketAddr>, DeliveryError> {
        let refused = |error: EgressError| match error {
            EgressError::Refused(_) => DeliveryError::Never(error.to_string()),
            _ => DeliveryError::Later(error.to_string()),
        };
        let destination = Destination::of_authority(&format!("{}:{}", self.host, self.port));
        let destination = destination.map_err(|refusal| refused(refusal.into()))?;
        self.guard.resolve(&destination).await.map_err(refused)
    }
}

/// Describes an error with the words of the server, which are made visible and short.
fn describe(what: &str, error: &SmtpError) -> String {
    let words = lango_egress::describe_causes(error);
    make_visible(&to_one_line(&format!("{what}: {words}"), MAX_REASON_CHARACTERS))
}

/// Writes an id as it may stand in the id of a message.
fn plain_id(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '-' };
    id.chars().map(plain).collect()
}

fn parse_mailbox(text: &str) -> Result<Mailbox, InvalidAddress> {
    text.trim().parse().map_err(|error: lettre::address::AddressError| InvalidAddress {
        given: text.to_owned(),
        reason: error.to_string(),
    })
}
