//! The HTTP server: its address, its access control and its endpoints.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use lango_a2a::server::{A2aEndpoint, A2aEndpointParts, CardSettings, Settings};
use lango_a2a::signature::CardSigner;
use lango_egress::Guard;
use lango_mcp::server::{McpEndpoint, McpParts};
use lango_protocol::{AgentName, OWNER};
use lango_runtime::TurnCollector;
use lango_server::{
    AccessControl, AccessParts, CallerToken, Callers, Endpoints, HostGate, Listener,
    OpenAiEndpoint, OpenAiParts, RevokedToken, combine_routes,
};
use tokio_util::sync::CancellationToken;

use crate::access::ServedTeams;
use crate::config::ServerConfig;
use crate::home::expand_path;
use crate::owner::OwnerToken;
use crate::{App, AppError, Notice, ServeOptions, ServedAssembly, web};

/// Limits how long running turns may take to end when the server stops.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// Sets how often revoked tokens are looked for.
const REVOCATION_INTERVAL: Duration = Duration::from_secs(1);

/// Limits how long the streams of a revoked token may take to end by themselves.
const STREAM_END_TIMEOUT: Duration = Duration::from_secs(1);

/// Holds a client's choices about the server; the configuration decides the others.
#[derive(Debug, Clone, Default)]
pub struct HttpServerOptions {
    /// The address to listen on.
    pub host: Option<IpAddr>,
    /// The port; 0 is any that is free.
    pub port: Option<u16>,
    /// The agents that API clients reach.
    pub expose: Vec<AgentName>,
    /// Agents whose tools may be called directly.
    pub tools: Vec<AgentName>,
    /// The options for the owner's token.
    pub owner: OwnerOptions,
    /// The version that cards and health reports name.
    pub version: &'static str,
}

/// Holds how the owner of a server is authenticated.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnerOptions {
    /// Accepts every program on this machine as the owner.
    pub open: bool,
    /// Makes a new token and revokes the previous one.
    pub new_token: bool,
}

/// A server whose options were checked, and that does not listen yet.
pub struct HttpServer {
    address: SocketAddr,
    configured_token: Option<CallerToken>,
    options: HttpServerOptions,
}

impl HttpServer {
    /// Checks the options against the configuration. Nothing is opened.
    pub fn new(config: &ServerConfig, options: HttpServerOptions) -> Result<Self, AppError> {
        let address = choose_address(config, &options)?;
        let configured_token = OwnerToken::read_configured(config, options.owner)?;
        let expose = choose_agents(options.expose, &config.expose, "server.expose")?;
        let tools = choose_agents(options.tools, &config.tools, "server.tools")?;
        let options = HttpServerOptions { expose, tools, ..options };
        Ok(Self { address, configured_token, options })
    }

    /// Returns the options for what API clients reach.
    pub fn serve_options(&self, notice: Notice) -> ServeOptions {
        let token = self.configured_token.iter();
        ServeOptions {
            expose: self.options.expose.clone(),
            tools: self.options.tools.clone(),
            secrets: token.map(|token| token.reveal().to_owned()).collect(),
            notice,
        }
    }

    /// Listens until `stop` is done. `announce` is called once everything is ready.
    pub async fn run<E: From<AppError>>(
        self,
        app: &App,
        serving: ServedAssembly,
        announce: impl FnOnce(SocketAddr, &OwnerToken) -> Result<(), E>,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), E> {
        let Self { address, configured_token, options } = self;
        let listener = Listener::bind(address).await.map_err(AppError::from)?;
        let owner =
            OwnerToken::find_or_create(configured_token, options.owner, &serving.callers).await?;
        let closing = CancellationToken::new();
        let server = &app.config().server;
        let notice = Arc::clone(&serving.notice);
        let access = AccessControl::new(AccessParts {
            gate: HostGate::new(&server.allowed_hosts, &server.allowed_origins),
            callers: serving.callers.clone(),
            owner_token: owner.configured_token().cloned(),
            open: options.owner.open,
            notice: Arc::new(move |line| notice(&line)),
        });
        let access = access.map_err(AppError::from)?;
        let a2a = open_a2a_endpoint(app, &serving, listener.address(), &options).await?;
        let endpoints = build_endpoints(&serving, &a2a, &closing, options.version).await?;
        let routes = combine_routes(Arc::new(access), endpoints);
        announce(listener.address(), &owner)?;
        let collector = TurnCollector::new(serving.journal.clone(), serving.teams.clone());
        let stopping = CancellationToken::new();
        tokio::spawn(collector.run(stopping.clone()));
        let automation = serving.start_automation();
        let stop = async {
            stop.await;
            // From now on, another process takes up what is abandoned.
            stopping.cancel();
            drop(automation);
        };
        let teams = Arc::clone(&serving.teams);
        let ended = closing.clone();
        let revocations = Revocations {
            callers: serving.callers.clone(),
            teams: Arc::clone(&teams),
            a2a: a2a.clone(),
        };
        tokio::spawn(async move {
            ended.run_until_cancelled(revocations.watch()).await;
            a2a.close().await;
        });
        let is_busy = move || teams.count_running_turns() > 0;
        listener.serve(routes, stop, closing, GRACE_PERIOD, is_busy).await;
        serving.end().await;
        Ok(())
    }
}

