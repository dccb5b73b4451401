//! Our client in the scenarios of the protocol's own suite.
//!
//! The suite starts a server, and this program with its address. Which scenario it is stands in the
//! environment. The client is the one that agents use; what is different here is that no user is
//! at the terminal: forms get their defaults, and the browser of a login is a request.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use lango_egress::{ClientLimits, Guard, GuardedClient, Rules, Url};
use lango_keystore::{KeyStore, KeyStoreSettings};
use lango_mcp::client::{
    AnswerFuture, ClientEnvironment, ClientError, Form, FormAnswers, HttpConfig, KnownServers,
    Login, OauthConfig, Person, ProcessEnvironment, Server, ServerConfig, Servers, TransportConfig,
};
use lango_sandbox::{Sandbox, SandboxPolicy};
use lango_store::{Database, DatabaseLocation};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The document that the suite expects of a client that has one.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";
/// Limits the logins in one scenario; a server that wants more than that wants too much.
const MAX_LOGIN_COUNT: usize = 3;
const LIMIT: Duration = Duration::from_secs(20);

/// The credentials that a scenario gives to the client.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ScenarioCredentials {
    client_id: Option<String>,
    client_secret: Option<String>,
}

/// A user who takes what is proposed.
struct AgreeingPerson;

impl Person for AgreeingPerson {
    fn fill(&self, _: Form) -> AnswerFuture<Option<FormAnswers>> {
        Box::pin(async { Some(FormAnswers::new()) })
    }

    fn agree(&self, _: String) -> AnswerFuture<bool> {
        Box::pin(async { true })
    }

    fn approve_entry(&self, _: String) -> AnswerFuture<Option<bool>> {
        Box::pin(async { None })
    }
}

/// Plays the client of the scenario that the environment names, against the suite's server.
pub async fn play_mcp_client(url: &str) -> Result<()> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let scenario = variable("MCP_CONFORMANCE_SCENARIO");
    let given: ScenarioCredentials =
        serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT")).unwrap_or_default();
    let directory = tempfile::tempdir()?;
    let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
    let database = Database::open(&location).await?;
    let files = (directory.path().join("vault.key"), directory.path().join("run"));
    let settings = KeyStoreSettings::new(files.0, files.1);
    let key_store = KeyStore::open(database.clone(), settings).await?;
    let known_servers = KnownServers::open(database).await?;
    let config = config(url, &given)?;
    let outside = || outside(directory.path(), &key_store);
    let servers = Servers::new(vec![config.clone()], known_servers, outside(), usize::MAX);
    let server = servers.get(config.name.as_str())?;
    let played = play(server, &outside(), &scenario).await;
    servers.stop().await;
    played
}

fn config(url: &str, given: &ScenarioCredentials) -> Result<ServerConfig> {
    let address = HttpConfig {
        url: Url::parse(url).with_context(|| format!("{url:?} is not an address"))?,
        headers: std::collections::BTreeMap::new(),
        bearer_token: None,
        oauth: OauthConfig {
            client_id: given.client_id.clone(),
            client_secret: given.client_secret.clone(),
            client_metadata_url: Some(METADATA.to_owned()),
            scopes: Vec::new(),
        },
    };
    Ok(ServerConfig::new("conformance".parse()?, TransportConfig::Http(address)))
}

fn outside(directory: &std::path::Path, key_store: &KeyStore) -> ClientEnvironment {
    ClientEnvironment {
        process_environment: ProcessEnvironment {
            workspace: directory.to_owned(),
            sandbox: Sandbox::default(),
            policy: SandboxPolicy::default(),
            homes: directory.join("homes"),
        },
        rules: Rules::default(),
        key_store: key_store.clone(),
        person: Arc::new(AgreeingPerson),
        model: None,
    }
}

/// Connects, lists, and calls every tool once, signing in where that is asked for.
async fn play(server: &Arc<Server>, outside: &ClientEnvironment, scenario: &str) -> Result<()> {
    let mut logins = 0;
    loop {
        match visit(server, scenario).await {
            Err(ClientError::LoginNeeded { challenge, .. }) if logins < MAX_LOGIN_COUNT => {
                logins += 1;
                sign_in(server, outside, &challenge).await?;
                // The next request is made with the new token.
                server.stop().await;
            }
            other => return Ok(other?),
        }
    }
}

async fn visit(server: &Arc<Server>, scenario: &str) -> Result<(), ClientError> {
    server.introduce().await?;
    if scenario == "initialize" {
        return Ok(());
    }
    let tools = server.find_stored().map(|known| known.tools).unwrap_or_default();
    for tool in tools.values() {
        let schema = tool.current.as_ref().map_or("", |version| &version.schema);
        server.ask(&tool.name, sample(schema)).await?;
    }
    Ok(())
}

/// Arguments that fit: one of each kind.
fn sample(schema: &str) -> Map<String, Value> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let value = |property: &Value| match property["type"].as_str() {
        Some("number" | "integer") => Value::from(2),
        Some("boolean") => Value::from(true),
        _ => Value::from("text"),
    };
    properties.iter().map(|(name, property)| (name.clone(), value(property))).collect()
}

/// Signs in, with a request in the place of a browser.
async fn sign_in(server: &Server, outside: &ClientEnvironment, challenge: &str) -> Result<()> {
    let challenge = Some(challenge).filter(|challenge| !challenge.is_empty());
    let login = Login::begin(&server.config, outside, challenge, &[]).await?;
    let here = ["127.0.0.1".to_owned(), "localhost".to_owned()];
    let rules = Rules::parse(&here, &[], &[])?;
    let browser = GuardedClient::new(Guard::new(rules), ClientLimits::default());
    let address = login.url().to_owned();
    let (finished, opened) = tokio::join!(login.wait(LIMIT), browser.get(&address));
    opened.context("cannot open the login page")?;
    Ok(finished?)
}
