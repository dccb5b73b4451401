//! `lango serve`: one server for every program that talks to the team.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lango_a2a::server::{A2aDoor, CardSettings, DoorParts, Settings};
use lango_a2a::signature::CardSigner;
use lango_app::provider::{BuiltInScript, ModelOptions};
use lango_app::{Notice, OpenOptions, ServeOptions, Serving, expand_path, web};
use lango_egress::Guard;
use lango_mcp::server::{McpDoor, McpParts};
use lango_protocol::AgentName;
use lango_server::{
    Access, AccessParts, Callers, Doors, Gate, Listener, OpenAiDoor, OpenAiParts, Token, routes,
};
use tokio_util::sync::CancellationToken;

use super::run::team_options;
use super::turn::Signals;
use super::{CommandContext, Printer};
use crate::arguments::ServeArguments;
use crate::failure::{ExitStatus, Failure};
use lango_app::config::ServerConfig;

/// How long turns have to end when the server is told to.
const GRACE: Duration = Duration::from_secs(10);

/// What the protocol's test kit expects of an agent.
const KIT_SCRIPT: BuiltInScript = BuiltInScript {
    model: "scripted",
    name: "built-in",
    text: include_str!("../../../../docs/a2a-kit.toml"),
    why: "a script plays the model",
};
/// What the kit calls a media type that nobody supports, and sends all the same.
const KIT_MEDIA_TYPE: &str = "application/x-unsupported-tck-type";

pub(crate) async fn serve(
    context: &CommandContext,
    mut arguments: ServeArguments,
) -> Result<ExitStatus, Failure> {
    arguments.no_auth |= arguments.kit;
    let config = &context.config().server;
    let address = address(config, &arguments)?;
    let configured = configured_token(config, &arguments)?;
    let notice = notice(context.printer);
    let options = ServeOptions {
        expose: named(&arguments.expose, &config.expose, "server.expose")?,
        tools: named(&arguments.tools, &config.tools, "server.tools")?,
        secrets: configured.iter().map(|token| token.reveal().to_owned()).collect(),
        notice: Arc::clone(&notice),
    };
    let (team, mut models) = team_options(std::mem::take(&mut arguments.team));
    if let (true, ModelOptions::Choose { wanted: None, .. }) = (arguments.kit, &models) {
        models = ModelOptions::Script(KIT_SCRIPT);
    }
    let assembly = context.app.open(OpenOptions::new(team, models)).await?;
    let serving = assembly.serve(options).await?;
    let listener = Listener::bind(address).await?;
    let owner = owner_token(configured, &arguments, &serving.callers).await?;
    let closing = CancellationToken::new();
    let access = Access::new(AccessParts {
        gate: Gate::new(&config.allowed_hosts, &config.allowed_origins),
        callers: serving.callers.clone(),
        owner_token: owner.configured().cloned(),
        open: arguments.no_auth,
        notice: Arc::new({
            let notice = Arc::clone(&notice);
            move |line| notice(&line)
        }),
    })?;
    let a2a = a2a_door(context, &serving, listener.address(), &arguments).await?;
    let routes = routes(Arc::new(access), doors(&serving, &a2a, &closing).await?);
    let mut signals = Signals::new()?;
    context.printer.print(&introduction(listener.address(), &owner))?;
    io::stdout().flush()?;
    let stop = async {
        signals.next().await;
        notice("ending; turns that run have 10 seconds");
    };
    let teams = Arc::clone(&serving.teams);
    let (ended, streams) = (closing.clone(), a2a.clone());
    tokio::spawn(async move {
        ended.cancelled().await;
        streams.close().await;
    });
    listener.serve(routes, stop, closing, GRACE, move || teams.turns_under_way() > 0).await;
    serving.end().await;
    Ok(ExitStatus::Success)
}

/// Returns what shows a line to the operator of the machine, beside what is served.
pub(super) fn notice(printer: Printer) -> Notice {
    Arc::new(move |line: &str| printer.note(&lango_tool::visible(line)))
}

