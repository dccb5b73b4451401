//! Measures what a decision of the embedded model costs: loading, one call of an orchestrator or of
//! a specialist, memory, size.

use std::io::Write as _;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use futures_util::StreamExt as _;
use lango_embedded::{EmbeddedModel, known_team};
use lango_model::{Colleague, Message, Model as _, ModelEvent, ModelRequest, RequestRole};
use lango_protocol::TRANSFER_TOOL;
use lango_tool::{SafetyLevel, ToolDeclaration};
use serde_json::value::RawValue;

use crate::worker::{cpu, resident, since};
use crate::{REPEATS, block_on, figures, finish};

/// Requests of different lengths, and the agent that each is for.
const REQUESTS: [(&str, &str); 12] = [
    ("operator", "list the files in src"),
    (
        "operator",
        "Replace `debug = true` with `debug = false` in config/server.toml, please, and touch nothing else.",
    ),
    ("operator", "run cargo test -p lango-model with a timeout of five minutes"),
    ("navigator", "open http://127.0.0.1:8080/prices"),
    ("navigator", "Type \"Anna Berg\" into #name and send the form"),
    ("vault", "send 25 USDC to 0x52908400098527886E0F7030069857D2E4169EE7 for the May invoice"),
    ("vault", "what is the sha512 of release.tar.gz?"),
    ("librarian", "Which of my documents say something about the notice period for the flat?"),
    ("librarian", "note as a rule under deploy-window: nothing goes out after 16:00 on Fridays"),
    (
        "automator",
        "every weekday at 7 in Europe/Berlin send me the weather, call it morning-weather",
    ),
    (
        "chronicler",
        "Remember that my sister Clara is allergic to walnuts, it came up at dinner and I keep forgetting to tell people about it.",
    ),
    ("chronicler", "what did I say about the reorganisation last month? at most three memories"),
];
/// Each figure is taken over at least this much CPU time.
const LEAST: Duration = Duration::from_millis(400);

/// Measures in processes of their own and prints the table.
pub(crate) fn measure() -> Result<()> {
    let own = std::env::current_exe()?;
    let mut runs: Vec<Vec<f64>> = Vec::new();
    for _ in 0..REPEATS {
        let output = Command::new(&own).arg("decide-worker").output()?;
        if !output.status.success() {
            bail!("decide-worker: {}", String::from_utf8_lossy(&output.stderr));
        }
        let text = String::from_utf8(output.stdout)?;
        runs.push(text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?);
    }
    let column = |index: usize| -> Vec<f64> {
        runs.iter().filter_map(|run| run.get(index).copied()).collect()
    };
    let mut table = figures::Table::default();
    table.add("loading, CPU-ms", Some(150.0), column(0));
    table.add("the first decision after that, CPU-ms", None, column(1));
    table.add("an orchestrator's decision, CPU-ms", Some(40.0), column(2));
    table.add("a specialist's decision with its arguments, CPU-ms", Some(40.0), column(3));
    table.add("the dearest of the specialists' decisions, CPU-ms", Some(40.0), column(4));
    table.add("resident memory more, after all of it, MB", Some(80.0), column(5));
    finish(&table)
}

/// Takes each figure once and prints them in the order of the table.
pub(crate) fn work() -> Result<()> {
    let memory = resident()?;
    let model = EmbeddedModel::new();
    let before = cpu();
    model.load();
    let mut figures = vec![milliseconds(since(before))];
    let team: Vec<Arc<Colleague>> = known_team().into_iter().map(Arc::new).collect();
    let orchestrator: Vec<Arc<ModelRequest>> = REQUESTS
        .iter()
        .map(|(_, text)| Ok(Arc::new(to_orchestrator(text, &team)?)))
        .collect::<Result<_>>()?;
    let specialist: Vec<Arc<ModelRequest>> = REQUESTS
        .iter()
        .map(|(agent, text)| Ok(Arc::new(to_specialist(agent, text, &team)?)))
        .collect::<Result<_>>()?;
    block_on(async {
        let before = cpu();
        decide(&model, &orchestrator[0]).await?;
        figures.push(milliseconds(since(before)));
        figures.push(mean(&model, &orchestrator).await?);
        figures.push(mean(&model, &specialist).await?);
        let mut dearest = 0.0_f64;
        for request in &specialist {
            dearest = dearest.max(mean(&model, std::slice::from_ref(request)).await?);
        }
        figures.push(dearest);
        Ok(())
    })?;
    figures.push(resident()? - memory);
    for figure in figures {
        writeln!(std::io::stdout(), "{figure}")?;
    }
    Ok(())
}

/// CPU milliseconds of a decision, on average.
async fn mean(model: &EmbeddedModel, requests: &[Arc<ModelRequest>]) -> Result<f64> {
    let before = cpu();
    let mut count = 0_u32;
    while since(before) < LEAST {
        for request in requests {
            decide(model, request).await?;
            count += 1;
        }
    }
    Ok(milliseconds(since(before)) / f64::from(count))
}

async fn decide(model: &EmbeddedModel, request: &Arc<ModelRequest>) -> Result<()> {
    let mut stream = model.stream(Arc::clone(request));
    let mut acted = false;
    while let Some(event) = stream.next().await {
        acted |= matches!(event?, ModelEvent::Call(_) | ModelEvent::Text(_));
    }
    ensure!(acted, "no decision");
    Ok(())
}

fn to_orchestrator(text: &str, team: &[Arc<Colleague>]) -> Result<ModelRequest> {
    let schema = r#"{"type":"object","properties":{"agent_name":{"type":"string"}}}"#;
    let transfer = ToolDeclaration {
        name: TRANSFER_TOOL.into(),
        description: "Hands a task to an agent.".into(),
        parameters: RawValue::from_string(schema.to_owned())?.into(),
        level: SafetyLevel::Safe,
    };
    Ok(ModelRequest {
        role: RequestRole::Orchestrator,
        messages: vec![Message::user(text)],
        tools: vec![transfer],
        colleagues: team.to_vec(),
        ..ModelRequest::default()
    })
}

fn to_specialist(agent: &str, text: &str, team: &[Arc<Colleague>]) -> Result<ModelRequest> {
    let colleague = team.iter().find(|colleague| colleague.name == agent);
    Ok(ModelRequest {
        role: RequestRole::Specialist,
        messages: vec![Message::user(text)],
        tools: colleague.context("an agent of the team")?.tools.clone(),
        ..ModelRequest::default()
    })
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
