//! `lango models`: lists models, and tests one.

mod test;

use std::time::Duration;

use futures_util::future::join_all;
use lango_app::config::Config;
use lango_app::provider::{self, ModelServer};
use lango_embedded::EMBEDDED;
use lango_model::{ModelError, ModelFault};
use serde::Serialize;

use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::ModelsCommand;
use lango_terminal::render_table;

pub(crate) async fn models(
    context: &CommandContext,
    command: ModelsCommand,
) -> Result<ExitStatus, Failure> {
    match command {
        ModelsCommand::List { provider, json } => {
            let config = context.app.config_with_keys().await?;
            list(context.printer, &config, provider.as_deref(), json).await
        }
        ModelsCommand::Accept { provider } => accept(context, &provider),
        ModelsCommand::Revoke { provider } => revoke(context, &provider),
        ModelsCommand::Test { model, json } => {
            let config = context.app.config_with_keys().await?;
            test::test(context.printer, &config, model.as_deref(), json).await
        }
    }
}

fn accept(context: &CommandContext, id: &str) -> Result<ExitStatus, Failure> {
    let (config, file) = (context.config(), &context.app.home.config_file);
    let server = provider::find_local_provider(config, id)?;
    provider::accept_server(file, config, &server)?;
    context.printer.print(&format!(
        "What answers at {} is used as a model when nothing else is set up.\n\
         To take it back: lango models revoke {id}\n",
        server.base_url
    ))?;
    Ok(ExitStatus::Success)
}

fn revoke(context: &CommandContext, id: &str) -> Result<ExitStatus, Failure> {
    let (config, file) = (context.config(), &context.app.home.config_file);
    let server = provider::find_local_provider(config, id)?;
    let address = &server.base_url;
    context.printer.print(&if provider::revoke_server(file, config, &server)? {
        format!("What answers at {address} is not used any more, unless it is named.\n")
    } else {
        format!("What answers at {address} was not accepted.\n")
    })?;
    Ok(ExitStatus::Success)
}

#[derive(Debug, Serialize)]
struct ModelRow {
    id: String,
    context_window: Option<u64>,
    tools: Option<bool>,
    images: Option<bool>,
    /// US dollars for a million tokens.
    input_price: Option<f64>,
    output_price: Option<f64>,
}

impl ModelRow {
    /// Returns the row of the embedded model, which has no context window and costs nothing.
    fn embedded() -> Self {
        Self {
            id: EMBEDDED.to_owned(),
            context_window: None,
            tools: Some(true),
            images: Some(false),
            input_price: None,
            output_price: None,
        }
    }
}

async fn list(
    printer: Printer,
    config: &Config,
    only: Option<&str>,
    json: bool,
) -> Result<ExitStatus, Failure> {
    const LIST_TIMEOUT: Duration = Duration::from_secs(10);
    let servers = match only {
        Some(EMBEDDED) => Vec::new(),
        Some(id) => vec![ModelServer::find_named(config, id)?],
        None => provider::list_servers(config),
    };
    let asked = servers.iter().map(|server| async {
        match tokio::time::timeout(LIST_TIMEOUT, provider::list_server_models(config, server)).await
        {
            Ok(answer) => answer,
            Err(_) => Err(ModelError::new(ModelFault::Silent, "no list within 10 s")),
        }
    });
    let answers = join_all(asked).await;
    let facts = provider::load_facts(config)?;
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    for (server, answer) in servers.iter().zip(answers) {
        if answer.is_ok() && !json && server.is_guess() && !provider::is_accepted(config, server) {
            let ModelServer { id, base_url, .. } = server;
            printer.note(&format!(
                "what answers at {base_url} is used only when it is named, unless you accept it: \
                 lango models accept {id}"
            ));
        }
        match answer {
            Ok(models) => rows.extend(models.into_iter().map(|model| {
                let known = facts.find(&server.id, &model.name);
                ModelRow {
                    id: format!("{}/{}", server.id, model.name),
                    context_window: model.window.or(known.window),
                    tools: model.tools.or(known.tools),
                    images: model.images.or(known.images),
                    input_price: known.prices.map(|prices| prices.input),
                    output_price: known.prices.map(|prices| prices.output),
                }
            })),
            // A default server that the user did not name may not run.
            Err(error) if only.is_some() || !server.is_guess() => failures.push(error.to_string()),
            Err(_) => {}
        }
    }
    let is_empty = rows.is_empty();
    // The embedded model is listed last, because it is chosen last.
    if only.is_none_or(|only| only == EMBEDDED) {
        rows.push(ModelRow::embedded());
    }
    if json {
        printer.json(&rows)?;
    } else if !rows.is_empty() {
        printer.print(&render_models(&rows))?;
    }
    for failure in &failures {
        printer.note(failure);
    }
    match (is_empty, only) {
        (true, _) if !failures.is_empty() => Ok(ExitStatus::ProviderFailed),
        (true, Some(id)) if id != EMBEDDED => Err(Failure::provider(format!(
            "{id} has no models. Load one there, or see all: lango models list"
        ))),
        (true, None) if !json => {
            printer.note(&provider::missing_provider_message(config));
            Ok(ExitStatus::Success)
        }
        _ => Ok(ExitStatus::Success),
    }
}

fn render_models(rows: &[ModelRow]) -> String {
    let yes_no = |known: Option<bool>| match known {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    };
    let price = |price: Option<f64>| price.map_or_else(|| "?".to_owned(), |p| format!("${p}"));
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let is_embedded = row.id == EMBEDDED;
            let unknown = if is_embedded { "none" } else { "?" };
            let prices = format!("{} / {}", price(row.input_price), price(row.output_price));
            vec![
                row.id.clone(),
                row.context_window.map_or_else(|| unknown.to_owned(), |tokens| tokens.to_string()),
                yes_no(row.tools).to_owned(),
                yes_no(row.images).to_owned(),
                if is_embedded { "none".to_owned() } else { prices },
            ]
        })
        .collect();
    render_table(&["MODEL", "WINDOW", "TOOLS", "IMAGES", "PRICE IN/OUT PER MILLION"], &rows)
}
