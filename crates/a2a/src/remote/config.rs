//! Defines the configuration of a remote agent, and the addresses that it allows.

use lango_egress::{Destination, Guard, HeaderValue, Pattern, Rules, Url, kind_of};
use lango_protocol::{AgentName, InstructionText};

use super::card::Interface;
use super::error::RemoteError;
use super::limits::RemoteLimits;
use crate::signature::TrustedKey;
use crate::wire::CARD_PATH;

/// A remote agent, as the user configured it.
#[derive(Debug, Clone)]
pub struct RemoteConfig {
    /// The local name of the agent.
    pub name: AgentName,
    /// The address of its card.
    pub card_url: Url,
    /// The owner's description of it, for the orchestrator's instruction.
    pub description: Option<InstructionText>,
    /// The token that authenticates us.
    pub token: Option<HeaderValue>,
    /// The environment variable of the token, for messages.
    pub token_env: Option<String>,
    /// The secret of the vault that is the token, for messages.
    pub token_secret: Option<String>,
    /// Hosts other than the card's own that the agent may use.
    pub allow_hosts: Vec<Pattern>,
    /// The keys of which one must have signed the card; empty if no signature is required.
    pub card_keys: Vec<TrustedKey>,
    /// The user's general rules for outbound connections.
    pub rules: Rules,
    /// True to use streaming if the card offers it.
    pub streaming: bool,
    /// The limits of its tasks.
    pub limits: RemoteLimits,
}

/// Parses the address of a card as users write it: the full address, or only the host.
pub fn card_url(text: &str) -> Result<Url, RemoteError> {
    let (mut url, _) = Destination::of_url(text)
        .map_err(|refusal| RemoteError::BadEndpoint { reason: refusal.to_string() })?;
    if !matches!(url.scheme(), "http" | "https") {
        let reason = format!("{}: addresses are not opened", url.scheme());
        return Err(RemoteError::BadEndpoint { reason });
    }
    if url.path() == "/" || url.path().is_empty() {
        url.set_path(CARD_PATH);
    }
    Ok(url)
}

impl RemoteConfig {
    /// Returns the guard for requests to this agent.
    pub(crate) fn guard(&self) -> Result<Guard, RemoteError> {
        Ok(Guard::new(self.rules()?))
    }

    /// Returns the rules: the card's own host and those that the user added are allowed. They may
    /// be private addresses only if the card's own address is written as one; a public name must
    /// not resolve to a private address.
    fn rules(&self) -> Result<Rules, RemoteError> {
        let own = self.own_destination()?;
        let pattern = pattern(&own)?;
        let is_private = match own.address() {
            Some(address) => kind_of(address).is_some(),
            None => own.name().is_some_and(|n| n == "localhost" || n.ends_with(".localhost")),
        };
        let mut rules = self.rules.clone();
        if is_private {
            rules.allow_private.push(pattern.clone());
            rules.allow_private.extend(self.allow_hosts.iter().cloned());
        }
        rules.only = std::iter::once(pattern).chain(self.allow_hosts.iter().cloned()).collect();
        Ok(rules)
    }

    /// Refuses an endpoint on another host than the card's, unless the user allowed it.
    pub(crate) fn check_endpoint(&self, interface: &Interface) -> Result<(), RemoteError> {
        let own = self.own_destination()?;
        let there = destination(&interface.url)?;
        let is_own = own == there;
        let other = || RemoteError::OtherHost {
            name: self.name.to_string(),
            endpoint: there.to_string(),
            host: own.to_string(),
        };
        if !is_own {
            // The guard decides whether it is listed; its other rules do not apply here.
            let listed = Rules { only: self.allow_hosts.clone(), ..Rules::default() };
            let only_listed = Rules {
                allow_private: self.allow_hosts.clone(),
                deny: Vec::new(),
                only: listed.only,
            };
            if self.allow_hosts.is_empty() || Guard::new(only_listed).check(&there).is_err() {
                return Err(other());
            }
        }
        if self.card_url.scheme() == "https" && interface.url.scheme() != "https" {
            let reason = format!("{} is not encrypted, and the card is", interface.url);
            return Err(RemoteError::BadEndpoint { reason });
        }
        Ok(())
    }

    fn own_destination(&self) -> Result<Destination, RemoteError> {
        destination(&self.card_url)
    }