/// Ends what a client has under way when its token is revoked. Tokens are revoked by another
/// process, so the database is looked at from time to time.
struct Revocations {
    callers: Callers,
    teams: Arc<ServedTeams>,
    a2a: A2aEndpoint,
}

impl Revocations {
    async fn watch(&self) {
        loop {
            tokio::time::sleep(REVOCATION_INTERVAL).await;
            match self.callers.take_revoked().await {
                Ok(revoked) => {
                    for token in revoked {
                        self.end_token(&token).await;
                    }
                }
                Err(error) => tracing::warn!(%error, "revoked tokens could not be looked up"),
            }
        }
    }

    async fn end_token(&self, token: &RevokedToken) {
        let caller = &token.caller;
        if caller.as_str() != OWNER {
            let reason = format!("the token of {caller} was revoked");
            self.teams.revoke_turns(caller, &reason);
            if let Err(error) = self.a2a.cancel_tasks_of(caller).await {
                tracing::warn!(%caller, %error, "the tasks of a client were not cancelled");
            }
            // The streams say how their turns ended before they are cut.
            tokio::time::sleep(STREAM_END_TIMEOUT).await;
        }
        token.end_streams();
    }
}

/// Returns all endpoints of the server.
async fn build_endpoints(
    serving: &ServedAssembly,
    a2a: &A2aEndpoint,
    closing: &CancellationToken,
    version: &'static str,
) -> Result<Endpoints, AppError> {
    let openai = OpenAiEndpoint::open(OpenAiParts {
        teams: serving.teams.clone(),
        database: serving.database.clone(),
        journal: serving.journal.clone(),
        closing: closing.clone(),
    })
    .await?;
    let mcp = McpEndpoint::new(McpParts {
        teams: serving.teams.clone(),
        offers: serving.teams.clone(),
        closing: closing.clone(),
    });
    let teams = Arc::clone(&serving.teams);
    Ok(Endpoints {
        openai: Some(openai),
        others: vec![mcp.router(), a2a.router()],
        database: serving.database.clone(),
        version,
        running: Arc::new(move || teams.count_running_turns()),
    })
}

/// Returns the endpoint of remote agents. Tasks that a process left behind are gone on with.
async fn open_a2a_endpoint(
    app: &App,
    serving: &ServedAssembly,
    address: SocketAddr,
    options: &HttpServerOptions,
) -> Result<A2aEndpoint, AppError> {
    let config = app.config();
    let open = options.owner.open;
    let rules = web::egress_rules(config)?;
    let settings = Settings { callers_are_known: !open, ..Settings::default() };
    let server = &config.server;
    let endpoint = A2aEndpoint::open(A2aEndpointParts {
        database: serving.database.clone(),
        key_store: app.open_key_store(serving.database.clone()).await?,
        teams: serving.teams.clone(),
        exposed: serving.teams.clone(),
        card: CardSettings {
            name: server.name.clone(),
            description: server.description.clone(),
            version: options.version.to_owned(),
            base_url: server.base_url.clone().unwrap_or_else(|| format!("http://{address}")),
            provider: None,
            documentation_url: None,
            bearer: !open,
        },
        signer: load_card_signer(server)?,
        notifications: Some(Guard::new(rules)),
        settings,
    })
    .await?;
    endpoint.resume_unfinished().await?;
    Ok(endpoint)
}

/// Returns the signer of the card, if a key file is configured. The key is made if it does not
/// exist.
fn load_card_signer(config: &ServerConfig) -> Result<Option<CardSigner>, AppError> {
    let Some(path) = &config.card_key else { return Ok(None) };
    let wrong = |why: String| AppError::usage(format!("server.cardKey {path}: {why}"));
    let file = expand_path(path).map_err(wrong)?;
    let signer = if file.exists() { CardSigner::open(&file) } else { CardSigner::generate(&file) };
    signer.map(Some).map_err(|error| wrong(error.to_string()))
}

/// Returns the agents that a client named, or else the configuration.
fn choose_agents(
    given: Vec<AgentName>,
    configured: &[String],
    key: &str,
) -> Result<Vec<AgentName>, AppError> {
    if !given.is_empty() {
        return Ok(given);
    }
    let names = configured.iter().map(|name| name.parse());
    names
        .collect::<Result<_, _>>()
        .map_err(|error: lango_protocol::InvalidName| AppError::usage(format!("{key}: {error}")))
}

/// Returns where to listen. Without authentication that is this machine alone.
fn choose_address(
    config: &ServerConfig,
    options: &HttpServerOptions,
) -> Result<SocketAddr, AppError> {
    let configured = || match config.host.as_str() {
        "localhost" => Ok(IpAddr::from([127, 0, 0, 1])),
        other => other.parse().map_err(|_| {
            AppError::usage(format!("server.host {other:?} is not an address, such as 127.0.0.1"))
        }),
    };
    let host = options.host.map_or_else(configured, Ok)?;
    if options.owner.open && !host.is_loopback() {
        return Err(AppError::usage(format!(
            "{host} is reached by other machines, and with --no-auth every user of them would act as \
             you. Leave out --no-auth, or listen on this machine alone: lango serve --no-auth --host \
             127.0.0.1"
        )));
    }
    Ok(SocketAddr::new(host, options.port.unwrap_or(config.port)))
}
