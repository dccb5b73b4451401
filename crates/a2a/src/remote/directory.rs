//! Tracks the configured remote agents: which are available, which are not, and why.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use lango_egress::{Channel, CircuitBreaker};
use lango_orchestration::RemoteAgentSpec;
use lango_protocol::{AgentName, ForeignText, InstructionText, SessionId, Timestamp};
use lango_runtime::RemoteAgent;
use lango_store::{Database, StoreError};

use super::agent::{A2aRemote, BREAKER};
use super::card::Card;
use super::cards::{CardStore, TrustedCard};
use super::config::RemoteConfig;
use super::error::RemoteError;
use super::fetch::{CardResponse, FetchedCard, check_card, fetch};
use super::peer::Peer;
use super::tasks::TaskStore;

/// The configured remote agents.
pub struct Directory {
    members: Vec<Member>,
    cards: CardStore,
    pub(crate) tasks: TaskStore,
    timeout: Duration,
}

struct Member {
    config: RemoteConfig,
    /// Kept when the card is fetched again.
    breaker: Arc<CircuitBreaker>,
}

/// The status of a remote agent.
#[derive(Clone)]
pub struct RemoteStatus {
    /// The local name of the agent.
    pub name: AgentName,
    /// The agent, or the reason why it is not in the team.
    pub availability: Result<AvailableAgent, RemoteError>,
}

/// A remote agent that is available.
#[derive(Clone)]
pub struct AvailableAgent {
    /// Its card.
    pub card: Arc<Card>,
    /// The agent.
    pub agent: Arc<A2aRemote>,
    /// The owner's description of it.
    pub description: Option<InstructionText>,
}

impl Directory {
    /// Opens a directory of these agents. Each check takes no longer than `timeout`.
    pub async fn open(
        database: Database,
        configs: Vec<RemoteConfig>,
        timeout: Duration,
    ) -> Result<Self, StoreError> {
        let cards = CardStore::open(database.clone()).await?;
        let tasks = TaskStore::open(database).await?;
        let members = configs
            .into_iter()
            .map(|config| Member { config, breaker: Arc::new(CircuitBreaker::new(BREAKER)) })
            .collect();
        Ok(Self { members, cards, tasks, timeout })
    }

    /// Returns the names of all agents, available or not.
    pub fn names(&self) -> impl Iterator<Item = &AgentName> {
        self.members.iter().map(|member| &member.config.name)
    }

    /// Returns the configuration of an agent.
    pub fn config(&self, name: &AgentName) -> Option<&RemoteConfig> {
        self.members.iter().map(|member| &member.config).find(|config| config.name == *name)
    }

    /// Returns the store of cards.
    pub fn cards(&self) -> &CardStore {
        &self.cards
    }

    /// Checks all agents concurrently.
    pub async fn check_agents(&self) -> Vec<RemoteStatus> {
        join_all(self.members.iter().map(|member| self.check(member))).await
    }

    /// Checks one agent.
    pub async fn check_agent(&self, name: &AgentName) -> Option<RemoteStatus> {
        let member = self.members.iter().find(|member| member.config.name == *name)?;
        Some(self.check(member).await)
    }

    async fn check(&self, member: &Member) -> RemoteStatus {
        let config = &member.config;
        // The resolver's own timeouts are longer.
        let looked = tokio::time::timeout(self.timeout, self.find(member)).await;
        let availability = looked.unwrap_or_else(|_| {
            let reason = format!("no answer within {} s", self.timeout.as_secs());
            Err(RemoteError::Unreachable { url: config.card_url.to_string(), reason })
        });
        RemoteStatus { name: config.name.clone(), availability }
    }