/// All doors of the server.
async fn doors(
    serving: &Serving,
    a2a: &A2aDoor,
    closing: &CancellationToken,
) -> Result<Doors, Failure> {
    let openai = OpenAiDoor::open(OpenAiParts {
        teams: serving.teams.clone(),
        database: serving.database.clone(),
        journal: serving.journal.clone(),
        closing: closing.clone(),
    })
    .await?;
    let mcp = McpDoor::new(McpParts {
        teams: serving.teams.clone(),
        offers: serving.teams.clone(),
        closing: closing.clone(),
    });
    let teams = Arc::clone(&serving.teams);
    Ok(Doors {
        openai: Some(openai),
        others: vec![mcp.router(), a2a.router()],
        database: serving.database.clone(),
        version: env!("CARGO_PKG_VERSION"),
        running: Arc::new(move || teams.turns_under_way()),
    })
}

/// The door of agents elsewhere. Tasks that a process left behind are gone on with.
async fn a2a_door(
    context: &CommandContext,
    serving: &Serving,
    address: SocketAddr,
    arguments: &ServeArguments,
) -> Result<A2aDoor, Failure> {
    let config = context.config();
    let open = arguments.no_auth;
    let mut rules = web::rules(config)?;
    let mut settings = Settings { callers_are_known: !open, ..Settings::default() };
    if arguments.kit {
        let local = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        rules.allow_private.extend(web::patterns("--kit", &local)?);
        settings.speak_03 = false;
        settings.input_modes.push(KIT_MEDIA_TYPE.to_owned());
    }
    let server = &config.server;
    let door = A2aDoor::open(DoorParts {
        database: serving.database.clone(),
        teams: serving.teams.clone(),
        exposed: serving.teams.clone(),
        card: CardSettings {
            name: server.name.clone(),
            description: server.description.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            base_url: server.base_url.clone().unwrap_or_else(|| format!("http://{address}")),
            provider: None,
            documentation_url: None,
            bearer: !open,
        },
        signer: signer(server)?,
        notifications: Some(Guard::new(rules)),
        settings,
    })
    .await?;
    door.resume().await?;
    Ok(door)
}

/// What signs the card, where a key was named. It is made if it is not there.
fn signer(config: &ServerConfig) -> Result<Option<CardSigner>, Failure> {
    let Some(path) = &config.card_key else { return Ok(None) };
    let wrong = |why: String| Failure::usage(format!("server.cardKey {path}: {why}"));
    let file = expand_path(path).map_err(wrong)?;
    let signer = if file.exists() { CardSigner::open(&file) } else { CardSigner::generate(&file) };
    signer.map(Some).map_err(|error| wrong(error.to_string()))
}

/// Agents named on the command line, or else in the configuration.
fn named(given: &[AgentName], configured: &[String], key: &str) -> Result<Vec<AgentName>, Failure> {
    if !given.is_empty() {
        return Ok(given.to_vec());
    }
    let names = configured.iter().map(|name| name.parse());
    names
        .collect::<Result<_, _>>()
        .map_err(|error: lango_protocol::InvalidName| Failure::usage(format!("{key}: {error}")))
}

/// Where to listen. Without authentication that is this machine alone.
fn address(config: &ServerConfig, arguments: &ServeArguments) -> Result<SocketAddr, Failure> {
    let configured = || match config.host.as_str() {
        "localhost" => Ok(IpAddr::from([127, 0, 0, 1])),
        other => other.parse().map_err(|_| {
            Failure::usage(format!("server.host {other:?} is not an address, such as 127.0.0.1"))
        }),
    };
    let host = arguments.host.map_or_else(configured, Ok)?;
    if arguments.no_auth && !host.is_loopback() {
        return Err(Failure::usage(format!(
            "{host} is reached by other machines, and with --no-auth everybody there would be you. \
             Leave out --no-auth, or listen on this machine alone: lango serve --no-auth --host \
             127.0.0.1"
        )));
    }
    Ok(SocketAddr::new(host, arguments.port.unwrap_or(config.port)))
}

