//! The parts that several measurements share: CPU time, memory, and the floor of a turn.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use futures_util::future::try_join_all;
use lango_model::{
    Chain, ChainLink, Endpoint, FactsTable, Message, Model, ModelId, ModelRequest, RemoteModel,
    RetryPolicy, Wire,
};

/// Turns whose model calls are measured.
const TURNS: u32 = 1500;
const CALLS_PER_TURN: u32 = 3;
const WARM_UP: u32 = 50;
/// Turns at once.
const PARALLEL: u32 = 64;

/// Measures the floor of a turn against the scripted model at `url` and prints one number: the same
/// HTTP client and the same number of calls, without agents, tools, journal or server.
pub(crate) async fn run(name: &str, url: &str) -> Result<()> {
    let model = model(url)?;
    let parallel = match name {
        "sequential" => 1,
        "parallel" => PARALLEL,
        other => bail!("there is no measurement {other}"),
    };
    ask(&model, WARM_UP).await?;
    let turns_each = TURNS / parallel;
    let before = cpu();
    try_join_all((0..parallel).map(|_| ask(&model, turns_each * CALLS_PER_TURN))).await?;
    let figure = per(since(before), turns_each * parallel);
    writeln!(std::io::stdout(), "{figure}")?;
    Ok(())
}

async fn ask(model: &RemoteModel, count: u32) -> Result<()> {
    for _ in 0..count {
        let request = ModelRequest {
            instruction: "You are operator, an agent.".into(),
            messages: vec![Message::user("How large is notes.txt?")],
            ..ModelRequest::default()
        };
        let mut stream = model.stream(Arc::new(request));
        while let Some(event) = stream.next().await {
            event?;
        }
    }
    Ok(())
}

/// The model as the program builds it: a chain, with what is known about a usual model.
pub(crate) fn chain(url: &str) -> Result<Chain> {
    let facts = FactsTable::built_in().find("openai", "gpt-5-mini");
    let link = ChainLink { model: Arc::new(model(url)?), facts, health: Arc::default() };
    Ok(Chain::new(link, Vec::new(), RetryPolicy::default()))
}

fn model(url: &str) -> Result<RemoteModel> {
    Ok(RemoteModel::new(Endpoint::new(ModelId::new("bench", "scripted"), Wire::OpenAi, url))?)
}

/// CPU time of this process, all threads, user and system.
pub(crate) fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// CPU time since `before`.
pub(crate) fn since(before: Duration) -> Duration {
    cpu().saturating_sub(before)
}

pub(crate) fn per(spent: Duration, count: u32) -> f64 {
    spent.as_secs_f64() * 1000.0 / f64::from(count)
}

/// Resident memory of this process in megabytes.
pub(crate) fn resident() -> Result<f64> {
    resident_of("self")
}

/// Resident memory of a process in megabytes.
pub(crate) fn resident_of(process: &str) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kilobytes.context("no VmRSS")?.parse::<f64>()? / 1024.0)
}
