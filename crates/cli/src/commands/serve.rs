//! `lango serve`: one server for every program that talks to the team.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lango_protocol::AgentName;
use lango_runtime::{ApprovalFuture, ApprovalRequest, Approver};
use lango_server::{
    Access, AccessParts, Callers, CallersError, Doors, Gate, Listener, OpenAiDoor, OpenAiParts,
    Token, routes,
};
use tokio_util::sync::CancellationToken;

use super::Setting;
use super::run::check_agents;
use super::turn::Signals;
use crate::arguments::ServeArguments;
use crate::config::ServerConfig;
use crate::failure::{self, Failure};
use crate::home;
use crate::provider::{self, Purpose};
use crate::teams::{ServedTeams, ServedTeamsParts};
use crate::wiring::{self, Kept};

/// How long turns have to end when the server is told to.
const GRACE: Duration = Duration::from_secs(10);
/// How long the work after turns may keep a server that is done.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) async fn serve(setting: &Setting, arguments: ServeArguments) -> Result<u8, Failure> {
    let config = setting.config();
    let address = address(&config.server, &arguments)?;
    let (database, journal) = wiring::open_store(config, &setting.home).await?;
    let callers = Callers::open(database.clone()).await?;
    let teams = make_teams(setting, &arguments, &callers, &database, &journal).await?;
    let teams = Arc::new(teams);
    let owner = owner_token(&config.server, &arguments, &callers).await?;

    let listener =
        Listener::bind(address).await.map_err(|error| Failure::usage(error.to_string()))?;
    let access = Access::new(AccessParts {
        gate: Gate::new(&config.server.allowed_hosts, &config.server.allowed_origins),
        callers,
        owner_token: owner.configured().cloned(),
        open: arguments.no_auth,
        notice: Arc::new(|line| notice(&line)),
    })
    .map_err(|error| Failure::usage(error.to_string()))?;
    let closing = CancellationToken::new();
    let openai = OpenAiDoor::open(OpenAiParts {
        teams: teams.clone(),
        database: database.clone(),
        journal,
        closing: closing.clone(),
    })
    .await?;
    let counted = Arc::clone(&teams);
    let doors = Doors {
        openai,
        others: Vec::new(),
        database,
        version: env!("CARGO_PKG_VERSION"),
        running: Arc::new(move || counted.turns_under_way()),
    };
    let routes = routes(Arc::new(access), doors);
    let mut signals = Signals::new()?;
    super::print(&introduction(listener.address(), &owner))?;
    io::stdout().flush()?;
    let stop = async {
        signals.next().await;
        notice("ending; turns that run have 10 seconds");
    };
    let running = Arc::clone(&teams);
    listener.serve(routes, stop, closing, GRACE, move || running.turns_under_way() > 0).await;
    end(&teams).await;
    Ok(failure::ANSWERED)
}

/// Waits for what follows from turns, and says what was left.
async fn end(teams: &ServedTeams) {
    let left = teams.turns_under_way();
    if left > 0 {
        notice(&format!("{left} turns did not end in time; go on with: lango resume"));
        return;
    }
    if let Ok(troubles) = tokio::time::timeout(PATIENCE, teams.settled()).await {
        troubles.iter().for_each(|trouble| notice(trouble));
    }
}

async fn make_teams(
    setting: &Setting,
    arguments: &ServeArguments,
    callers: &Callers,
    database: &lango_store::Database,
    journal: &lango_store::Journal,
) -> Result<ServedTeams, Failure> {
    let config = setting.config();
    let team = &arguments.team;
    let catalog = wiring::catalog(
        config,
        &setting.home,
        team.topology.as_deref(),
        team.workspace.as_deref(),
        team.max_rounds,
    )?;
    check_agents(config, &catalog)?;
    let choice = provider::choose(config, team.model.as_deref()).await?;
    let purpose = Purpose::Work { for_all: team.model.is_some(), record: team.record.as_deref() };
    let models = provider::prepare(config, choice, purpose).await?;
    let retrieval = catalog.connect(config, database, journal).await?;
    let rules = wiring::rule_book(config, database.clone()).await?;
    models.notices.iter().for_each(|line| notice(line));
    ServedTeams::new(ServedTeamsParts {
        config: config.clone(),
        catalog,
        kept: Kept { journal: journal.clone(), retrieval, rules },
        models: Arc::new(models),
        approver: Arc::new(OwnerElsewhere),
        callers: callers.clone(),
        expose: exposed(&config.server, arguments)?,
        max_rounds: team.max_rounds,
    })
}

