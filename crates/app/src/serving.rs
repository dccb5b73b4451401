//! What the commands that let others in share: the teams, whoever they are for.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use lango_mcp::client::{Nobody, Servers};
use lango_protocol::AgentName;
use lango_runtime::{ApprovalFuture, ApprovalRequest, Approver};
use lango_server::Callers;
use lango_store::{Database, Journal};
use tokio::sync::mpsc;

use crate::arguments::TeamArguments;
use crate::commands::Setting;
use crate::commands::run::check_agents;
use crate::failure::Failure;
use crate::mcp;
use crate::provider::{self, Purpose};
use crate::team::{Renewed, Upkeep};
use crate::teams::{ServedTeams, ServedTeamsParts};
use crate::wiring::{self, Kept};

/// How long the work after turns may keep a program that is done.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often approvals of tools are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Everything that is served.
pub(crate) struct Serving {
    pub(crate) teams: Arc<ServedTeams>,
    pub(crate) callers: Callers,
    pub(crate) database: Database,
    pub(crate) journal: Journal,
    /// The MCP servers that agents use, whose programs end with this.
    servers: Option<Servers>,
}

/// What others reach.
pub(crate) struct Reached {
    /// The agents; all when empty.
    pub(crate) expose: Vec<AgentName>,
    /// Those whose tools may be called directly.
    pub(crate) tools: Vec<AgentName>,
    /// What must not be recorded or shown.
    pub(crate) secrets: Vec<String>,
    /// A script that plays the model, unless one was named.
    pub(crate) script: Option<&'static str>,
}

impl Serving {
    /// Puts the teams together. Fails before anything is listened to.
    pub(crate) async fn new(
        setting: &Setting,
        team: &TeamArguments,
        reached: Reached,
    ) -> Result<Self, Failure> {
        let config = setting.config();
        let mut catalog = wiring::catalog(
            config,
            &setting.home,
            team.topology.as_deref(),
            team.workspace.as_deref(),
            team.max_rounds,
        )?;
        check_agents(config, &catalog)?;
        let models = if let Some(script) = reached.script.filter(|_| team.model.is_none()) {
            provider::demonstrate_text(config, script).await?
        } else {
            let choice = provider::choose(config, team.model.as_deref()).await?;
            let record = team.record.as_deref();
            let purpose = Purpose::Work { for_all: team.model.is_some(), record };
            provider::prepare(config, choice, purpose).await?
        };
        let (database, journal) = wiring::open_store(config, &setting.home).await?;
        let retrieval = catalog.connect(config, &database, &journal).await?;
        catalog.find_remotes(config, &database).await?;
        let rules = wiring::rule_book(config, database.clone()).await?;
        // Nobody sits here: what a server asks a person for is declined.
        let (servers, notices) =
            mcp::join(setting, &mut catalog, database.clone(), Arc::new(Nobody), &models).await?;
        if models.choice.is_last_resort {
            notice(&format!("{} answers: {}", models.choice.id, models.choice.why));
        }
        models.notices.iter().chain(&notices).for_each(|line| notice(line));
        catalog.secrets.extend(reached.secrets);
        let callers = Callers::open(database.clone()).await?;
        let teams = Arc::new(ServedTeams::new(ServedTeamsParts {
            config: config.clone(),
            catalog,
            kept: Kept { journal: journal.clone(), retrieval, rules },
            models: Arc::new(models),
            approver: Arc::new(OwnerElsewhere),
            callers: callers.clone(),
            expose: reached.expose,
            tools: reached.tools,
        })?);
        let catalog = teams.catalog();
        let renewed = Arc::clone(&teams) as Arc<dyn Renewed>;
        let upkeep =
            Upkeep::begin(catalog.team.clone(), renewed, servers.clone(), catalog.elsewhere());
        if let Some(servers) = servers.clone() {
            look_again(servers, upkeep.clone());
        }
        if let Some(remotes) = catalog.remotes {
            remotes.warnings().iter().for_each(|line| notice(line));
            tell(remotes.watch(upkeep));
        }
        Ok(Self { teams, callers, database, journal, servers })
    }

    /// Waits for what follows from turns, and says what was left.
    pub(crate) async fn end(&self) {
        let left = self.teams.turns_under_way();
        if left > 0 {
            notice(&format!("{left} turns did not end in time; go on with: lango resume"));
        } else if let Ok(troubles) = tokio::time::timeout(PATIENCE, self.teams.settled()).await {
            for trouble in &troubles {
                notice(trouble);
            }
        }
        if let Some(servers) = &self.servers {
            servers.stop().await;
        }
    }
}

/// Takes in what the owner approved of MCP servers' tools elsewhere, as long as the program runs.
fn look_again(servers: Servers, upkeep: Upkeep) {
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let renewed = match servers.look_again().await {
                Ok(true) => upkeep.renew(),
                Ok(false) => Ok(()),
                Err(error) => Err(error.into()),
            };
            if let Err(failure) = renewed {
                notice(&failure.message);
            }
        }
    });
}

/// Says what changes among the agents elsewhere, as long as the program runs.
fn tell(mut news: mpsc::Receiver<String>) {
    tokio::spawn(async move {
        while let Some(line) = news.recv().await {
            notice(&line);
        }
    });
}

/// Asks nobody here: the owner answers through the journal, or the question expires. A caller never
/// answers for itself.
struct OwnerElsewhere;

impl Approver for OwnerElsewhere {
    fn ask(&self, request: ApprovalRequest) -> ApprovalFuture {
        let ApprovalRequest { session, call, agent, tool, .. } = request;
        notice(&format!(
            "{agent} waits for your approval of {tool} (session {session}). See it: lango approvals \
             show {call}. Answer: lango approvals approve {call}, or deny {call}"
        ));
        Box::pin(std::future::pending())
    }
}

/// A line for whoever runs the program, beside what it serves.
pub(crate) fn notice(line: &str) {
    // With standard error gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "lango: {}", lango_tool::visible(line));
}
