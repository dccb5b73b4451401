//! One measurement in a process of its own.

use std::collections::{BTreeMap, HashSet};
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use futures_util::future::join_all;
use lango_model::{
    Chain, Endpoint, FactsTable, Link, Message, Model, ModelId, ModelRequest, Options, RemoteModel,
    RetryPolicy, Wire,
};
use lango_orchestration::{Config, PromptSections, Topology, build_agent_tree};
use lango_protocol::{Origin, SessionId};
use lango_runtime::{
    AgentModel, RuleBook, Runtime, RuntimeParts, Scrubber, Settings, TurnRequest,
    UnattendedApprover,
};
use lango_store::{Database, DatabaseLocation, Journal};

const SEQUENTIAL: u32 = 1500;
const WARM_UP: u32 = 50;
const SESSIONS: u32 = 64;
const TURNS_EACH: u32 = 25;

/// Measures `name` against the scripted model at `url` and prints one number.
pub(crate) async fn run(name: &str, url: &str) -> Result<()> {
    let figure = match name {
        "bare" => bare(url).await?,
        "sequential" => {
            let bench = Bench::new(url).await?;
            bench.sequential(WARM_UP).await?;
            let before = cpu();
            bench.sequential(SEQUENTIAL).await?;
            per(since(before), SEQUENTIAL)
        }
        "long" => {
            let bench = Bench::new(url).await?;
            let session = SessionId::generate();
            bench.turns(&session, WARM_UP).await?;
            let before = cpu();
            bench.turns(&session, SEQUENTIAL).await?;
            per(since(before), SEQUENTIAL)
        }
        "parallel" | "parallel-memory" => {
            let bench = Bench::new(url).await?;
            bench.sequential(WARM_UP).await?;
            let before = cpu();
            bench.parallel().await?;
            let spent = since(before);
            if name == "parallel" { per(spent, SESSIONS * TURNS_EACH) } else { resident()? }
        }
        "idle" => {
            let _bench = Bench::new(url).await?;
            tokio::time::sleep(Duration::from_millis(200)).await;
            resident()?
        }
        other => bail!("there is no measurement {other}"),
    };
    writeln!(std::io::stdout(), "{figure}")?;
    Ok(())
}

struct Bench {
    runtime: Runtime,
    _directory: tempfile::TempDir,
}

impl Bench {
    async fn new(url: &str) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let workspace = directory.path().join("workspace");
        std::fs::create_dir(&workspace)?;
        std::fs::write(workspace.join("notes.txt"), "a few\nlines\n")?;
        let tools = crate::operator::tools(directory.path(), &workspace).await?;
        let tree = build_agent_tree(Config {
            multi_agent: true,
            topology: &Topology::standard()?,
            tools: &tools,
            max_delegation_rounds: 0,
            sub_agent_prompt: None,
            remote_agents: Vec::new(),
            prompts: &PromptSections::default(),
        })?;
        let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
        let journal = Journal::open(Database::open(&location).await?).await?;
        let runtime = Runtime::new(RuntimeParts {
            tree,
            model: AgentModel { model: Arc::new(chain(url)?), options: Options::default() },
            agent_models: BTreeMap::new(),
            journal,
            approver: Arc::new(UnattendedApprover),
            rules: RuleBook::default(),
            context: Vec::new(),
            observers: Vec::new(),
            advisor: None,
            scrubber: Scrubber::default(),
            settings: Settings::default(),
            workspace: workspace.display().to_string(),
            remote_agents: std::collections::BTreeMap::new(),
        });
        Ok(Self { runtime, _directory: directory })
    }

    async fn turn(&self, session: &SessionId) -> Result<()> {
        let request = TurnRequest::new(session.clone(), "How large is notes.txt?", Origin::Library);
        let outcome = self.runtime.start_turn(request).outcome().await?;
        let work = &outcome.work;
        if !outcome.is_done() || work.spent.model_calls != 3 || work.calls_succeeded != 1 {
            bail!("not the turn that should be measured: {outcome:?}");
        }
        Ok(())
    }

    /// Each turn in a conversation of its own.
    async fn sequential(&self, count: u32) -> Result<()> {
        for _ in 0..count {
            self.turn(&SessionId::generate()).await?;
        }
        Ok(())
    }

    async fn turns(&self, session: &SessionId, count: u32) -> Result<()> {
        for _ in 0..count {
            self.turn(session).await?;
        }
        Ok(())
    }

    async fn parallel(&self) -> Result<()> {
        let sessions: HashSet<SessionId> = (0..SESSIONS).map(|_| SessionId::generate()).collect();
        let all = sessions.iter().map(|session| self.turns(session, TURNS_EACH));
        join_all(all).await.into_iter().collect()
    }
}

/// The model as the program builds it: a chain, with what is known about a usual model.
pub(crate) fn chain(url: &str) -> Result<Chain> {
    let facts = FactsTable::built_in().find("openai", "gpt-5-mini");
    let link = Link { model: Arc::new(model(url)?), facts, health: Arc::default() };
    Ok(Chain::new(link, Vec::new(), RetryPolicy::default()))
}

fn model(url: &str) -> Result<RemoteModel> {
    Ok(RemoteModel::new(Endpoint::new(ModelId::new("bench", "scripted"), Wire::OpenAi, url))?)
}

/// The floor: the same model, asked three times with small requests.
async fn bare(url: &str) -> Result<f64> {
    let model = model(url)?;
    let ask = async || -> Result<()> {
        let request = ModelRequest {
            instruction: "You are operator, an agent.".into(),
            messages: vec![Message::user("How large is notes.txt?")],
            ..ModelRequest::default()
        };
        let mut stream = model.stream(Arc::new(request));
        while let Some(event) = stream.next().await {
            event?;
        }
        Ok(())
    };
    for _ in 0..WARM_UP {
        ask().await?;
    }
    let before = cpu();
    for _ in 0..SEQUENTIAL * 3 {
        ask().await?;
    }
    Ok(per(since(before), SEQUENTIAL))
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

/// Resident memory in megabytes.
pub(crate) fn resident() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kilobytes.context("no VmRSS")?.parse::<f64>()? / 1024.0)
}