    /// Returns the advice for an agent that rejects our credentials.
    pub(crate) fn advice(&self) -> String {
        let name = &self.name;
        if let Some(secret) = &self.token_secret {
            return match &self.token {
                Some(_) => format!("It does not take the secret {secret} as a token"),
                None => format!(
                    "The secret {secret} cannot be read: lango vault unlock, or: lango secrets set \
                     {secret}"
                ),
            };
        }
        match (&self.token_env, &self.token) {
            (Some(variable), None) => format!("The variable {variable} is not set: export it"),
            (Some(variable), Some(_)) => format!("It does not take the token in {variable}"),
            (None, _) => format!(
                "Store a token with lango secrets set {name}-token, and name it as token of {name} in \
                 a2a.remoteAgents (secret:{name}-token): lango config path"
            ),
        }
    }
}

fn destination(url: &Url) -> Result<Destination, RemoteError> {
    Destination::of_parsed(url)
        .map_err(|refusal| RemoteError::BadEndpoint { reason: refusal.to_string() })
}

fn pattern(destination: &Destination) -> Result<Pattern, RemoteError> {
    destination
        .to_string()
        .parse()
        .map_err(|error| RemoteError::BadEndpoint { reason: format!("{error}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::{Binding, Version};

    fn config(card: &str, allow: &[&str]) -> RemoteConfig {
        RemoteConfig {
            name: "weather".parse().unwrap(),
            card_url: card_url(card).unwrap(),
            description: None,
            token: None,
            token_env: None,
            token_secret: None,
            allow_hosts: allow.iter().map(|text| text.parse().unwrap()).collect(),
            card_keys: Vec::new(),
            rules: Rules::default(),
            streaming: true,
            limits: RemoteLimits::default(),
        }
    }

    fn check(card: &str, allow: &[&str], endpoint: &str) -> Result<(), RemoteError> {
        let interface = Interface {
            url: endpoint.parse().unwrap(),
            binding: Binding::JsonRpc,
            version: Version::One,
            tenant: None,
        };
        config(card, allow).check_endpoint(&interface)
    }

    #[test]
    fn a_host_alone_is_enough_for_a_card() {
        let url = |text: &str| card_url(text).unwrap().to_string();
        assert_eq!(url("https://a.example"), "https://a.example/.well-known/agent-card.json");
        assert_eq!(url("http://127.0.0.1:1/x/card.json"), "http://127.0.0.1:1/x/card.json");
        for wrong in ["a.example", "file:///etc/passwd", "ws://a.example/", "http://u:p@a.example/"]
        {
            assert!(card_url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn g1_an_endpoint_is_where_its_card_is_or_where_the_user_said() {
        let card = "https://a.example/";
        assert_eq!(check(card, &[], "https://A.example:443/rpc"), Ok(()));
        assert_eq!(check(card, &["b.example"], "https://b.example/rpc"), Ok(()));
        for endpoint in [
            "https://b.example/rpc",
            "https://a.example:8443/rpc",
            "https://a.example.b.example/",
            "http://127.0.0.1/",
            "http://169.254.169.254/",
        ] {
            let error = check(card, &[], endpoint).unwrap_err();
            assert!(matches!(error, RemoteError::OtherHost { .. }), "{endpoint}: {error}");
        }
        let error = check(card, &["a.example:80"], "http://a.example/").unwrap_err();
        assert!(matches!(error, RemoteError::BadEndpoint { .. }), "{error}");
    }

    /// Resolves every name to this address.
    struct FixedResolver(std::net::IpAddr);

    impl lango_egress::Resolve for FixedResolver {
        fn resolve(&self, _: &str) -> lango_egress::Addresses {
            let address = self.0;
            Box::pin(async move { Ok(vec![address]) })
        }
    }

    #[tokio::test]
    async fn a_public_name_that_leads_to_a_private_address_is_refused() {
        for (card, leads, is_fine) in [
            ("https://a.example/", "93.184.215.14", true),
            ("https://a.example/", "127.0.0.1", false),
            ("https://a.example/", "10.0.0.1", false),
            ("https://a.example/", "169.254.169.254", false),
            ("http://localhost:1/", "127.0.0.1", true),
            ("http://10.0.0.1:1/", "10.0.0.1", true),
        ] {
            let config = config(card, &[]);
            let resolver = std::sync::Arc::new(FixedResolver(leads.parse().unwrap()));
            let guard = Guard::with_resolver(config.rules().unwrap(), resolver);
            let found = guard.resolve(&config.own_destination().unwrap()).await;
            assert_eq!(found.is_ok(), is_fine, "{card} to {leads}: {found:?}");
        }
    }
}
