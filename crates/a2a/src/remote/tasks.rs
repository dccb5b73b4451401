//! Stores our tasks at remote agents, which a crash must not lose.

use lango_protocol::{AgentName, CallId, SessionId, Timestamp, TurnId};
use lango_store::{Batch, Database, Durability, Row, Statement, StoreError};

use super::schema::COMPONENT;

/// Limits how much of a question is stored.
const MAX_QUESTION_CHARS: usize = 500;

/// The stage of a delegation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The message is being sent or was sent. It may have arrived.
    Sent,
    /// The agent has created a task.
    InProgress,
    /// The agent waits for the user's answer.
    InputRequired,
    /// The agent waits for the user's credentials.
    AuthRequired,
    /// Nothing more follows.
    Ended,
}

impl Stage {
    fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::InProgress => "under way",
            Self::InputRequired => "asked",
            Self::AuthRequired => "asked for proof",
            Self::Ended => "over",
        }
    }

    fn of(text: &str) -> Self {
        match text {
            "sent" => Self::Sent,
            "under way" => Self::InProgress,
            "asked" => Self::InputRequired,
            "asked for proof" => Self::AuthRequired,
            _ => Self::Ended,
        }
    }
}

/// The stored state of a delegation.
#[derive(Debug, Clone)]
pub(crate) struct RemoteTask {
    pub(crate) turn: String,
    pub(crate) context: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) stage: Stage,
    pub(crate) question: String,
}

/// Stores tasks. Cheap to clone.
#[derive(Clone)]
pub(crate) struct TaskStore {
    database: Database,
}

impl TaskStore {
    pub(crate) async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        Ok(Self { database })
    }

    /// Returns the state of this delegation.
    pub(crate) async fn find_by_call(
        &self,
        session: &SessionId,
        agent: &AgentName,
        call: &CallId,
    ) -> Result<Option<RemoteTask>, StoreError> {
        let statement = Statement::new(
            "SELECT turn, context, task, state, question FROM a2a_remote_tasks \
             WHERE session = $1 AND agent = $2 AND call_id = $3",
        );
        let statement = statement.bind(session.as_str()).bind(agent.as_str()).bind(call.as_str());
        let rows = self.database.query(statement).await?;
        rows.first().map(remote_task).transpose()
    }

    /// Returns the newest delegation of this session to this agent.
    pub(crate) async fn newest(
        &self,
        session: &SessionId,
        agent: &AgentName,
    ) -> Result<Option<RemoteTask>, StoreError> {
        let statement = Statement::new(
            "SELECT turn, context, task, state, question FROM a2a_remote_tasks \
             WHERE session = $1 AND agent = $2 ORDER BY at DESC, call_id DESC LIMIT 1",
        );
        let statement = statement.bind(session.as_str()).bind(agent.as_str());
        let rows = self.database.query(statement).await?;
        rows.first().map(remote_task).transpose()
    }

    /// Returns the agents that wait for the user in this session, and their tasks.
    pub(crate) async fn waiting(
        &self,
        session: &SessionId,
    ) -> Result<Vec<(String, RemoteTask)>, StoreError> {
        let statement = Statement::new(
            "SELECT turn, context, task, state, question, agent FROM a2a_remote_tasks \
             WHERE session = $1 AND state IN ('asked', 'asked for proof') ORDER BY at, agent",
        );
        let rows = self.database.query(statement.bind(session.as_str())).await?;
        rows.iter().map(|row| Ok((row.text(5)?.to_owned(), remote_task(row)?))).collect()
    }

    /// Records that a message is about to be sent. It answers whatever the agent waited for in this
    /// session.
    pub(crate) async fn begin(
        &self,
        key: &DelegationKey<'_>,
        turn: TurnId,
        context: Option<&str>,
        task: Option<&str>,
    ) -> Result<(), StoreError> {
        let answered = Statement::new(
            "UPDATE a2a_remote_tasks SET state = 'over', question = '' \
             WHERE session = $1 AND agent = $2 AND state IN ('asked', 'asked for proof')",
        )
        .bind(key.session.as_str())
        .bind(key.agent.as_str());
        let begun = Statement::new(
            "INSERT INTO a2a_remote_tasks \
             (session, agent, call_id, turn, context, task, state, question, at) \
             VALUES ($1, $2, $3, $4, $5, $6, 'sent', '', $7) ON CONFLICT DO NOTHING",
        )
        .bind(key.session.as_str())
        .bind(key.agent.as_str())
        .bind(key.call.as_str())
        .bind(turn.to_string())
        .bind(context.map(str::to_owned))
        .bind(task.map(str::to_owned))
        .bind(Timestamp::now().as_microseconds());
        // From here on the agent may act: after a power failure, the request must not be repeated.
        let batch = Batch::new().with(answered).with(begun).durability(Durability::PowerLoss);
        self.database.write(batch).await?;
        Ok(())
    }

    /// Records the stage of the delegation.
    pub(crate) async fn record_stage(
        &self,
        key: &DelegationKey<'_>,
        context: Option<&str>,
        task: Option<&str>,
        stage: Stage,
        question: &str,
    ) -> Result<(), StoreError> {
        let question: String =
            question.chars().filter(|c| !c.is_control()).take(MAX_QUESTION_CHARS).collect();
        let statement = Statement::new(
            "UPDATE a2a_remote_tasks SET context = $4, task = $5, state = $6, question = $7 \
             WHERE session = $1 AND agent = $2 AND call_id = $3",
        )
        .bind(key.session.as_str())
        .bind(key.agent.as_str())
        .bind(key.call.as_str())
        .bind(context.map(str::to_owned))
        .bind(task.map(str::to_owned))
        .bind(stage.as_str())
        .bind(question);
        self.database.write(statement.into()).await?;
        Ok(())
    }

    /// Deletes the tasks of a deleted conversation.
    pub(crate) async fn forget(&self, session: &SessionId) -> Result<(), StoreError> {
        let statement = Statement::new("DELETE FROM a2a_remote_tasks WHERE session = $1");
        self.database.write(statement.bind(session.as_str()).into()).await?;
        Ok(())
    }
}

/// Identifies a delegation: session, agent and call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DelegationKey<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) agent: &'a AgentName,
    pub(crate) call: &'a CallId,
}

fn remote_task(row: &Row) -> Result<RemoteTask, StoreError> {
    Ok(RemoteTask {
        turn: row.text(0)?.to_owned(),
        context: row.optional_text(1)?.map(str::to_owned),
        task: row.optional_text(2)?.map(str::to_owned),
        stage: Stage::of(row.text(3)?),
        question: row.text(4)?.to_owned(),
    })
}
