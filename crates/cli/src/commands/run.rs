//! `lango run`: one message, one answer.

use std::io::{self, IsTerminal, Read};
use std::sync::Arc;
use std::time::Duration;

use lango_mcp::client::Servers;
use lango_operator::Processes;
use lango_orchestration::Root;
use lango_protocol::{ORCHESTRATOR, Origin, SINGLE_AGENT, SessionId};
use lango_runtime::{Runtime, TurnRequest};
use lango_store::Journal;
use tokio::sync::mpsc;

use super::turn::follow;
use super::{Setting, image};
use crate::arguments::{ApproveArguments, RunArguments, SessionChoice, TeamArguments};
use crate::config::Config;
use crate::display::Display;
use crate::failure::Failure;
use crate::mcp;
use crate::provider::{self, Purpose, ReadyModels};
use crate::remotes::Remotes;
use crate::team::Upkeep;
use crate::terminal::{Answers, Terminal, TerminalApprover};
use crate::wiring::{self, Catalog, Kept};

/// How long the work after a turn may keep a program that is done.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest line about an agent elsewhere.
pub(super) const NEWS_CHARACTERS: usize = 600;

/// The most that is taken from standard input.
const MAX_INPUT_BYTES: u64 = 1024 * 1024;

pub(crate) async fn run(setting: &Setting, arguments: RunArguments) -> Result<u8, Failure> {
    let (text, attachment) = message(&arguments.text)?;
    let images = arguments.images.iter().map(|path| image::read(path)).collect::<Result<_, _>>()?;
    let person = Terminal::person();
    let ready = make_ready(setting, &arguments.team, &arguments.approve, person).await?;
    let session = choose_session(ready.runtime.journal(), &arguments.session).await?;
    let display = Display::new(&arguments.output, ready.answers, ready.models.prices.clone());
    let _ = display.introduce(&introduction(&ready.models, &session));
    ready.tell_notices(&display).await?;
    let request =
        TurnRequest { attachment, images, ..TurnRequest::new(session, text, Origin::Run) };
    let (followed, display) = follow(ready.runtime.start_turn(request), display).await?;
    ready.tell_what_ends(&display);
    ready.settle(&display).await;
    ready.end_servers().await;
    ready.models.check_recording()?;
    Ok(followed.code)
}

/// Everything a turn needs.
pub(super) struct Ready {
    pub(super) runtime: Runtime,
    pub(super) models: ReadyModels,
    /// Where answers come from when an approval is needed.
    pub(super) answers: Answers,
    /// What the operator runs in the background.
    processes: Processes,
    /// Tools that no agent can use.
    unmatched: Vec<String>,
    /// The agents elsewhere.
    remotes: Option<Remotes>,
    upkeep: Upkeep,
    /// What to say about the MCP servers that are not used, or not whole.
    mcp_notices: Vec<String>,
    /// The MCP servers, whose programs end with this.
    mcp: Option<Servers>,
}

impl Ready {
    /// Takes in what somebody approved elsewhere since.
    pub(super) async fn look_again(&self) -> Result<(), Failure> {
        match &self.mcp {
            Some(servers) if servers.look_again().await? => self.upkeep.renew(),
            _ => Ok(()),
        }
    }

    /// Ends the programs of the MCP servers.
    pub(super) async fn end_servers(&self) {
        if let Some(servers) = &self.mcp {
            servers.stop().await;
        }
    }

    /// What ends with this process although nobody stopped it.
    pub(super) fn tell_what_ends(&self, display: &Display) {
        for command in self.processes.running() {
            let command = lango_tool::visible_short(&command);
            let _ = display.introduce(&format!("ended with this run: {command}"));
        }
    }

    /// Waits for what follows from the turns, now that they are answered, and says what could not
    /// be done. It takes some milliseconds; whoever does not answer is not waited for.
    pub(super) async fn settle(&self, display: &Display) {
        let Ok(troubles) = tokio::time::timeout(PATIENCE, self.runtime.settled()).await else {
            return;
        };
        for trouble in troubles {
            let _ = display.introduce(&trouble);
        }
    }

    /// From now on, agents elsewhere that come back are in the team. What changes is told through the
    /// channel.
    pub(super) fn watch_remotes(&mut self) -> Option<mpsc::Receiver<String>> {
        let remotes = self.remotes.take()?;
        Some(remotes.watch(self.upkeep.clone()))
    }

    /// What a user should know before anything else: what was interrupted, and what is out of
    /// reach.
    pub(super) async fn tell_notices(&self, display: &Display) -> Result<(), Failure> {
        if !display.introduces() {
            return Ok(());
        }
        let turns = self.runtime.journal().unfinished_turns(None).await?;
        let unfinished = turns.iter().filter(|turn| turn.running.is_none()).count();
        if unfinished > 0 {
            let turns = if unfinished == 1 { "turn was" } else { "turns were" };
            let line = format!("{unfinished} {turns} interrupted; go on with: lango resume");
            let _ = display.introduce(&line);
        }
        for notice in &self.models.notices {
            let _ = display.introduce(notice);
        }
        for notice in &self.mcp_notices {
            let _ = display.introduce(notice);
        }
        if !self.unmatched.is_empty() {
            let tools = self.unmatched.join(", ");
            let line = format!("no agent can use {tools}; the reasons: lango agents list");
            let _ = display.introduce(&line);
        }
        Ok(())
    }
}

