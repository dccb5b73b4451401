//! Builds the outbound network policy and the browser's settings from the configuration.

use std::path::PathBuf;
use std::time::Duration;

use lango_egress::{Guard, Pattern, Rules, Url};
use lango_navigator::NavigatorSettings;

use crate::AppError;
use crate::config::Config;
use crate::home::{self, Home};

/// Names the agent that owns the browser.
const NAVIGATOR: &str = "navigator";

/// Returns the guard of the addresses that an agent may reach.
pub fn build_guard(config: &Config, agent: &str) -> Result<Guard, AppError> {
    let hosts = config.agents.get(agent).map(|agent| agent.hosts.as_slice()).unwrap_or_default();
    Ok(Guard::new(Rules {
        allow_private: parse_patterns("egress.allow", &config.egress.allow)?,
        deny: parse_patterns("egress.deny", &config.egress.deny)?,
        only: parse_patterns(&format!("agents.{agent}.hosts"), hosts)?,
    }))
}

/// Returns the policy that holds for every agent.
pub fn egress_rules(config: &Config) -> Result<Rules, AppError> {
    Ok(Rules {
        allow_private: parse_patterns("egress.allow", &config.egress.allow)?,
        deny: parse_patterns("egress.deny", &config.egress.deny)?,
        only: Vec::new(),
    })
}

/// Returns the same guard, plus a server that the user named, which may be reached at any address.
pub fn build_guard_with_server(
    config: &Config,
    agent: &str,
    server: &str,
) -> Result<Guard, AppError> {
    let hosts = config.agents.get(agent).map(|agent| agent.hosts.as_slice()).unwrap_or_default();
    // What is no address is refused where it is fetched.
    let place = Url::parse(server).ok().and_then(|url| {
        let port = url.port_or_known_default()?;
        Some(format!("{}:{port}", url.host_str()?))
    });
    let mut allow = config.egress.allow.clone();
    allow.extend(place.clone());
    let mut only = parse_patterns(&format!("agents.{agent}.hosts"), hosts)?;
    if !only.is_empty() {
        only.extend(parse_patterns("search.url", place.as_slice())?);
    }
    Ok(Guard::new(Rules {
        allow_private: parse_patterns("egress.allow", &allow)?,
        deny: parse_patterns("egress.deny", &config.egress.deny)?,
        only,
    }))
}

fn parse_patterns(key: &str, texts: &[String]) -> Result<Vec<Pattern>, AppError> {
    let read =
        |text: &String| text.parse().map_err(|error| AppError::usage(format!("{key}: {error}")));
    texts.iter().map(read).collect()
}

/// Returns the settings of the navigator's browser.
pub fn navigator_settings(config: &Config, home: &Home) -> Result<NavigatorSettings, AppError> {
    let given = &config.navigator;
    let profile = match &given.profile {
        Some(path) => Some(
            home::expand_path(path)
                .map_err(|error| AppError::usage(format!("navigator.profile: {error}")))?,
        ),
        None => None,
    };
    Ok(NavigatorSettings {
        chromium: chromium_path(config)?,
        headless: given.headless,
        idle: Duration::from_secs(given.idle_seconds.max(1)),
        timeout: Duration::from_secs(given.timeout_seconds.clamp(1, 600)),
        profile,
        download_bytes: given.download_megabytes.saturating_mul(1024 * 1024),
        ..NavigatorSettings::new(&home.data, build_guard(config, NAVIGATOR)?)
    })
}

/// Returns the configured path of Chromium.
pub fn chromium_path(config: &Config) -> Result<Option<PathBuf>, AppError> {
    let Some(given) = &config.navigator.chromium else { return Ok(None) };
    // A bare name is looked for in PATH.
    if !given.contains('/') && !given.starts_with('~') {
        return Ok(Some(PathBuf::from(given)));
    }
    let path = home::expand_path(given)
        .map_err(|error| AppError::usage(format!("navigator.chromium: {error}")))?;
    Ok(Some(path))
}
