//! `lango doctor`: checks the setup, and names the command that fixes a problem.

mod automation;
mod deep;
mod failures;
mod repair;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use lango_app::config::{PolicyName, list_plain_secrets};
use lango_app::provider::{self, ModelPurpose, ModelSource};
use lango_app::remotes::RemoteAgents;
use lango_app::{
    AppError, InspectOptions, Inspection, Stores, confinement, find_workspace, mcp,
    schema_components, web,
};
use lango_model::{Message, ModelRequest};
use lango_text::make_visible;
use serde::Serialize;

use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_terminal::StyledText;
pub(crate) use repair::repair;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckState {
    Good,
    Note,
    Bad,
}

#[derive(Debug, Serialize)]
struct DoctorCheck {
    what: &'static str,
    state: CheckState,
    detail: String,
}

fn build_check(what: &'static str, result: Result<String, String>) -> DoctorCheck {
    match result {
        Ok(detail) => DoctorCheck { what, state: CheckState::Good, detail },
        Err(detail) => DoctorCheck { what, state: CheckState::Bad, detail },
    }
}

pub(crate) async fn doctor(
    context: Result<CommandContext, Failure>,
    printer: Printer,
    deep: bool,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let mut checks = Vec::new();
    match context {
        Err(failure) => checks.push(build_check("configuration", Err(failure.message))),
        Ok(context) => {
            let stores = context.app.open_stores().await;
            examine(&context, &stores, &mut checks).await;
            deep::examine(&context, &stores, deep, &mut checks).await;
        }
    }
    let healthy = checks.iter().all(|check| check.state != CheckState::Bad);
    if json {
        printer.json(&checks)?;
    } else {
        let line = |check: &DoctorCheck| {
            let mark = match check.state {
                CheckState::Good => StyledText::default().good("ok  "),
                CheckState::Note => StyledText::default().warning("note"),
                CheckState::Bad => StyledText::default().bad("bad "),
            };
            let detail = check.detail.replace('\n', "\n                      ");
            mark.plain(format!("  {:<14}  {detail}\n", check.what))
        };
        printer.print_styled(&checks.iter().map(line).collect())?;
    }
    Ok(if healthy { ExitStatus::Success } else { ExitStatus::Failure })
}

/// Checks the MCP servers: which are configured, which were connected, what is frozen.
async fn check_mcp_servers(
    context: &CommandContext,
    inspection: &Inspection,
) -> Option<DoctorCheck> {
    let what = "mcp servers";
    let database = &inspection.stores.database;
    let store = match context.app.open_key_store(database.clone()).await {
        Ok(store) => store,
        Err(error) => return Some(build_check(what, Err(error.to_string()))),
    };
    let (config, workspace) = (context.config(), &inspection.workspace);
    let configured = mcp::read_configured_servers(config, workspace, &store).await;
    let mut lines = configured.notices;
    let mut state = if lines.is_empty() { CheckState::Good } else { CheckState::Note };
    if !configured.servers.is_empty() {
        let means = (database, &store);
        match mcp::open_known(&context.app, workspace, means, configured.servers).await {
            Err(error) => return Some(build_check(what, Err(error.to_string()))),
            Ok(servers) => {
                for server in servers.iter().rev() {
                    let (line, is_fine) = mcp::describe_state(server);
                    if !is_fine {
                        state = CheckState::Note;
                    }
                    lines.insert(0, line);
                }
            }
        }
    }
    (!lines.is_empty()).then(|| DoctorCheck { what, state, detail: lines.join("\n") })
}

