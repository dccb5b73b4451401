//! Stores the trusted cards in the database.

use lango_protocol::{AgentName, Timestamp};
use lango_store::{Database, Row, Statement, StoreError};

use super::schema::COMPONENT;

/// A card that the user or the configuration trusts.
#[derive(Debug, Clone)]
pub struct TrustedCard {
    /// The local name of the agent.
    pub name: String,
    /// The address of the card. A card at another address is another agent.
    pub card_url: String,
    /// The SHA-256 of the members that matter for trust.
    pub digest: String,
    /// The scheme, host and port of the agent.
    pub endpoint: String,
    /// The card's JSON.
    pub body: String,
    /// The server's `ETag` for this version.
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// The time until which the card need not be fetched again.
    pub(crate) fresh_until: Timestamp,
    /// The time since which it is trusted.
    pub pinned_at: Timestamp,
    /// The time when it was last seen unchanged.
    pub seen_at: Timestamp,
    /// A different card that was received and waits for the user's decision.
    pub offered: Option<String>,
}

/// The cache headers of a card, and how long it is fresh.
#[derive(Debug, Clone)]
pub(crate) struct CacheValidators {
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    pub(crate) fresh_until: Timestamp,
}

/// Stores cards. Cheap to clone.
#[derive(Clone)]
pub struct CardStore {
    database: Database,
}

const COLUMNS: &str = "name, card_url, digest, endpoint, body, etag, last_modified, fresh_until, \
                       pinned_at, seen_at, offered";

impl CardStore {
    /// Opens the store.
    pub async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        Ok(Self { database })
    }

    /// Returns the trusted card of this name.
    pub async fn find_card(&self, name: &AgentName) -> Result<Option<TrustedCard>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM a2a_remote_cards WHERE name = $1");
        let rows = self.database.query(Statement::new(sql).bind(name.as_str())).await?;
        rows.first().map(card_from_row).transpose()
    }

    /// Removes an agent's card.
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
        validators: &CacheValidators,
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
        .bind(validators.etag.clone())
        .bind(validators.last_modified.clone())
        .bind(validators.fresh_until.as_microseconds())
        .bind(now);
        self.database.write(statement.into()).await?;
        Ok(())
    }

    /// Records that the trusted card was seen again. Members that do not matter for trust may have
    /// changed.
    pub(crate) async fn mark_seen(
        &self,
        name: &AgentName,
        body: &str,
        validators: &CacheValidators,
    ) -> Result<(), StoreError> {
        let statement = Statement::new(
            "UPDATE a2a_remote_cards SET body = $2, etag = $3, last_modified = $4, \
             fresh_until = $5, seen_at = $6, offered = NULL WHERE name = $1",
        )
        .bind(name.as_str())
        .bind(body)
        .bind(validators.etag.clone())
        .bind(validators.last_modified.clone())
        .bind(validators.fresh_until.as_microseconds())
        .bind(Timestamp::now().as_microseconds());
        self.database.write(statement.into()).await?;
        Ok(())
    }

    /// Records a different card, which waits for the user's decision.
    pub(crate) async fn record_offer(
        &self,
        name: &AgentName,
        body: &str,
    ) -> Result<(), StoreError> {
        let statement = Statement::new(
            "UPDATE a2a_remote_cards SET offered = $2, fresh_until = 0 WHERE name = $1",
        );
        self.database.write(statement.bind(name.as_str()).bind(body).into()).await?;
        Ok(())
    }
}

fn card_from_row(row: &Row) -> Result<TrustedCard, StoreError> {
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