    async fn find(&self, member: &Member) -> Result<AvailableAgent, RemoteError> {
        let config = &member.config;
        let known = self.trusted_card(config).await?;
        let is_fresh =
            |known: &&TrustedCard| known.offered.is_none() && known.fresh_until > Timestamp::now();
        if let Some(known) = known.as_ref().filter(is_fresh) {
            return self.reuse_card(member, known);
        }
        let (body, validators) = match (fetch(config, known.as_ref(), self.timeout).await?, &known)
        {
            (CardResponse::Body { body, validators }, _) => (body, validators),
            (CardResponse::Unchanged { validators }, Some(known)) => {
                self.cards.mark_seen(&config.name, &known.body, &validators).await?;
                return self.reuse_card(member, known);
            }
            (CardResponse::Unchanged { .. }, None) => {
                let url = config.card_url.to_string();
                let reason =
                    "nothing is known, and the server says that nothing changed".to_owned();
                return Err(RemoteError::NotACard { url, reason });
            }
        };
        let fetched = check_card(config, body, validators)?;
        match known {
            None => self.trust(&config.name, &fetched).await?,
            Some(known) if known.digest == fetched.card.digest() => {
                self.cards.mark_seen(&config.name, &fetched.body, &fetched.validators).await?;
            }
            Some(_) => {
                self.cards.record_offer(&config.name, &fetched.body).await?;
                return Err(RemoteError::Changed { name: config.name.clone() });
            }
        }
        self.connect(member, fetched.card)
    }

    /// Uses a card that was seen before. The current configuration applies to it, too.
    fn reuse_card(
        &self,
        member: &Member,
        known: &TrustedCard,
    ) -> Result<AvailableAgent, RemoteError> {
        let card = Card::read(&known.card_url, known.body.as_bytes())?;
        card.verify(&member.config.card_keys)?;
        member.config.check_endpoint(card.interface()?)?;
        self.connect(member, card)
    }

    async fn trusted_card(
        &self,
        config: &RemoteConfig,
    ) -> Result<Option<TrustedCard>, RemoteError> {
        let known = self.cards.find_card(&config.name).await?;
        // The user gave the name another address: that is another agent.
        Ok(known.filter(|known| known.card_url == config.card_url.as_str()))
    }

    fn connect(&self, member: &Member, card: Card) -> Result<AvailableAgent, RemoteError> {
        let config = &member.config;
        let interface = card.interface()?.clone();
        let channel = Channel::new(config.guard()?, interface.url.as_str())
            .map_err(|error| RemoteError::BadEndpoint { reason: error.to_string() })?;
        let agent = A2aRemote {
            name: config.name.clone(),
            streaming: card.streaming && config.streaming,
            input_modes: card.input_modes.clone(),
            peer: Peer {
                channel,
                interface,
                token: config.token.clone(),
                limits: config.limits.clone(),
                advice: config.advice(),
            },
            tasks: self.tasks.clone(),
            breaker: Arc::clone(&member.breaker),
        };
        let description = config.description.clone();
        Ok(AvailableAgent { card: Arc::new(card), agent: Arc::new(agent), description })
    }

    /// Deletes the tasks of a conversation.
    pub async fn forget(&self, session: &SessionId) -> Result<(), StoreError> {
        self.tasks.forget(session).await
    }

    /// Trusts a fetched card, in place of the one that was trusted before.
    pub async fn trust(&self, name: &AgentName, seen: &FetchedCard) -> Result<(), RemoteError> {
        let Some(config) = self.config(name) else { return Ok(()) };
        let url = config.card_url.as_str();
        let digest = seen.card.digest();
        self.cards.pin(name, url, &digest, &seen.endpoint, &seen.body, &seen.validators).await?;
        Ok(())
    }
}

impl RemoteStatus {
    /// Returns a warning for the user if the agent is not available.
    pub fn warning(&self) -> Option<String> {
        let error = self.availability.as_ref().err()?;
        Some(format!("{} is not in the team: {error}", self.name))
    }
}

/// Returns the remote part of the team.
pub fn team(
    statuses: &[RemoteStatus],
) -> (Vec<RemoteAgentSpec>, BTreeMap<AgentName, Arc<dyn RemoteAgent>>) {
    let present = statuses.iter().filter_map(|status| {
        let present = status.availability.as_ref().ok()?;
        Some((&status.name, present))
    });
    let spec = |(name, present): (&AgentName, &AvailableAgent)| RemoteAgentSpec {
        name: name.clone(),
        description: present.description.clone(),
        card_description: ForeignText::new(&present.card.description),
        card_skills: present
            .card
            .skills
            .iter()
            .map(|skill| ForeignText::new(skill.to_string()))
            .collect(),
    };
    let specs = present.clone().map(spec).collect();
    let agents = present.map(|(name, present)| {
        let agent: Arc<dyn RemoteAgent> = present.agent.clone();
        (name.clone(), agent)
    });
    (specs, agents.collect())
}