/// Puts together what a turn needs. Fails before anything is written.
pub(super) async fn make_ready(
    setting: &Setting,
    team: &TeamArguments,
    approve: &ApproveArguments,
    person: Option<Terminal>,
) -> Result<Ready, Failure> {
    let config = setting.config();
    let mut catalog = wiring::catalog(
        config,
        &setting.home,
        team.topology.as_deref(),
        team.workspace.as_deref(),
        team.max_rounds,
    )?;
    check_agents(config, &catalog)?;
    let choice = provider::choose(config, team.model.as_deref()).await?;
    let record = team.record.as_deref();
    let purpose = Purpose::Work { for_all: team.model.is_some(), record };
    let models = provider::prepare(config, choice, purpose).await?;
    let (database, journal) = wiring::open_store(config, &setting.home).await?;
    let retrieval = catalog.connect(config, &database, &journal).await?;
    catalog.find_remotes(config, &database).await?;
    let rules = wiring::rule_book(config, database.clone()).await?;
    let asked = crate::person::person(approve.approve, person.clone());
    let (servers, mcp_notices) = mcp::join(setting, &mut catalog, database, asked, &models).await?;
    let approver = TerminalApprover::new(approve.approve, person);
    let answers = approver.answers();
    let kept = Kept { journal, retrieval, rules };
    let runtime = wiring::runtime(config, &catalog, kept, &models, Arc::new(approver));
    let unmatched = match &catalog.tree.root {
        Root::Team(team) => team.unmatched.iter().map(|tool| tool.name().to_owned()).collect(),
        Root::Single(_) => Vec::new(),
    };
    let processes = catalog.processes.clone();
    for warning in catalog.remotes.iter().flat_map(Remotes::warnings) {
        runtime.tell_absence(warning);
    }
    let team = catalog.team.clone();
    let upkeep =
        Upkeep::begin(team, Arc::new(runtime.clone()), servers.clone(), catalog.elsewhere());
    let (remotes, mcp) = (catalog.remotes, servers);
    Ok(Ready { runtime, models, answers, processes, unmatched, remotes, upkeep, mcp_notices, mcp })
}

/// Refuses settings for agents that nobody knows.
pub(crate) fn check_agents(config: &Config, catalog: &Catalog) -> Result<(), Failure> {
    let roots = [ORCHESTRATOR, SINGLE_AGENT];
    let is_known = |name: &str| {
        roots.contains(&name) || catalog.topology.agents().iter().any(|a| a.name.as_str() == name)
    };
    match config.agents.keys().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => {
            let agents = catalog.topology.agents().iter().map(|agent| agent.name.as_str());
            let names: Vec<&str> = std::iter::once(ORCHESTRATOR).chain(agents).collect();
            Err(Failure::usage(format!(
                "agents.{name} is set, and there is no such agent. There are: {}",
                names.join(", ")
            )))
        }
    }
}

/// The first line of a run: what answers, and why.
pub(super) fn introduction(models: &ReadyModels, session: &SessionId) -> String {
    let choice = &models.choice;
    format!("{} ({}) · session {session}", choice.id, choice.why)
}

/// The conversation a message belongs to.
pub(super) async fn choose_session(
    journal: &Journal,
    choice: &SessionChoice,
) -> Result<SessionId, Failure> {
    if choice.last {
        let latest = journal.latest_session().await?;
        return latest.ok_or_else(|| {
            Failure::usage("there is no conversation yet. Start one with: lango run \"…\"")
        });
    }
    let Some(wanted) = &choice.session else { return Ok(SessionId::generate()) };
    let found = journal.find_sessions(wanted.as_str()).await?;
    match found.as_slice() {
        [one] => Ok(one.clone()),
        many if many.contains(wanted) => Ok(wanted.clone()),
        [] => Ok(wanted.clone()),
        many => Err(ambiguous(wanted.as_str(), many)),
    }
}

pub(super) fn ambiguous(given: &str, found: &[SessionId]) -> Failure {
    let names: Vec<&str> = found.iter().take(5).map(SessionId::as_str).collect();
    Failure::usage(format!("{given:?} could be any of {}. Type more of it", names.join(", ")))
}

/// What the user said, and what came along on standard input.
fn message(words: &[String]) -> Result<(String, Option<String>), Failure> {
    let dash = words.iter().any(|word| word == "-");
    let text: Vec<&str> = words.iter().filter(|word| *word != "-").map(String::as_str).collect();
    let text = text.join(" ").trim().to_owned();
    let input = if dash || !io::stdin().is_terminal() { read_input()? } else { None };
    match (text.is_empty(), input) {
        (false, input) => Ok((text, input)),
        (true, Some(input)) => Ok((input, None)),
        (true, None) => {
            Err(Failure::usage("there is nothing to ask. Type it: lango run \"your question\""))
        }
    }
}

fn read_input() -> Result<Option<String>, Failure> {
    // Somebody who forgot to close a pipe should see why nothing happens.
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    let notice = std::thread::spawn(move || {
        if waiting.recv_timeout(Duration::from_secs(2))
            == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            let notice = "lango: reading standard input; end it with Ctrl-D, or use </dev/null\n";
            let _ = io::Write::write_all(&mut io::stderr(), notice.as_bytes());
        }
    });
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes);
    drop(done);
    let _ = notice.join();
    read.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        return Err(Failure::usage(
            "standard input is longer than 1 MiB. Put it into a file and name the file instead",
        ));
    }
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    Ok((!text.is_empty()).then_some(text))
}
