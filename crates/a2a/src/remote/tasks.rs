//! Which tasks agents elsewhere have of ours: what a crash must not lose.

use lango_protocol::{AgentName, CallId, SessionId, Timestamp, TurnId};
use lango_store::{Batch, Database, Durability, Row, Statement, StoreError};

use super::schema::COMPONENT;

/// A question is kept up to here.
const MOST_OF_A_QUESTION: usize = 500;

/// Where a hand-over stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The message goes out now, or went out. It may have arrived.
    Sent,
    /// The agent has a task of it.
    Under,
    /// The agent waits for the user's answer.
    Asked,
    /// The agent waits for the user to show who they are.
    AskedForProof,
    /// Nothing more comes of it.
    Over,
}

impl Stage {
    fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Under => "under way",
            Self::Asked => "asked",
            Self::AskedForProof => "asked for proof",
            Self::Over => "over",
        }
    }

    fn of(text: &str) -> Self {
        match text {
            "sent" => Self::Sent,
            "under way" => Self::Under,
            "asked" => Self::Asked,
            "asked for proof" => Self::AskedForProof,
            _ => Self::Over,
        }
    }
}

/// What is known about a hand-over.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) turn: String,
    pub(crate) context: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) stage: Stage,
    pub(crate) question: String,
}

/// Keeps track of tasks. Cheap to clone.
#[derive(Clone)]
pub(crate) struct TaskBook {
    database: Database,
}

impl TaskBook {
    pub(crate) async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        Ok(Self { database })
    }

    /// What is known about this very hand-over.
    pub(crate) async fn of_call(
        &self,
        session: &SessionId,
        agent: &AgentName,
        call: &CallId,
    ) -> Result<Option<Known>, StoreError> {
        let statement = Statement::new(
            "SELECT turn, context, task, state, question FROM a2a_remote_tasks \
             WHERE session = $1 AND agent = $2 AND call_id = $3",
        );
        let statement = statement.bind(session.as_str()).bind(agent.as_str()).bind(call.as_str());
        let rows = self.database.query(statement.brief()).await?;
        rows.first().map(known).transpose()
    }

    /// The newest hand-over of this session to this agent.
    pub(crate) async fn newest(
        &self,
        session: &SessionId,
        agent: &AgentName,
    ) -> Result<Option<Known>, StoreError> {
        let statement = Statement::new(
            "SELECT turn, context, task, state, question FROM a2a_remote_tasks \
             WHERE session = $1 AND agent = $2 ORDER BY at DESC, call_id DESC LIMIT 1",
        );
        let statement = statement.bind(session.as_str()).bind(agent.as_str());
        let rows = self.database.query(statement.brief()).await?;
        rows.first().map(known).transpose()
    }

    /// Who waits for the user in this session, and for what: the newest hand-over of each counts.
    pub(crate) async fn waiting(
        &self,
        session: &SessionId,
    ) -> Result<Vec<(String, Known)>, StoreError> {
        let statement = Statement::new(
            "SELECT turn, context, task, state, question, agent FROM a2a_remote_tasks \
             WHERE session = $1 AND state IN ('asked', 'asked for proof') ORDER BY at, agent",
        );
        let rows = self.database.query(statement.bind(session.as_str()).brief()).await?;
        rows.iter().map(|row| Ok((row.text(5)?.to_owned(), known(row)?))).collect()
    }

    /// A message is about to go out. Whatever the agent waited for in this session is answered by it.
    pub(crate) async fn begin(
        &self,
        place: &Place<'_>,
        turn: TurnId,
        context: Option<&str>,
        task: Option<&str>,
    ) -> Result<(), StoreError> {
        let answered = Statement::new(
            "UPDATE a2a_remote_tasks SET state = 'over', question = '' \
             WHERE session = $1 AND agent = $2 AND state IN ('asked', 'asked for proof')",
        )
        .bind(place.session.as_str())
        .bind(place.agent.as_str());
        let begun = Statement::new(
            "INSERT INTO a2a_remote_tasks \
             (session, agent, call_id, turn, context, task, state, question, at) \
             VALUES ($1, $2, $3, $4, $5, $6, 'sent', '', $7) ON CONFLICT DO NOTHING",
        )
        .bind(place.session.as_str())
        .bind(place.agent.as_str())
        .bind(place.call.as_str())
        .bind(turn.to_string())
        .bind(context.map(str::to_owned))
        .bind(task.map(str::to_owned))
        .bind(Timestamp::now().as_microseconds());
        // From here on the agent may act: a power cut must not make us ask twice.
        let batch = Batch::new().with(answered).with(begun).durability(Durability::PowerLoss);
        self.database.write(batch).await?;
        Ok(())
    }

    /// Notes where the hand-over stands.
    pub(crate) async fn note(
        &self,
        place: &Place<'_>,
        context: Option<&str>,
        task: Option<&str>,
        stage: Stage,
        question: &str,
    ) -> Result<(), StoreError> {
        let question: String =
            question.chars().filter(|c| !c.is_control()).take(MOST_OF_A_QUESTION).collect();
        let statement = Statement::new(
            "UPDATE a2a_remote_tasks SET context = $4, task = $5, state = $6, question = $7 \
             WHERE session = $1 AND agent = $2 AND call_id = $3",
        )
        .bind(place.session.as_str())
        .bind(place.agent.as_str())
        .bind(place.call.as_str())
        .bind(context.map(str::to_owned))
        .bind(task.map(str::to_owned))
        .bind(stage.as_str())
        .bind(question);
        self.database.write(statement.into()).await?;
        Ok(())
    }

    /// Forgets the tasks of a conversation that is deleted.
    pub(crate) async fn forget(&self, session: &SessionId) -> Result<(), StoreError> {
        let statement = Statement::new("DELETE FROM a2a_remote_tasks WHERE session = $1");
        self.database.write(statement.bind(session.as_str()).into()).await?;
        Ok(())
    }
}

/// Whose hand-over to whom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) agent: &'a AgentName,
    pub(crate) call: &'a CallId,
}

fn known(row: &Row) -> Result<Known, StoreError> {
    Ok(Known {
        turn: row.text(0)?.to_owned(),
        context: row.optional_text(1)?.map(str::to_owned),
        task: row.optional_text(2)?.map(str::to_owned),
        stage: Stage::of(row.text(3)?),
        question: row.text(4)?.to_owned(),
    })
}
