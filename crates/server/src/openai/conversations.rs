//! Which session a conversation belongs to, by what was said in it.
//!
//! After each answer the mark of everything said so far is kept. A request that begins with exactly
//! that goes on with the session, once: who takes a mark takes it away. Another branch of the same
//! conversation, such as an answer that is asked for again, therefore becomes a session of its own.

use lango_protocol::{Caller, SessionId, Timestamp};
use lango_store::{Batch, Component, Database, Migration, Statement, StoreError};

use super::history::Mark;

const COMPONENT: Component = Component {
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

/// Conversations of one caller that are known again. Older ones begin anew, with what was said as an
/// attachment.
const KEPT: u32 = 10_000;
/// Two requests may want the same mark; who is too late looks for another.
const TRIES: usize = 3;

/// A conversation that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) session: SessionId,
    /// How many turns the session had. With more by now, it went on elsewhere.
    pub(super) turns: u64,
    /// The mark of the instructions that its agents know.
    pub(super) instructions: Mark,
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

    /// Takes the session of a conversation, for this request alone.
    pub(super) async fn take(
        &self,
        caller: &Caller,
        mark: &Mark,
    ) -> Result<Option<Known>, StoreError> {
        for _ in 0..TRIES {
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

    async fn find(&self, caller: &Caller, mark: &Mark) -> Result<Option<Known>, StoreError> {
        let statement = Statement::new(
            "SELECT session, turns, instructions FROM openai_conversations \
             WHERE caller = $1 AND mark = $2 ORDER BY at DESC, session LIMIT 1",
        )
        .bind(caller.as_str())
        .bind(mark.as_str());
        let rows = self.database.query(statement.brief()).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let session = row.text(0)?.parse().map_err(|error: lango_protocol::InvalidName| {
            StoreError::Corrupt {
                location: "openai_conversations".to_owned(),
                reason: error.to_string(),
            }
        })?;
        let instructions = row.text(2)?.to_owned();
        Ok(Some(Known { session, turns: row.unsigned(1)?, instructions }))
    }

    /// Keeps where a conversation is, so that it is known again.
    pub(super) async fn remember(
        &self,
        caller: &Caller,
        mark: &Mark,
        known: &Known,
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
        .bind(KEPT);
        self.database.write(Batch::new().with(insert).with(prune)).await?;
        Ok(())
    }
}
