//! Everybody elsewhere: who is there, who is not, and why.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use lango_egress::Channel;
use lango_orchestration::RemoteAgentSpec;
use lango_protocol::{AgentName, SessionId, Timestamp};
use lango_runtime::RemoteAgent;
use lango_store::{Database, StoreError};

use super::agent::A2aRemote;
use super::card::Card;
use super::cards::{CardBook, TrustedCard};
use super::circuit::Circuit;
use super::config::RemoteConfig;
use super::error::RemoteError;
use super::fetch::{Came, Sighting, fetch, sighting};
use super::peer::Peer;
use super::tasks::TaskBook;

/// The agents elsewhere that are configured.
pub struct Directory {
    members: Vec<Member>,
    cards: CardBook,
    pub(crate) tasks: TaskBook,
    patience: Duration,
}

struct Member {
    config: RemoteConfig,
    /// Outlives a card that is looked at again.
    circuit: Arc<Circuit>,
}

/// Whether an agent is there.
#[derive(Clone)]
pub struct Standing {
    /// Our name for it.
    pub name: AgentName,
    /// The agent, or why it is not in the team.
    pub found: Result<Present, RemoteError>,
}

/// An agent that is there.
#[derive(Clone)]
pub struct Present {
    /// Its card.
    pub card: Arc<Card>,
    /// The agent.
    pub agent: Arc<A2aRemote>,
}

impl Directory {
    /// A directory of these agents, each of which is looked for no longer than `patience`.
    pub async fn open(
        database: Database,
        configs: Vec<RemoteConfig>,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let cards = CardBook::open(database.clone()).await?;
        let tasks = TaskBook::open(database).await?;
        let members =
            configs.into_iter().map(|config| Member { config, circuit: Arc::default() }).collect();
        Ok(Self { members, cards, tasks, patience })
    }

    /// The names of everybody, there or not.
    pub fn names(&self) -> impl Iterator<Item = &AgentName> {
        self.members.iter().map(|member| &member.config.name)
    }

    /// How an agent is configured.
    pub fn config(&self, name: &AgentName) -> Option<&RemoteConfig> {
        self.members.iter().map(|member| &member.config).find(|config| config.name == *name)
    }

    /// What is known of cards.
    pub fn cards(&self) -> &CardBook {
        &self.cards
    }

    /// Looks for everybody, at the same time.
    pub async fn look(&self) -> Vec<Standing> {
        join_all(self.members.iter().map(|member| self.standing(member))).await
    }

    /// Looks for one.
    pub async fn look_for(&self, name: &AgentName) -> Option<Standing> {
        let member = self.members.iter().find(|member| member.config.name == *name)?;
        Some(self.standing(member).await)
    }

    async fn standing(&self, member: &Member) -> Standing {
        let config = &member.config;
        // Names that do not resolve have limits of their own, which are longer.
        let looked = tokio::time::timeout(self.patience, self.find(member)).await;
        let found = looked.unwrap_or_else(|_| {
            let reason = format!("no answer within {} s", self.patience.as_secs());
            Err(RemoteError::Unreachable { url: config.card_url.to_string(), reason })
        });
        Standing { name: config.name.clone(), found }
    }

    async fn find(&self, member: &Member) -> Result<Present, RemoteError> {
        let config = &member.config;
        let known = self.trusted(config).await?;
        let is_fresh =
            |known: &&TrustedCard| known.offered.is_none() && known.fresh_until > Timestamp::now();
        if let Some(known) = known.as_ref().filter(is_fresh) {
            return self.remembered(member, known);
        }
        let (body, marks) = match (fetch(config, known.as_ref(), self.patience).await?, &known) {
            (Came::Body { body, marks }, _) => (body, marks),
            (Came::Unchanged { marks }, Some(known)) => {
                self.cards.seen(&config.name, &known.body, &marks).await?;
                return self.remembered(member, known);
            }
            (Came::Unchanged { .. }, None) => {
                let url = config.card_url.to_string();
                let reason =
                    "nothing is known, and the server says that nothing changed".to_owned();
                return Err(RemoteError::NotACard { url, reason });
            }
        };
        let sighting = sighting(config, body, marks)?;
        match known {
            None => self.trust(&config.name, &sighting).await?,
            Some(known) if known.digest == sighting.card.digest() => {
                self.cards.seen(&config.name, &sighting.body, &sighting.marks).await?;
            }
            Some(_) => {
                self.cards.offer(&config.name, &sighting.body).await?;
                return Err(RemoteError::Changed { name: config.name.clone() });
            }
        }
        self.present(member, sighting.card)
    }

    /// A card that was seen before. What the user configured since then holds for it, too.
    fn remembered(&self, member: &Member, known: &TrustedCard) -> Result<Present, RemoteError> {
        let card = Card::read(&known.card_url, known.body.as_bytes())?;
        card.verify(&member.config.card_keys)?;
        member.config.check_endpoint(card.interface()?)?;
        self.present(member, card)
    }

    async fn trusted(&self, config: &RemoteConfig) -> Result<Option<TrustedCard>, RemoteError> {
        let known = self.cards.card(&config.name).await?;
        // The user pointed the name somewhere else: that is another agent.
        Ok(known.filter(|known| known.card_url == config.card_url.as_str()))
    }

    fn present(&self, member: &Member, card: Card) -> Result<Present, RemoteError> {
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
            circuit: Arc::clone(&member.circuit),
        };
        Ok(Present { card: Arc::new(card), agent: Arc::new(agent) })
    }

    /// Forgets what the agents did for a conversation.
    pub async fn forget(&self, session: &SessionId) -> Result<(), StoreError> {
        self.tasks.forget(session).await
    }

    /// Trusts a card as it was seen, whatever was trusted before.
    pub async fn trust(&self, name: &AgentName, seen: &Sighting) -> Result<(), RemoteError> {
        let Some(config) = self.config(name) else { return Ok(()) };
        let url = config.card_url.as_str();
        let digest = seen.card.digest();
        self.cards.pin(name, url, &digest, &seen.endpoint, &seen.body, &seen.marks).await?;
        Ok(())
    }
}

impl Standing {
    /// What a user should know, where the agent is not there.
    pub fn warning(&self) -> Option<String> {
        let error = self.found.as_ref().err()?;
        Some(format!("{} is not in the team: {error}", self.name))
    }
}

/// The part of the team that is elsewhere.
pub fn team(
    standings: &[Standing],
) -> (Vec<RemoteAgentSpec>, BTreeMap<AgentName, Arc<dyn RemoteAgent>>) {
    let present = standings.iter().filter_map(|standing| {
        let present = standing.found.as_ref().ok()?;
        Some((&standing.name, present))
    });
    let spec = |(name, present): (&AgentName, &Present)| RemoteAgentSpec {
        name: name.clone(),
        description: present.card.description.clone(),
        skills: present.card.skills.iter().map(ToString::to_string).collect(),
    };
    let specs = present.clone().map(spec).collect();
    let agents = present.map(|(name, present)| {
        let agent: Arc<dyn RemoteAgent> = present.agent.clone();
        (name.clone(), agent)
    });
    (specs, agents.collect())
}
