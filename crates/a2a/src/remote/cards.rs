//! The cards that are trusted, as the database keeps them.

use lango_protocol::{AgentName, Timestamp};
use lango_store::{Database, Row, Statement, StoreError};

use super::schema::COMPONENT;

/// A card that a person, or the configuration, trusts.
#[derive(Debug, Clone)]
pub struct TrustedCard {
    /// Our name for the agent.
    pub name: String,
    /// Where the card came from. Another place is another agent.
    pub card_url: String,
    /// The SHA-256 of what matters in it.
    pub digest: String,
    /// Scheme, host and port of the agent.
    pub endpoint: String,
    /// The card.
    pub body: String,
    /// How the server marked this version.
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// Until when it need not be asked for again.
    pub(crate) fresh_until: Timestamp,
    /// Since when it is trusted.
    pub pinned_at: Timestamp,
    /// When it was last seen as it is.
    pub seen_at: Timestamp,
    /// A card that came instead of it, and waits for a person.
    pub offered: Option<String>,
}

/// How the server marked a card, and how long it holds.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    pub(crate) fresh_until: Timestamp,
}

/// Keeps the cards. Cheap to clone.
#[derive(Clone)]
pub struct CardBook {
    database: Database,
}

const COLUMNS: &str = "name, card_url, digest, endpoint, body, etag, last_modified, fresh_until, \
                       pinned_at, seen_at, offered";

impl CardBook {
    /// Opens the book.
    pub async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        Ok(Self { database })
    }

    /// The card that is trusted under this name.
    pub async fn card(&self, name: &AgentName) -> Result<Option<TrustedCard>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM a2a_remote_cards WHERE name = $1");
        let rows = self.database.query(Statement::new(sql).bind(name.as_str()).brief()).await?;
        rows.first().map(trusted).transpose()
    }

    /// Forgets an agent.
    pub async fn remove(&self, name: &AgentName) -> Result<(), StoreError> {
        let statement = Statement::new("DELETE FROM a2a_remote_cards WHERE name = $1");
        self.database.write(statement.bind(name.as_str()).into()).await?;
        Ok(())
    }

    /// Trusts a card from now on.
    pub(crate) async fn pin(
        &self,
        name: &AgentName,
        card_url: &str,
        digest: &str,
        endpoint: &str,
        body: &str,
        marks: &Marks,
    ) -> Result<(), StoreError> {
        let now = Timestamp::now().as_microseconds();
        let statement = Statement::new(
            "INSERT INTO a2a_remote_cards (name, card_url, digest, endpoint, body, etag, \
             last_modified, fresh_until, pinned_at, seen_at, offered) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, NULL) \
             ON CONFLICT (name) DO UPDATE SET card_url = $2, digest = $3, endpoint = $4, body = $5, \
             etag = $6, last_modified = $7, fresh_until = $8, pinned_at = $9, seen_at = $9, \
             offered = NULL",
        )
        .bind(name.as_str())
        .bind(card_url)
        .bind(digest)
        .bind(endpoint)
        .bind(body)
        .bind(marks.etag.clone())
        .bind(marks.last_modified.clone())
        .bind(marks.fresh_until.as_microseconds())
        .bind(now);
        self.database.write(statement.into()).await?;
        Ok(())
    }

    /// The trusted card was seen again, with what does not matter perhaps changed.
    pub(crate) async fn seen(
        &self,
        name: &AgentName,
        body: &str,
        marks: &Marks,
    ) -> Result<(), StoreError> {
        let statement = Statement::new(
            "UPDATE a2a_remote_cards SET body = $2, etag = $3, last_modified = $4, \
             fresh_until = $5, seen_at = $6, offered = NULL WHERE name = $1",
        )
        .bind(name.as_str())
        .bind(body)
        .bind(marks.etag.clone())
        .bind(marks.last_modified.clone())
        .bind(marks.fresh_until.as_microseconds())
        .bind(Timestamp::now().as_microseconds());
        self.database.write(statement.into()).await?;
        Ok(())
    }

    /// Another card came. It waits for a person.
    pub(crate) async fn offer(&self, name: &AgentName, body: &str) -> Result<(), StoreError> {
        let statement = Statement::new(
            "UPDATE a2a_remote_cards SET offered = $2, fresh_until = 0 WHERE name = $1",
        );
        self.database.write(statement.bind(name.as_str()).bind(body).into()).await?;
        Ok(())
    }
}

fn trusted(row: &Row) -> Result<TrustedCard, StoreError> {
    let text = |column| row.text(column).map(str::to_owned);
    let optional = |column| row.optional_text(column).map(|text| text.map(str::to_owned));
    let time = |column| row.integer(column).map(Timestamp::from_microseconds);
    Ok(TrustedCard {
        name: text(0)?,
        card_url: text(1)?,
        digest: text(2)?,
        endpoint: text(3)?,
        body: text(4)?,
        etag: optional(5)?,
        last_modified: optional(6)?,
        fresh_until: time(7)?,
        pinned_at: time(8)?,
        seen_at: time(9)?,
        offered: optional(10)?,
    })
}
