//! Builds the agent card from the existing agents: a public card, and an extended one for callers
//! with access.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use a2a::{
    AgentCapabilities, AgentCard, AgentInterface, AgentProvider, AgentSkill,
    HttpAuthSecurityScheme, SecurityScheme, TRANSPORT_PROTOCOL_HTTP_JSON,
    TRANSPORT_PROTOCOL_JSONRPC,
};
use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode, header};
use lango_orchestration::{AgentTree, RootAgent, Topology};
use lango_protocol::Caller;
use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::settings::Settings;
use crate::signature::{CardSigner, SignatureError};
use crate::wire::{VERSION_1, VERSION_03};

/// The path of the JSON-RPC binding, below the server's address.
pub const RPC_PATH: &str = "/a2a";
/// The path of the HTTP+JSON binding, below the server's address.
pub const HTTP_PATH: &str = "/a2a/v1";

const BEARER: &str = "bearer";
/// Limits how many seconds a client may cache the card.
const MAX_AGE_SECONDS: u32 = 300;

/// Describes this server on its card.
#[derive(Debug, Clone)]
pub struct CardSettings {
    /// The name of the team.
    pub name: String,
    /// The purpose of the team.
    pub description: String,
    /// The version of the team.
    pub version: String,
    /// The address at which clients reach the server, without a trailing slash.
    pub base_url: String,
    /// The name and the address of the responsible organization.
    pub provider: Option<(String, String)>,
    /// The address of further documentation.
    pub documentation_url: Option<String>,
    /// True if callers have to send a bearer token. Without it there is no extended card.
    pub bearer: bool,
}

/// An agent as a card describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CardAgent {
    /// Its name.
    pub name: String,
    /// The purpose of the agent.
    pub description: String,
    /// Keywords that point to it.
    pub keywords: Vec<String>,
    /// The content that a task for it must have.
    pub accepts: String,
    /// The content of its answers.
    pub returns: String,
    /// The tasks that other agents must do instead.
    pub cannot_do: Vec<String>,
    /// The capabilities that its tools give it.
    pub capabilities: String,
}

impl CardAgent {
    /// Returns the agents of a tree. Descriptions come from the topology for agents that have a
    /// file in it.
    pub fn from_tree(tree: &AgentTree, topology: Option<&Topology>) -> Vec<Self> {
        if let RootAgent::Single(single) = &tree.root {
            let description = "answers questions and does tasks".to_owned();
            return vec![Self { name: single.name.to_string(), description, ..Self::default() }];
        }
        let agents = tree.sub_agents().iter().map(|agent| {
            let spec = topology
                .and_then(|topology| topology.agents().iter().find(|spec| spec.name == agent.name));
            let capabilities = agent.description.clone();
            match spec {
                Some(spec) => Self {
                    name: agent.name.to_string(),
                    description: spec.description.clone(),
                    keywords: spec.keywords.clone(),
                    accepts: spec.accepts.clone(),
                    returns: spec.returns.clone(),
                    cannot_do: spec.cannot_do.clone(),
                    capabilities,
                },
                None => Self {
                    name: agent.name.to_string(),
                    description: capabilities.clone(),
                    capabilities,
                    ..Self::default()
                },
            }
        });
        agents.collect()
    }

    fn build_skill(&self, extended: bool) -> AgentSkill {
        let mut description = self.description.clone();
        if extended {
            let more = [
                ("Can do", self.capabilities.clone()),
                ("Accepts", self.accepts.clone()),
                ("Returns", self.returns.clone()),
                ("Does not", self.cannot_do.join(", ")),
            ];
            for (what, text) in more.into_iter().filter(|(_, text)| !text.is_empty()) {
                description.push_str(&format!(". {what}: {text}"));
            }
        }
        // A required member must not be empty.
        let tags =
            if self.keywords.is_empty() { vec![self.name.clone()] } else { self.keywords.clone() };
        AgentSkill {
            id: self.name.clone(),
            name: self.name.clone(),
            description,
            tags,
            examples: None,
            input_modes: None,
            output_modes: None,
            security_requirements: None,
        }
    }
}

