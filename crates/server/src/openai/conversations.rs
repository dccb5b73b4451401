//! Finds the session of a conversation by its messages.
//!
//! After each answer the mark of all messages so far is stored. A request that begins with exactly
//! these messages continues the session, once: taking a mark deletes it. Another branch of the same
//! conversation, such as a regenerated answer, therefore becomes a session of its own.

use lango_protocol::{Caller, SessionId, Timestamp};
use lango_store::{Batch, Database, Durability, Migration, SchemaComponent, Statement, StoreError};

use super::history::ConversationDigest;

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "openai_conversations",
    migrations: &[Migration { version: 1, sqlite: TABLE, postgres: TABLE }],
};

const TABLE: &str = "
CREATE TABLE openai_conversations (
    caller TEXT NOT NULL,
    mark TEXT NOT NULL,
    session TEXT NOT NULL,
    turns BIGINT NOT NULL,
    instructions TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (caller, mark, session)
);
CREATE INDEX openai_conversations_at ON openai_conversations (caller, at);
";

/// Limits the stored conversations of one caller. Older ones start a new session, with the earlier
/// messages as an attachment.
const MAX_CONVERSATION_COUNT: u32 = 10_000;
/// Limits the attempts to take a mark. Two requests may want the same one; the later request tries
/// another.
const MAX_TAKE_ATTEMPTS: usize = 3;

/// Describes a conversation that can be continued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConversationRecord {
    pub(super) session: SessionId,
    /// The number of turns that the session had. If it has more now, another client continued it.
    pub(super) turns: u64,
    /// The mark of the instructions that its agents got.
    pub(super) instructions: ConversationDigest,
}

#[derive(Clone)]
pub(super) struct Conversations {
    database: Database,
}

impl Conversations {
    pub(super) async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        Ok(Self { database })
    }

    /// Takes the session of a conversation, for this request only.
    pub(super) async fn take_session(
        &self,
        caller: &Caller,
        mark: &ConversationDigest,
    ) -> Result<Option<ConversationRecord>, StoreError> {
        for _ in 0..MAX_TAKE_ATTEMPTS {
            let Some(known) = self.find(caller, mark).await? else { return Ok(None) };
            let taken = Statement::new(
                "DELETE FROM openai_conversations WHERE caller = $1 AND mark = $2 AND session = $3",
            )
            .bind(caller.as_str())
            .bind(mark.as_str())
            .bind(known.session.as_str());
            if self.database.write(taken.into()).await? == [1] {
                return Ok(Some(known));
            }
        }
        Ok(None)
    }

    async fn find(
        &self,
        caller: &Caller,
        mark: &ConversationDigest,
    ) -> Result<Option<ConversationRecord>, StoreError> {
        let statement = Statement::new(
            "SELECT session, turns, instructions FROM openai_conversations \
             WHERE caller = $1 AND mark = $2 ORDER BY at DESC, session LIMIT 1",
        )
        .bind(caller.as_str())
        .bind(mark.as_str());
        let rows = self.database.query(statement).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let session = row.text(0)?.parse().map_err(|error: lango_protocol::InvalidName| {
            StoreError::Corrupt {
                location: "openai_conversations".to_owned(),
                reason: error.to_string(),
            }
        })?;
        let instructions = row.text(2)?.to_owned();
        Ok(Some(ConversationRecord { session, turns: row.unsigned(1)?, instructions }))
    }

    /// Stores the session of a conversation, so that it can be continued.
    pub(super) async fn store_session(
        &self,
        caller: &Caller,
        mark: &ConversationDigest,
        known: &ConversationRecord,
    ) -> Result<(), StoreError> {
        let insert = Statement::new(
            "INSERT INTO openai_conversations (caller, mark, session, turns, instructions, at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (caller, mark, session) DO UPDATE \
             SET turns = excluded.turns, instructions = excluded.instructions, at = excluded.at",
        )
        .bind(caller.as_str())
        .bind(mark.as_str())
        .bind(known.session.as_str())
        .bind(i64::try_from(known.turns).unwrap_or(i64::MAX))
        .bind(known.instructions.as_str())
        .bind(Timestamp::now().as_microseconds());
        let prune = Statement::new(
            "DELETE FROM openai_conversations WHERE caller = $1 AND at < COALESCE(\
             (SELECT at FROM openai_conversations WHERE caller = $1 \
             ORDER BY at DESC LIMIT 1 OFFSET $2), 0)",
        )
        .bind(caller.as_str())
        .bind(MAX_CONVERSATION_COUNT);
        // Not acknowledged: without it, the next request starts a session with the same messages.
        let batch = Batch::new().with(insert).with(prune).durability(Durability::ProcessCrash);
        self.database.write(batch).await?;
        Ok(())
    }
}
