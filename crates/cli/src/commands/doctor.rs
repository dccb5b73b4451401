//! `lango doctor`: what is set up, what is not, and what to type about it.

mod deep;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use lango_model::{Message, ModelRequest};
use lango_tool::visible;
use serde::Serialize;

use super::{Setting, print, print_json};
use crate::config::PolicyName;
use crate::confinement;
use crate::display::Style;
use crate::failure::{self, Failure};
use crate::mcp;
use crate::provider::{self, Purpose, Source};
use crate::remotes::Remotes;
use crate::{web, wiring};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Good,
    Note,
    Bad,
}

#[derive(Debug, Serialize)]
struct Check {
    what: &'static str,
    state: State,
    detail: String,
}

fn check(what: &'static str, result: Result<String, String>) -> Check {
    match result {
        Ok(detail) => Check { what, state: State::Good, detail },
        Err(detail) => Check { what, state: State::Bad, detail },
    }
}

pub(crate) async fn doctor(
    setting: Result<Setting, Failure>,
    deep: bool,
    json: bool,
) -> Result<u8, Failure> {
    let mut checks = Vec::new();
    match setting {
        Err(failure) => checks.push(check("configuration", Err(failure.message))),
        Ok(setting) => {
            examine(&setting, &mut checks).await;
            deep::examine(&setting, deep, &mut checks).await;
        }
    }
    let healthy = checks.iter().all(|check| check.state != State::Bad);
    if json {
        print_json(&checks)?;
    } else {
        let style = Style::of(&std::io::stdout());
        let mut text = String::new();
        for check in &checks {
            let mark = match check.state {
                State::Good => style.good("ok  "),
                State::Note => style.warn("note"),
                State::Bad => style.bad("bad "),
            };
            let detail = check.detail.replace('\n', "\n                      ");
            text.push_str(&format!("{mark}  {:<14}  {detail}\n", check.what));
        }
        print(&text)?;
    }
    Ok(if healthy { failure::ANSWERED } else { failure::TURN_FAILED })
}

/// The MCP servers: which are configured, which were seen, what is frozen.
async fn servers(setting: &Setting, workspace: &std::path::Path) -> Option<Check> {
    let what = "mcp servers";
    let configured = mcp::servers(setting.config(), workspace);
    let mut lines = configured.notices;
    let mut state = if lines.is_empty() { State::Good } else { State::Note };
    if !configured.servers.is_empty() {
        match mcp::known(setting, workspace, configured.servers).await {
            Err(failure) => return Some(check(what, Err(failure.message))),
            Ok(servers) => {
                for server in servers.iter().rev() {
                    let (line, is_fine) = mcp::state_of(server);
                    if !is_fine {
                        state = State::Note;
                    }
                    lines.insert(0, line);
                }
            }
        }
    }
    (!lines.is_empty()).then(|| Check { what, state, detail: lines.join("\n") })
}

async fn examine(setting: &Setting, checks: &mut Vec<Check>) {
    let config = setting.config();
    let file = &setting.home.config_file;
    let described = if file.exists() {
        file.display().to_string()
    } else {
        format!("{} (not there; the defaults are used)", file.display())
    };
    checks.push(check("configuration", Ok(described)));

    let location = wiring::database_location(config, &setting.home);
    let database = match wiring::open_journal(config, &setting.home).await {
        Ok(journal) => match journal.unfinished_turns(None).await {
            Ok(turns) => {
                let count = turns.iter().filter(|turn| turn.running.is_none()).count();
                let place = location.map(|l| l.to_string()).unwrap_or_default();
                let unfinished = match count {
                    0 => String::new(),
                    n => format!("; {n} unfinished turn(s): lango resume"),
                };
                Ok(format!("{place}{unfinished}"))
            }
            Err(error) => Err(error.to_string()),
        },
        Err(failure) => Err(failure.message),
    };
    checks.push(check("database", database));

    let mut catalog = wiring::catalog(config, &setting.home, None, None, None);
    if let Ok(known) = &mut catalog
        && let Err(failure) = mcp::add_known(setting, known).await
    {
        catalog = Err(failure);
    }
    match catalog {
        Err(failure) => checks.push(check("agents", Err(failure.message))),
        Ok(catalog) => {
            let tree = &catalog.tree;
            let names: Vec<&str> = tree.sub_agents().iter().map(|a| a.name.as_str()).collect();
            let root = tree.root_name();
            let team = format!("{root} with {} ({})", names.join(", "), catalog.topology.name());
            checks.push(check("agents", Ok(team)));
            let tools = catalog.tools.iter().count();
            let unmatched = match &tree.root {
                lango_orchestration::Root::Team(team) => team.unmatched.len(),
                lango_orchestration::Root::Single(_) => 0,
            };
            let state = if unmatched == 0 { State::Good } else { State::Note };
            let detail = format!("{tools} tools, {unmatched} without an owner");
            checks.push(Check { what: "tools", state, detail });
            checks.extend(servers(setting, &catalog.workspace).await);
            let detail = catalog.workspace.display().to_string();
            checks.push(check("workspace", Ok(detail)));
        }
    }
    checks.push(examine_sandbox(setting));
    checks.push(examine_browser(setting));
    checks.push(examine_way_out(setting));
    let policy = match config.approvals.policy {
        PolicyName::AskDangerous => "what acts on the world is asked about (ask-dangerous)",
        PolicyName::AskAll => "whatever is not read-only is asked about (ask-all)",
        PolicyName::NeverAskDeny => "nobody is asked; rules alone allow (never-ask-deny)",
    };
    checks.push(check("approvals", Ok(format!("{policy}; rules: lango approvals list"))));

    checks.extend(examine_remotes(setting).await);

    match provider::choose(config, None).await {
        Err(failure) => checks.push(check("model", Err(failure.message))),
        Ok(choice) => {
            let place = match &choice.source {
                Source::Server(server) => format!(" at {}", server.base_url),
                Source::Script(_) | Source::Recording(_) | Source::Embedded => String::new(),
            };
            let described = format!("{}{place} ({})", choice.id, choice.why);
            let reached = reach(setting, choice).await;
            checks.push(check("model", reached.map(|()| described)));
        }
    }
}

