//! Runs work: turns that begin by themselves, in sessions of their own.
//!
//! Which work there is, and when it is due, is decided by its writers. Here a due piece is started
//! within the limit, brought to its end by whichever process can, and its end is noted. Everything
//! rests on promised turns: a piece runs once, goes on after a crash, and a process that lost the
//! session of its turn has no effect.

use std::collections::BTreeSet;
use std::sync::Arc;

use lango_protocol::{
    AgentName, EventBody, OWNER, Outcome, OutcomeStatus, SessionId, Space, Timestamp, TurnId,
    WarningCode,
};
use lango_store::{Journal, StoreError, TurnState, WorkItem, WorkScope, WorkState};
use lango_text::truncate;

use crate::promise::store_plain_request;
use crate::request::TurnRequest;
use crate::{Runtime, Teams, TurnError};

/// Limits the bytes of a result.
const MAX_RESULT_BYTES: usize = 16 * 1024;

/// Limits the pieces of work of one owner that are looked at in one round.
const MAX_ROUND_COUNT: u32 = 64;

/// Is told when a piece of work has ended.
pub trait WorkListener: Send + Sync {
    /// Tells that a piece of work has ended. Is called in one process for each piece.
    fn ended(&self, item: &WorkItem);
}

/// Runs the work of a scope. Clones share everything.
#[derive(Clone)]
pub struct WorkRunner {
    journal: Journal,
    teams: Arc<dyn Teams>,
    scope: WorkScope,
    /// How many pieces of work of one owner run at once in a workspace.
    limit: u32,
    listener: Arc<dyn WorkListener>,
}

impl WorkRunner {
    /// Creates a runner. The teams must have the agents of the scope's workspace.
    pub fn new(
        journal: Journal,
        teams: Arc<dyn Teams>,
        scope: WorkScope,
        limit: u32,
        listener: Arc<dyn WorkListener>,
    ) -> Self {
        Self { journal, teams, scope, limit: limit.max(1), listener }
    }

    /// Returns the scope.
    pub fn scope(&self) -> &WorkScope {
        &self.scope
    }

    /// Starts what is due, and goes on with what a process left behind. Each piece runs in a task of
    /// its own.
    pub async fn run_due(&self, now: Timestamp) -> Result<(), StoreError> {
        for item in self.journal.list_abandoned_work(&self.scope).await? {
            self.take_up(item).await?;
        }
        let mut full = BTreeSet::new();
        for item in self.journal.list_due_work(&self.scope, now, MAX_ROUND_COUNT).await? {
            let place = (item.space.clone(), item.workspace.clone());
            if full.contains(&place) || self.team_of(&item).is_none() {
                continue;
            }
            if !self.journal.start_work(&item, self.limit).await? {
                // There is no room for this owner, or another process starts what is due.
                full.insert(place);
                continue;
            }
            tracing::info!(work = item.id, "work is started");
            self.spawn(item);
        }
        Ok(())
    }

    /// Stops the turns that this process runs and whose cancellation was asked for.
    pub async fn stop_cancelled(&self) -> Result<(), StoreError> {
        for item in self.journal.list_cancelled_work(&self.scope).await? {
            if let Some(team) = self.team_of(&item)
                && team.is_under_way(item.turn)
            {
                // Its outcome is noted by the task that runs it.
                drop(team.cancel_turn(&item.session, item.turn).await);
            }
        }
        Ok(())
    }

    async fn take_up(&self, item: WorkItem) -> Result<(), StoreError> {
        let Some(team) = self.team_of(&item) else { return Ok(()) };
        if team.is_under_way(item.turn) || !team.is_retry_due(item.turn) {
            return Ok(());
        }
        if item.is_cancelled {
            // Another process may run it after all; then that one stops it.
            if team.cancel_turn(&item.session, item.turn).await.is_ok() {
                self.note_end(&item).await?;
            }
            return Ok(());
        }
        if let TurnState::Closed = self.journal.find_turn_state(&item.session, item.turn).await? {
            return self.note_end(&item).await;
        }
        tracing::info!(work = item.id, "abandoned work is taken up");
        self.spawn(item);
        Ok(())
    }

    /// Returns the agent that owns a tool in the team of an owner; none if no agent has it.
    pub fn find_tool_owner(&self, space: &Space, tool: &str) -> Option<AgentName> {
        self.team_in(space)?.find_tool_owner(tool)
    }