/// How the owner is known.
enum OwnerToken {
    /// Made just now: this is the one time that it is shown.
    New(Token),
    /// Printed at an earlier start.
    Before,
    Configured(Token),
    /// Everybody on this machine.
    Nobody,
}

impl OwnerToken {
    fn configured(&self) -> Option<&Token> {
        match self {
            Self::Configured(token) => Some(token),
            _ => None,
        }
    }
}

/// The token that the owner chose.
fn configured_token(
    config: &ServerConfig,
    arguments: &ServeArguments,
) -> Result<Option<Token>, Failure> {
    if arguments.no_auth {
        return Ok(None);
    }
    let configured = match std::env::var("LANGO_SERVER_TOKEN") {
        Ok(text) => Some(("LANGO_SERVER_TOKEN".to_owned(), text)),
        Err(_) => config.token_file.as_deref().map(read_token).transpose()?,
    };
    let Some((from, text)) = configured else { return Ok(None) };
    if arguments.new_token {
        return Err(Failure::usage(format!(
            "your token comes from {from}, so a new one is made there and not here"
        )));
    }
    let token = Token::chosen(&text);
    Ok(Some(token.map_err(|error| Failure::usage(format!("{from}: {error}")))?))
}

async fn owner_token(
    configured: Option<Token>,
    arguments: &ServeArguments,
    callers: &Callers,
) -> Result<OwnerToken, Failure> {
    if arguments.no_auth {
        return Ok(OwnerToken::Nobody);
    }
    if let Some(token) = configured {
        return Ok(OwnerToken::Configured(token));
    }
    let token = callers.owner_token(arguments.new_token).await?;
    Ok(token.map_or(OwnerToken::Before, OwnerToken::New))
}

/// The token in a file that nobody else can read.
fn read_token(path: &str) -> Result<(String, String), Failure> {
    let wrong = |why: String| Failure::usage(format!("server.tokenFile {path}: {why}"));
    let file = expand_path(path).map_err(wrong)?;
    let mode = std::fs::metadata(&file).map_err(|error| wrong(error.to_string()))?.mode();
    if mode & 0o077 != 0 {
        let shown = Path::new(path).display();
        return Err(wrong(format!("others can read it. Type: chmod 600 {shown}")));
    }
    let text = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
    Ok((format!("server.tokenFile {path}"), text))
}

/// What is offered, and how one is let in.
fn introduction(address: SocketAddr, owner: &OwnerToken) -> String {
    let mut text = format!("Lango serves at http://{address}\n");
    let places = [
        ("OpenAI wire", "/v1", "any OpenAI client, model lango"),
        ("MCP", "/mcp", "any MCP client, streamable HTTP"),
        ("A2A", "/.well-known/agent-card.json", "other agents"),
        ("health", "/health", ""),
    ];
    for (name, path, what) in places {
        let line = format!("  {name:<12} http://{address}{path:<8} {what}");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    match owner {
        OwnerToken::New(token) => {
            let _ = writeln!(
                text,
                "Your token, which is not shown again (for a new one: lango serve --new-token):\n  {}",
                token.reveal()
            );
        }
        OwnerToken::Before => text.push_str(
            "Your token is the one printed before; for a new one: lango serve --new-token\n",
        ),
        OwnerToken::Configured(_) => text.push_str("Your token is the configured one\n"),
        OwnerToken::Nobody => {
            text.push_str("No token: every program on this machine is let in as you\n");
        }
    }
    if !address.ip().is_loopback() {
        text.push_str(
            "Other machines reach this address, without encryption: put a proxy with TLS before it\n",
        );
    }
    text.push_str("Ctrl-C ends it\n");
    text
}