async fn examine(
    context: &CommandContext,
    stores: &Result<Stores, AppError>,
    checks: &mut Vec<DoctorCheck>,
) {
    let config = context.config();
    let file = &context.app.home.config_file;
    let described = if file.exists() {
        file.display().to_string()
    } else {
        format!("{} (not there; the defaults are used)", file.display())
    };
    checks.push(build_check("configuration", Ok(described)));
    checks.extend(examine_plain_secrets(context));
    checks.push(build_check("database", examine_database(context, stores).await));
    checks.extend(failures::list_recent(&context.app.home.log_file()));
    if let Ok(stores) = stores {
        automation::examine(context, stores, checks).await;
    }
    examine_team(context, checks).await;
    checks.push(examine_sandbox(context));
    checks.push(examine_browser(context));
    checks.push(examine_egress(context));
    let policy = match config.approvals.policy {
        PolicyName::AskDangerous => "what acts on the world is asked about (ask-dangerous)",
        PolicyName::AskAll => "whatever is not read-only is asked about (ask-all)",
        PolicyName::NeverAskDeny => "the user is not asked; rules alone allow (never-ask-deny)",
    };
    checks.push(build_check("approvals", Ok(format!("{policy}; rules: lango approvals list"))));

    checks.extend(examine_remotes(context, stores).await);

    match provider::choose_model(config, None, None).await {
        Err(error) => checks.push(build_check("model", Err(error.to_string()))),
        Ok(choice) => {
            let place = match &choice.source {
                ModelSource::Server(server) => format!(" at {}", server.base_url),
                ModelSource::Script(_) | ModelSource::Recording(_) | ModelSource::Embedded => {
                    String::new()
                }
            };
            let described = format!("{}{place} ({})", choice.id, choice.why);
            let reached = try_model_call(context, choice).await;
            checks.push(build_check("model", reached.map(|()| described)));
        }
    }
}

/// Names the keys and tokens that stand in the configuration's file.
fn examine_plain_secrets(context: &CommandContext) -> Option<DoctorCheck> {
    let what = "secrets";
    let listed = match list_plain_secrets(&context.app.home.config_file) {
        Ok(listed) if listed.is_empty() => return None,
        Ok(listed) => listed,
        Err(error) => return Some(build_check(what, Err(error.to_string()))),
    };
    let keys: Vec<&str> = listed.iter().map(|found| found.key.as_str()).collect();
    let detail = format!(
        "plain text in the configuration: {}\nto move them into the vault: lango secrets import-config",
        keys.join(", ")
    );
    Some(DoctorCheck { what, state: CheckState::Bad, detail })
}

async fn examine_database(
    context: &CommandContext,
    stores: &Result<Stores, AppError>,
) -> Result<String, String> {
    let stores = stores.as_ref().map_err(ToString::to_string)?;
    let usable = stores.database.check_usable(&schema_components()).await;
    usable.map_err(|error| error.to_string())?;
    let turns =
        stores.journal.list_unfinished_turns(None).await.map_err(|error| error.to_string())?;
    let location = context.app.database_location();
    let location = location.map(|location| location.to_string()).unwrap_or_default();
    let unfinished = match turns.iter().filter(|turn| turn.running.is_none()).count() {
        0 => String::new(),
        count => format!("; {count} unfinished turn(s): lango resume"),
    };
    Ok(format!("{location}{unfinished}"))
}

/// Checks the agents, their tools and the workspace, with the tools of MCP servers that were
/// connected before.
async fn examine_team(context: &CommandContext, checks: &mut Vec<DoctorCheck>) {
    let options = InspectOptions { mcp_tools: true, ..InspectOptions::default() };
    match context.app.inspect(options).await {
        // The check of the database reports this already.
        Err(AppError::Database(_)) => {
            let detail = "not looked at: they need the database".to_owned();
            checks.push(DoctorCheck { what: "agents", state: CheckState::Note, detail });
        }
        Err(error) => checks.push(build_check("agents", Err(error.to_string()))),
        Ok(inspection) => {
            let Inspection { roster, workspace, .. } = &inspection;
            let agents = roster.tree.sub_agents().iter();
            let names: Vec<&str> = agents.map(|agent| agent.name.as_str()).collect();
            let (root, topology) = (roster.tree.root_name(), roster.topology().name());
            let team = format!("{root} with {} ({topology})", names.join(", "));
            checks.push(build_check("agents", Ok(team)));
            let (tools, unmatched) =
                (roster.tools.iter().count(), roster.list_unmatched_tools().len());
            let state = if unmatched == 0 { CheckState::Good } else { CheckState::Note };
            let detail = format!("{tools} tools, {unmatched} without an owner");
            checks.push(DoctorCheck { what: "tools", state, detail });
            checks.extend(check_mcp_servers(context, &inspection).await);
            let path = workspace.display().to_string();
            checks.push(match confinement::warn_about_workspace(workspace) {
                None => build_check("workspace", Ok(path)),
                Some(detail) => DoctorCheck { what: "workspace", state: CheckState::Note, detail },
            });
        }
    }
}