    /// Tells whether the team of an owner has an agent of this name.
    pub fn has_agent(&self, space: &Space, agent: &str) -> bool {
        self.team_in(space).is_some_and(|team| team.has_agent(agent))
    }

    /// Returns the team of the owner of the work; none for a client without access.
    fn team_of(&self, item: &WorkItem) -> Option<Runtime> {
        self.team_in(&item.space)
    }

    fn team_in(&self, space: &Space) -> Option<Runtime> {
        let caller = match space {
            Space::Owner => OWNER.parse().ok()?,
            Space::Client(caller) => caller.clone(),
        };
        self.teams.team(&caller)
    }

    fn spawn(&self, item: WorkItem) {
        let runner = self.clone();
        tokio::spawn(async move {
            if let Err(error) = runner.bring_to_end(&item).await {
                // The next round sees it as abandoned.
                tracing::warn!(work = item.id, %error, "work was not brought to its end");
            } else if let Err(error) = runner.run_due(Timestamp::now()).await {
                tracing::debug!(%error, "the next work is started later");
            }
        });
    }

    async fn bring_to_end(&self, item: &WorkItem) -> Result<(), TurnError> {
        let Some(team) = self.team_of(item) else { return Ok(()) };
        match team.drive_turn(item.session.clone(), item.turn).wait_for_outcome().await {
            // It would break again.
            Err(TurnError::Broken(_)) => team.cancel_turn(&item.session, item.turn).await?,
            Err(TurnError::NothingToResume(_)) => {}
            ended => drop(ended?),
        }
        Ok(self.note_end(item).await?)
    }

    /// Notes the end that the journal tells.
    async fn note_end(&self, item: &WorkItem) -> Result<(), StoreError> {
        let (state, result) = read_result(&self.journal, &item.session, item.turn).await?;
        if self.journal.end_work(&item.id, state, &result).await?
            && let Some(ended) = self.journal.find_work(&item.id).await?
        {
            tracing::info!(work = item.id, %state, "work has ended");
            self.listener.ended(&ended);
        }
        Ok(())
    }
}

/// Returns how a turn ended, and its answer.
async fn read_result(
    journal: &Journal,
    session: &SessionId,
    turn: TurnId,
) -> Result<(WorkState, String), StoreError> {
    let events = journal.read_turn_events(session, turn).await?;
    let (mut answer, mut is_call) = (String::new(), false);
    let mut limit = None;
    let mut outcome = None;
    for event in events {
        match event.body {
            EventBody::UserMessage { call, .. } => is_call = call.is_some(),
            // A call has no other answer than its result.
            EventBody::ToolResult { output, .. } if is_call => answer = output,
            EventBody::Message { .. } if is_call => {}
            EventBody::Message { text, answer: true } => answer = text,
            EventBody::Warning { code: WarningCode::BudgetExhausted, text } => limit = Some(text),
            EventBody::TurnFinished(finished) => outcome = Some(finished),
            _ => {}
        }
    }
    let Some(Outcome { status, .. }) = outcome else {
        // It was withdrawn before it began.
        return Ok((WorkState::Cancelled, String::new()));
    };
    if status == OutcomeStatus::NeedsInput {
        // No user is there who could answer.
        answer = format!(
            "it stopped at a question: {answer}\n\nAnswer it with: lango run --session {session} \"…\""
        );
    }
    let state = match &status {
        OutcomeStatus::Done => WorkState::Done,
        OutcomeStatus::Cancelled => WorkState::Cancelled,
        OutcomeStatus::NeedsInput
        | OutcomeStatus::Rejected { .. }
        | OutcomeStatus::TimedOut
        | OutcomeStatus::Failed { .. } => WorkState::Failed,
    };
    let reason = match status {
        OutcomeStatus::Failed { reason, .. } | OutcomeStatus::Rejected { reason } => reason,
        OutcomeStatus::TimedOut => "it took longer than a turn may".to_owned(),
        _ => String::new(),
    };
    let mut text = if answer.is_empty() { reason } else { answer };
    if let Some(limit) = limit {
        // No user saw the warning while the work ran.
        text =
            format!("{}\n\n({limit})", truncate(&text, MAX_RESULT_BYTES - limit.len().min(1024)));
    }
    Ok((state, truncate(&text, MAX_RESULT_BYTES).to_owned()))
}

/// Returns a request as work stores it. Its words must have no secrets.
pub fn store_work_request(request: &TurnRequest) -> Result<String, StoreError> {
    store_plain_request(request)
}