/// Who of the agents elsewhere is there. Nobody is missed where none is configured.
async fn examine_remotes(setting: &Setting) -> Option<Check> {
    let config = setting.config();
    if config.a2a.remote_agents.is_empty() {
        return None;
    }
    let what = "elsewhere";
    if !config.a2a.enabled {
        let detail = "not used. To use them: lango config set a2a.enabled true".to_owned();
        return Some(Check { what, state: State::Note, detail });
    }
    let found = async {
        let (database, _) = wiring::open_store(config, &setting.home).await?;
        Remotes::find(config, &database).await
    };
    let remotes = match found.await {
        Ok(remotes) => remotes?,
        Err(failure) => return Some(check(what, Err(failure.message))),
    };
    let there = remotes.standings.iter().filter(|standing| standing.found.is_ok());
    let there: Vec<&str> = there.map(|standing| standing.name.as_str()).collect();
    let warnings = remotes.warnings();
    let state = if warnings.is_empty() { State::Good } else { State::Note };
    let there = if there.is_empty() { "nobody is there".to_owned() } else { there.join(", ") };
    let lines: Vec<String> =
        std::iter::once(there).chain(warnings.iter().map(|line| visible(line))).collect();
    Some(Check { what, state, detail: lines.join("\n") })
}

/// Which level is in force, by which parts, and what is missing.
fn examine_sandbox(setting: &Setting) -> Check {
    let policy = match confinement::policy(setting.config(), &setting.home) {
        Ok(policy) => policy,
        Err(failure) => return check("sandbox", Err(failure.message)),
    };
    let report = confinement::sandbox(setting.config()).report(&policy);
    let (state, level) = match &report.level {
        Err(error) => (State::Bad, error.to_string()),
        Ok(lango_sandbox::Level::None) => {
            let text = "none: commands have all your rights, because sandbox.level says so. To \
                        confine them: lango config set sandbox.level auto";
            (State::Note, text.to_owned())
        }
        Ok(level) if report.is_weaker_than_it_could_be => (State::Note, format!("level {level}")),
        Ok(level) => (State::Good, format!("level {level}")),
    };
    Check { what: "sandbox", state, detail: format!("{level}\n{}", report.parts.join("\n")) }
}

/// Whether there is a browser for the navigator. The other agents do without.
fn examine_browser(setting: &Setting) -> Check {
    let configured = match web::chromium(setting.config()) {
        Ok(configured) => configured,
        Err(failure) => return check("browser", Err(failure.message)),
    };
    let search_path = std::env::var_os("PATH");
    match lango_navigator::find_chromium(configured.as_deref(), search_path.as_deref()) {
        Ok(path) if lango_navigator::runs_without_sandbox() => {
            let path = path.display();
            let detail = format!(
                "{path}\nruns without Chromium's own sandbox, because you are root: use another \
                 account for pages you do not trust"
            );
            Check { what: "browser", state: State::Note, detail }
        }
        Ok(path) => check("browser", Ok(path.display().to_string())),
        // The rest of the team works without it.
        Err(error @ lango_navigator::ChromiumError::Missing) => {
            Check { what: "browser", state: State::Note, detail: error.to_string() }
        }
        Err(error) => check("browser", Err(error.to_string())),
    }
}

/// Where the agents' connections may lead.
fn examine_way_out(setting: &Setting) -> Check {
    let config = setting.config();
    if let Err(failure) = web::navigator(config, &setting.home) {
        return check("way out", Err(failure.message));
    }
    let mut detail = "public addresses only".to_owned();
    if !config.egress.allow.is_empty() {
        detail.push_str(&format!("; also {}", config.egress.allow.join(", ")));
    }
    if !config.egress.deny.is_empty() {
        detail.push_str(&format!("; never {}", config.egress.deny.join(", ")));
    }
    for (name, agent) in config.agents.iter().filter(|(_, agent)| !agent.hosts.is_empty()) {
        detail.push_str(&format!("\n{name}: only {}", agent.hosts.join(", ")));
    }
    check("way out", Ok(detail))
}

/// A real call, as small as it can be.
async fn reach(setting: &Setting, choice: provider::Choice) -> Result<(), String> {
    let ready = provider::prepare(setting.config(), choice, Purpose::Examine).await;
    let ready = ready.map_err(|failure| failure.message)?;
    let request = ModelRequest {
        instruction: "Answer with one word.".into(),
        messages: vec![Message::user("Say: ready")],
        ..ModelRequest::default()
    };
    let limit = Duration::from_secs(30);
    let answer = async {
        let mut stream = ready.model.model.stream(Arc::new(request));
        while let Some(event) = stream.next().await {
            event?;
        }
        Ok::<(), lango_model::ModelError>(())
    };
    match tokio::time::timeout(limit, answer).await {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", limit.as_secs())),
    }
}