/// Selects the agents that a card shows, in public or to a caller. Implemented by the application.
pub trait ExposedAgents: Send + Sync {
    /// Returns the agents that are shown to `caller`, or in public without one.
    fn exposed(&self, caller: Option<&Caller>) -> Vec<CardAgent>;
}

/// Shows the same agents to every caller.
impl ExposedAgents for Vec<CardAgent> {
    fn exposed(&self, _: Option<&Caller>) -> Vec<CardAgent> {
        self.clone()
    }
}

/// Builds and serves cards.
pub(crate) struct Cards {
    settings: CardSettings,
    input_modes: Vec<String>,
    speaks_03: bool,
    notifies: bool,
    exposed: Arc<dyn ExposedAgents>,
    signer: Option<CardSigner>,
    /// The public card as it was last served, so that it is signed once. The lock is held while a
    /// card is built.
    last: Mutex<Option<PublishedCard>>,
}

#[derive(Clone)]
struct PublishedCard {
    agents: Vec<CardAgent>,
    body: String,
    tag: String,
    since: SystemTime,
}

impl Cards {
    pub(crate) fn new(
        card: CardSettings,
        settings: &Settings,
        notifies: bool,
        exposed: Arc<dyn ExposedAgents>,
        signer: Option<CardSigner>,
    ) -> Self {
        Self {
            settings: card,
            input_modes: settings.input_modes.clone(),
            speaks_03: settings.speak_03,
            notifies,
            exposed,
            signer,
            last: Mutex::default(),
        }
    }

    /// Tells whether callers can ask for more than the public card.
    pub(crate) fn has_extended(&self) -> bool {
        self.settings.bearer
    }

    /// Returns the card as JSON, with its security requirements and signatures.
    fn build_document(
        &self,
        agents: &[CardAgent],
        extended: bool,
    ) -> Result<Value, SignatureError> {
        let card = self.build_card(agents, extended);
        // The types of the protocol always have a form in JSON.
        let mut new = serde_json::to_value(card).unwrap_or_default();
        if self.settings.bearer {
            // An empty list of scopes is left out, as in the protocol's JSON, and is signed that
            // way.
            new["securityRequirements"] = json!([{ "schemes": { BEARER: {} } }]);
        }
        let mut served = new.clone();
        if self.speaks_03 {
            self.add_03(&mut served);
        }
        if let Some(signer) = &self.signer {
            // A client that parses a card into the types of 1.0 does not see the members of 0.3.
            // With two signatures, both kinds of client can verify it.
            let mut signatures = signer.sign_card(&new)?;
            if self.speaks_03 {
                signatures.extend(signer.sign_card(&served)?);
            }
            served["signatures"] = json!(signatures);
        }
        Ok(served)
    }

    fn build_card(&self, agents: &[CardAgent], extended: bool) -> AgentCard {
        let settings = &self.settings;
        let interface = |path: &str, binding: &str, version: &str| AgentInterface {
            url: format!("{}{path}", settings.base_url),
            protocol_binding: binding.to_owned(),
            protocol_version: version.to_owned(),
            tenant: None,
        };
        let mut interfaces = vec![
            interface(RPC_PATH, TRANSPORT_PROTOCOL_JSONRPC, VERSION_1),
            interface(HTTP_PATH, TRANSPORT_PROTOCOL_HTTP_JSON, VERSION_1),
        ];
        if self.speaks_03 {
            interfaces.push(interface(RPC_PATH, TRANSPORT_PROTOCOL_JSONRPC, VERSION_03));
        }
        let scheme = SecurityScheme::HttpAuth(HttpAuthSecurityScheme {
            scheme: "Bearer".to_owned(),
            description: Some("the token that the owner of this agent gave you".to_owned()),
            bearer_format: None,
        });
        let bearer = settings.bearer;
        let skills = if agents.is_empty() {
            let description = "answers questions".to_owned();
            vec![CardAgent { name: "assistant".to_owned(), description, ..CardAgent::default() }]
        } else {
            agents.to_vec()
        };
        AgentCard {
            name: settings.name.clone(),
            description: settings.description.clone(),
            version: settings.version.clone(),
            supported_interfaces: interfaces,
            capabilities: AgentCapabilities {
                streaming: Some(true),
                push_notifications: Some(self.notifies),
                extensions: None,
                extended_agent_card: Some(self.has_extended()),
            },
            default_input_modes: self.input_modes.clone(),
            default_output_modes: vec!["text/plain".to_owned(), "application/json".to_owned()],
            skills: skills.iter().map(|agent| agent.build_skill(extended)).collect(),
            provider: settings
                .provider
                .clone()
                .map(|(organization, url)| AgentProvider { organization, url }),
            documentation_url: settings.documentation_url.clone(),
            icon_url: None,
            security_schemes: bearer.then(|| HashMap::from([(BEARER.to_owned(), scheme)])),
            security_requirements: bearer
                .then(|| vec![HashMap::from([(BEARER.to_owned(), vec![])])]),
            signatures: None,
        }
    }