fn exposed(config: &ServerConfig, arguments: &ServeArguments) -> Result<Vec<AgentName>, Failure> {
    if !arguments.expose.is_empty() {
        return Ok(arguments.expose.clone());
    }
    let names = config.expose.iter().map(|name| name.parse());
    names.collect::<Result<_, _>>().map_err(|error: lango_protocol::InvalidName| {
        Failure::usage(format!("server.expose: {error}"))
    })
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

async fn owner_token(
    config: &ServerConfig,
    arguments: &ServeArguments,
    callers: &Callers,
) -> Result<OwnerToken, Failure> {
    if arguments.no_auth {
        return Ok(OwnerToken::Nobody);
    }
    let configured = match std::env::var("LANGO_SERVER_TOKEN") {
        Ok(text) => Some(("LANGO_SERVER_TOKEN".to_owned(), text)),
        Err(_) => config.token_file.as_deref().map(read_token).transpose()?,
    };
    match configured {
        Some((from, _)) if arguments.new_token => Err(Failure::usage(format!(
            "your token comes from {from}, so a new one is made there and not here"
        ))),
        Some((from, text)) => {
            let token = Token::chosen(&text);
            let token = token.map_err(|error| Failure::usage(format!("{from}: {error}")))?;
            Ok(OwnerToken::Configured(token))
        }
        None => {
            let token = callers.owner_token(arguments.new_token).await.map_err(failed)?;
            Ok(token.map_or(OwnerToken::Before, OwnerToken::New))
        }
    }
}

/// The token in a file that nobody else can read.
fn read_token(path: &str) -> Result<(String, String), Failure> {
    let wrong = |why: String| Failure::usage(format!("server.tokenFile {path}: {why}"));
    let file = home::expand(path).map_err(wrong)?;
    let mode = std::fs::metadata(&file).map_err(|error| wrong(error.to_string()))?.mode();
    if mode & 0o077 != 0 {
        let shown = Path::new(path).display();
        return Err(wrong(format!("others can read it. Type: chmod 600 {shown}")));
    }
    let text = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
    Ok((format!("server.tokenFile {path}"), text))
}

pub(super) fn failed(error: CallersError) -> Failure {
    match error {
        CallersError::Store(error) => error.into(),
        error => Failure::usage(error.to_string()),
    }
}

/// What is offered, and how one is let in.
fn introduction(address: SocketAddr, owner: &OwnerToken) -> String {
    let mut text = format!("Lango serves at http://{address}\n");
    let places =
        [("OpenAI wire", "/v1", "any OpenAI client, model lango"), ("health", "/health", "")];
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

/// Asks nobody here: the owner answers through the journal, or the question expires. A caller never
/// answers for itself.
struct OwnerElsewhere;

impl Approver for OwnerElsewhere {
    fn ask(&self, request: ApprovalRequest) -> ApprovalFuture {
        let ApprovalRequest { session, call, agent, tool, .. } = request;
        notice(&format!(
            "{agent} waits for your approval of {tool} (session {session}); see it: lango approvals \
             show {call}; answer: lango approvals approve {call}, or deny {call}"
        ));
        Box::pin(std::future::pending())
    }
}

/// A line for whoever runs the server.
fn notice(line: &str) {
    // With standard error gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "lango: {}", lango_tool::visible_short(line));
}