/// Checks which remote agents are reachable.
async fn examine_remotes(
    context: &CommandContext,
    stores: &Result<Stores, AppError>,
) -> Option<DoctorCheck> {
    let config = context.config();
    if config.a2a.remote_agents.is_empty() {
        return None;
    }
    let what = "remote agents";
    if !config.a2a.enabled {
        let detail = "not used. To use them: lango config set a2a.enabled true".to_owned();
        return Some(DoctorCheck { what, state: CheckState::Note, detail });
    }
    let database = match stores {
        Ok(stores) => &stores.database,
        Err(error) => return Some(build_check(what, Err(error.to_string()))),
    };
    let remotes = match RemoteAgents::check_configured(config, database).await {
        Ok(remotes) => remotes?,
        Err(error) => return Some(build_check(what, Err(error.to_string()))),
    };
    let there = remotes.statuses.iter().filter(|status| status.availability.is_ok());
    let there: Vec<&str> = there.map(|status| status.name.as_str()).collect();
    let warnings = remotes.warnings();
    let state = if warnings.is_empty() { CheckState::Good } else { CheckState::Note };
    let there = if there.is_empty() { "none is reachable".to_owned() } else { there.join(", ") };
    let lines: Vec<String> =
        std::iter::once(there).chain(warnings.iter().map(|line| make_visible(line))).collect();
    Some(DoctorCheck { what, state, detail: lines.join("\n") })
}

/// Checks the sandbox: its level, its parts, and what is missing.
fn examine_sandbox(context: &CommandContext) -> DoctorCheck {
    let policy = find_workspace(None).and_then(|workspace| {
        confinement::build_sandbox_policy(context.config(), &context.app.home, &workspace)
    });
    let policy = match policy {
        Ok(policy) => policy,
        Err(error) => return build_check("sandbox", Err(error.to_string())),
    };
    let report = confinement::build_sandbox(context.config()).report(&policy);
    let (state, level) = match &report.level {
        Err(error) => (CheckState::Bad, error.to_string()),
        Ok(lango_sandbox::ConfinementLevel::None) => {
            let text = "none: commands have all your rights, because sandbox.level says so. To \
                        confine them: lango config set sandbox.level auto";
            (CheckState::Note, text.to_owned())
        }
        Ok(level) if report.is_weaker_than_it_could_be => {
            (CheckState::Note, format!("level {level}"))
        }
        Ok(level) => (CheckState::Good, format!("level {level}")),
    };
    DoctorCheck { what: "sandbox", state, detail: format!("{level}\n{}", report.parts.join("\n")) }
}

/// Checks for a browser for the navigator. The other agents do not need it.
fn examine_browser(context: &CommandContext) -> DoctorCheck {
    let configured = match web::chromium_path(context.config()) {
        Ok(configured) => configured,
        Err(error) => return build_check("browser", Err(error.to_string())),
    };
    let search_path = std::env::var_os("PATH");
    match lango_navigator::find_chromium(configured.as_deref(), search_path.as_deref()) {
        Ok(path) if lango_navigator::runs_without_sandbox() => {
            let path = path.display();
            let detail = format!(
                "{path}\nruns without Chromium's own sandbox, because you are root: use another \
                 account for pages you do not trust"
            );
            DoctorCheck { what: "browser", state: CheckState::Note, detail }
        }
        Ok(path) => build_check("browser", Ok(path.display().to_string())),
        // The rest of the team works without it.
        Err(error @ lango_navigator::ChromiumError::Missing) => {
            DoctorCheck { what: "browser", state: CheckState::Note, detail: error.to_string() }
        }
        Err(error) => build_check("browser", Err(error.to_string())),
    }
}

/// Describes the outbound network policy.
fn examine_egress(context: &CommandContext) -> DoctorCheck {
    let config = context.config();
    if let Err(error) = web::navigator_settings(config, &context.app.home) {
        return build_check("egress", Err(error.to_string()));
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
    build_check("egress", Ok(detail))
}

/// Makes a real call, as small as possible.
async fn try_model_call(
    context: &CommandContext,
    choice: provider::ModelChoice,
) -> Result<(), String> {
    let ready = provider::load_models(context.config(), choice, ModelPurpose::Examine).await;
    let ready = ready.map_err(|error| error.to_string())?;
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