    /// Adds the members that clients of 0.3 look for in the same document.
    fn add_03(&self, card: &mut Value) {
        let url = format!("{}{RPC_PATH}", self.settings.base_url);
        card["additionalInterfaces"] =
            json!([{ "url": url, "transport": TRANSPORT_PROTOCOL_JSONRPC }]);
        card["url"] = json!(url);
        card["preferredTransport"] = json!(TRANSPORT_PROTOCOL_JSONRPC);
        card["protocolVersion"] = json!("0.3.0");
        card["supportsAuthenticatedExtendedCard"] = json!(self.has_extended());
        if self.settings.bearer {
            card["security"] = json!([{ BEARER: [] }]);
            // The texts are the same: some clients of 1.0 read these members if they are present.
            let scheme = &mut card["securitySchemes"][BEARER];
            scheme["scheme"] = scheme["httpAuthSecurityScheme"]["scheme"].clone();
            scheme["description"] = scheme["httpAuthSecurityScheme"]["description"].clone();
            scheme["type"] = json!("http");
        }
    }

    /// Returns the extended card for a caller.
    pub(crate) fn build_extended(&self, caller: &Caller) -> Result<Value, SignatureError> {
        self.build_document(&self.exposed.exposed(Some(caller)), true)
    }

    fn build_published(&self) -> Result<PublishedCard, SignatureError> {
        let agents = self.exposed.exposed(None);
        let mut last = self.last.lock();
        if let Some(published) = last.as_ref().filter(|published| published.agents == agents) {
            return Ok(published.clone());
        }
        let body = self.build_document(&agents, false)?.to_string();
        let digest = Sha256::digest(body.as_bytes());
        let tag = lango_text::hex(&digest[..16]);
        let published =
            PublishedCard { agents, body, tag: format!("\"{tag}\""), since: SystemTime::now() };
        *last = Some(published.clone());
        Ok(published)
    }

    /// Answers a request for the public card.
    pub(crate) fn serve_public_card(&self, headers: &HeaderMap) -> Response<Body> {
        let published = match self.build_published() {
            Ok(published) => published,
            Err(error) => {
                tracing::error!(%error, "the card cannot be signed");
                let mut response = Response::new(Body::from("the card cannot be signed"));
                *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
                return response;
            }
        };
        let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
        let is_known = known.is_some_and(|tags| {
            tags.split(',')
                .map(|tag| tag.trim().trim_start_matches("W/"))
                .any(|tag| tag == "*" || tag == published.tag)
        });
        let builder = Response::builder()
            .header(header::CACHE_CONTROL, format!("public, max-age={MAX_AGE_SECONDS}"))
            .header(header::ETAG, published.tag)
            .header(header::LAST_MODIFIED, httpdate::fmt_http_date(published.since));
        let response = if is_known {
            builder.status(StatusCode::NOT_MODIFIED).body(Body::empty())
        } else {
            builder
                .header(header::CONTENT_TYPE, "application/json")
                .body(Body::from(published.body))
        };
        // A tag and a date are always valid in headers.
        response.unwrap_or_default()
    }
}
