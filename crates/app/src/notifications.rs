//! Makes the channels of notifications from the configuration.

use std::sync::Arc;

use lango_automator::{NotificationMeans, NotificationRoutes};
use lango_egress::{Guard, Rules};
use lango_keystore::KeyStore;
use lango_notification::{
    Channel, CommandChannel, DeliveryError, DesktopChannel, EmailChannel, EmailSecurity,
    NotificationEvent, WebhookChannel,
};
use lango_redaction::Scrubber;

use crate::config::{ChannelConfig, ChannelKindName, Config, NotifyConfig, SecurityName};
use crate::secret_values::{find_secret_name, open_secret};
use crate::{App, AppError, Home, confinement, web};

/// Names the agent whose limits of addresses hold for webhooks.
const AUTOMATOR: &str = "automator";

/// What channels are made with.
#[derive(Clone)]
pub struct ChannelFactory {
    config: Arc<Config>,
    home: Home,
    store: KeyStore,
    scrubber: Scrubber,
}

impl App {
    /// Returns what channels are made with.
    pub fn channel_factory(&self, store: KeyStore) -> ChannelFactory {
        let config = Arc::new(self.config().clone());
        ChannelFactory { config, home: self.home.clone(), store, scrubber: self.scrubber.clone() }
    }
}

/// Returns the routes of the configuration. Names that no channel has are refused.
pub(crate) fn read_routes(config: &Config) -> Result<NotificationRoutes, AppError> {
    let NotifyConfig { success, failure, approval, reminder } = &config.automator.notify;
    let mut routes = NotificationRoutes::default();
    for (event, channels) in [
        (NotificationEvent::Success, success),
        (NotificationEvent::Failure, failure),
        (NotificationEvent::Approval, approval),
        (NotificationEvent::Reminder, reminder),
    ] {
        for channel in channels {
            routes.add(event, channel);
        }
    }
    let known: Vec<String> = config.automator.channels.keys().cloned().collect();
    let wrong = |error| AppError::usage(format!("automator.notify: {error}"));
    routes.check(&known).map_err(wrong)?;
    Ok(routes)
}

impl ChannelFactory {
    /// Returns what the automator delivers notifications with.
    pub(crate) fn into_means(self) -> NotificationMeans {
        let scrubber = self.scrubber.clone();
        NotificationMeans {
            open: Arc::new(move |name| {
                let factory = self.clone();
                Box::pin(async move { factory.open(&name).await })
            }),
            scrub: Arc::new(move |text| scrubber.scrub(text).into_owned()),
        }
    }

    /// Opens a channel by its name. Secrets are read from the vault now, which is recorded there.
    pub async fn open(&self, name: &str) -> Result<Channel, DeliveryError> {
        let never = |reason: String| DeliveryError::Never(reason);
        let Some(channel) = self.config.automator.channels.get(name) else {
            return Err(never(format!("there is no channel {name:?} in automator.channels")));
        };
        let missing = |key: &str| {
            let key = format!("automator.channels.{name}.{key}");
            never(format!("{key} is not set. Set it: lango config set {key} …"))
        };
        Ok(match channel.kind {
            ChannelKindName::Desktop => Channel::Desktop(DesktopChannel::default()),
            ChannelKindName::Webhook => {
                let url = channel.url.clone().ok_or_else(|| missing("url"))?;
                let guard = web::build_guard(&self.config, AUTOMATOR);
                let guard = guard.map_err(|error| never(error.to_string()))?;
                let token = self.read_value(name, "token", channel.token.as_deref(), Some(&url));
                Channel::Webhook(WebhookChannel::new(url.clone(), token.await?, guard))
            }
            ChannelKindName::Email => self.open_email(name, channel, missing).await?,
            ChannelKindName::Command => self.open_command(name, channel, missing)?,
        })
    }

    async fn open_email(
        &self,
        name: &str,
        channel: &ChannelConfig,
        missing: impl Fn(&str) -> DeliveryError,
    ) -> Result<Channel, DeliveryError> {
        let never = |reason: String| DeliveryError::Never(reason);
        let host = channel.host.clone().ok_or_else(|| missing("host"))?;
        let from = channel.from.as_deref().ok_or_else(|| missing("from"))?;
        if channel.to.is_empty() {
            return Err(missing("to"));
        }
        let (security, usual) = match channel.security {
            SecurityName::StartTls => (EmailSecurity::StartTls, 587),
            SecurityName::Tls => (EmailSecurity::Tls, 465),
            SecurityName::None => (EmailSecurity::None, 25),
        };
        let port = channel.port.unwrap_or(usual);
        // The server was named by the user, wherever it is.
        let mut rules =
            web::egress_rules(&self.config).map_err(|error| never(error.to_string()))?;
        let server = format!("{host}:{port}").parse();
        rules.allow_private.push(server.map_err(|error| never(format!("{host}: {error}")))?);
        let guard = Guard::new(Rules { only: Vec::new(), ..rules });
        let email = EmailChannel::new((host, port), security, (from, &channel.to), guard)
            .map_err(|error| never(format!("automator.channels.{name}: {error}")))?;
        let Some(user) = &channel.username else { return Ok(Channel::Email(email)) };
        let password = self.read_value(name, "password", channel.password.as_deref(), None);
        let password = password.await?.ok_or_else(|| missing("password"))?;
        Ok(Channel::Email(email.with_credentials(user.clone(), password)))
    }

    fn open_command(
        &self,
        name: &str,
        channel: &ChannelConfig,
        missing: impl Fn(&str) -> DeliveryError,
    ) -> Result<Channel, DeliveryError> {
        if channel.command.is_empty() {
            return Err(missing("command"));
        }
        let directory = self.home.data.join("notifications").join(name);
        let policy = confinement::build_sandbox_policy(&self.config, &self.home, &directory);
        Ok(Channel::Command(CommandChannel {
            command: channel.command.clone(),
            network: channel.network,
            directory,
            sandbox: confinement::build_sandbox(&self.config),
            policy: policy.map_err(|error| DeliveryError::Never(error.to_string()))?,
        }))
    }

    /// Reads a value that is not written into the configuration.
    async fn read_value(
        &self,
        channel: &str,
        key: &str,
        given: Option<&str>,
        url: Option<&str>,
    ) -> Result<Option<String>, DeliveryError> {
        let Some(given) = given else { return Ok(None) };
        let key = format!("automator.channels.{channel}.{key}");
        let never = |reason: String| DeliveryError::Never(format!("{key}: {reason}"));
        if let Some(secret) = find_secret_name(given) {
            let purpose = format!("the notification channel {channel}");
            let value = open_secret(&self.store, secret, url, &purpose).await;
            let value = value.map_err(|error| never(error.to_string()))?;
            let text = value.reveal_text().map(str::to_owned);
            return text.map(Some).ok_or_else(|| never(format!("the secret {secret} is not text")));
        }
        let Some(variable) = given.strip_prefix('$') else {
            let reason =
                "write secret:NAME, a secret of the vault (lango secrets set NAME), or $VARIABLE";
            return Err(never(reason.to_owned()));
        };
        let value = std::env::var(variable).ok().filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| never(format!("the variable {variable} is not set")))?;
        self.scrubber.add_all([(variable.to_owned(), value.clone().into_bytes())]);
        Ok(Some(value))
    }
}
