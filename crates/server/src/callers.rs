//! Stores the callers: their names, the hashes of their tokens, and the agents that each may use.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use lango_protocol::{AgentName, Caller, InvalidName, OwnerStore, Timestamp};
use lango_runtime::OWNER;
use lango_store::{Database, Migration, Row, SchemaComponent, Statement, StoreError};
use parking_lot::{Mutex, RwLock};
use tokio_util::sync::CancellationToken;

use crate::EndpointKind;
use crate::token::{CallerToken, TokenDigest, TokenError};

/// Limits the number of callers, because every request is compared with all of them.
const MAX_CALLERS: u64 = 256;

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "callers",
    migrations: &[
        Migration { version: 1, sqlite: TABLE_SQLITE, postgres: TABLE_POSTGRES },
        Migration { version: 2, sqlite: READS_OWNER, postgres: READS_OWNER },
    ],
};

const TABLE_SQLITE: &str = "
CREATE TABLE callers (
    name TEXT NOT NULL PRIMARY KEY,
    token BLOB NOT NULL,
    agents TEXT,
    doors TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
";

const TABLE_POSTGRES: &str = "
CREATE TABLE callers (
    name TEXT NOT NULL PRIMARY KEY,
    token BYTEA NOT NULL,
    agents TEXT,
    doors TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
";

// The stores of the owner that a caller may read, with commas between.
const READS_OWNER: &str = "ALTER TABLE callers ADD COLUMN reads_owner TEXT NOT NULL DEFAULT ''";

/// The reason why a caller could not be added.
#[derive(Debug, thiserror::Error)]
pub enum CallersError {
    /// User error: the caller exists already.
    #[error(
        "there is a caller {0} already. For a new token remove it first: lango serve callers remove {0}"
    )]
    Exists(Caller),
    /// User error: the name is the owner's.
    #[error(
        "the caller {OWNER} is you. For a new token of your own: lango serve --new-token; others get \
         another name"
    )]
    IsOwner,
    /// User error: there are too many callers.
    #[error(
        "there are {MAX_CALLERS} callers, which is the most there can be. See who is not needed any \
         more: lango serve callers list"
    )]
    TooMany,
    /// The token could not be generated.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Describes a caller, without its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerRecord {
    /// Its name.
    pub name: Caller,
    /// The agents that it may use; if not set, all agents that the server exposes.
    pub agents: Option<BTreeSet<AgentName>>,
    /// The endpoints that it may use.
    pub endpoints: BTreeSet<EndpointKind>,
    /// The owner's stores that it may read besides its own.
    pub reads_owner: BTreeSet<OwnerStore>,
    /// The time at which it was added.
    pub created_at: Timestamp,
}

/// Holds the callers of a database. They are read with every request, so that a removal takes
/// effect at once.
#[derive(Clone)]
pub struct Callers {
    database: Database,
    /// The callers as of the last read, for code that cannot wait for the database. The lock is
    /// held only to copy.
    cached: Arc<RwLock<BTreeMap<Caller, CallerRecord>>>,
    /// The tokens that were used in this process, each with what ends its streams. The lock is held
    /// for one lookup.
    used: Arc<Mutex<HashMap<TokenDigest, UsedToken>>>,
}

/// A token that a request of this process had.
#[derive(Clone)]
pub(crate) struct UsedToken {
    caller: Caller,
    /// Is cancelled when the streams of the token end.
    pub(crate) revoked: CancellationToken,
}

/// A token that is not valid any more.
pub struct RevokedToken {
    /// The caller that had it.
    pub caller: Caller,
    revoked: CancellationToken,
}

impl RevokedToken {
    /// Ends the streams that were opened with the token.
    pub fn end_streams(&self) {
        self.revoked.cancel();
    }
}

impl Callers {
    /// Opens the callers of a database and migrates the table.
    pub async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        let callers = Self { database, cached: Arc::default(), used: Arc::default() };
        callers.read().await?;
        Ok(callers)
    }

    /// Adds a caller and returns its token, which cannot be read again.
    pub async fn add(
        &self,
        name: &Caller,
        agents: Option<&BTreeSet<AgentName>>,
        endpoints: &BTreeSet<EndpointKind>,
    ) -> Result<CallerToken, CallersError> {
        if name.as_str() == OWNER {
            return Err(CallersError::IsOwner);
        }
        if self.list().await?.len() as u64 >= MAX_CALLERS {
            return Err(CallersError::TooMany);
        }
        let token = CallerToken::generate()?;
        let statement = Statement::new(
            "INSERT INTO callers (name, token, agents, doors, created_at) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING",
        );
        match self.write(statement, name.as_str(), &token, agents, endpoints).await? {
            1 => Ok(token),
            _ => Err(CallersError::Exists(name.clone())),
        }
    }

    /// Creates the owner's token if there is none yet, or if `new` is set.
    pub async fn create_owner_token(&self, new: bool) -> Result<Option<CallerToken>, CallersError> {
        let token = CallerToken::generate()?;
        let statement = Statement::new(if new {
            "INSERT INTO callers (name, token, agents, doors, created_at) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO UPDATE SET token = excluded.token, \
             created_at = excluded.created_at"
        } else {
            "INSERT INTO callers (name, token, agents, doors, created_at) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING"
        });
        let endpoints = BTreeSet::from(EndpointKind::ALL);
        let written = self.write(statement, OWNER, &token, None, &endpoints).await?;
        Ok((written == 1).then_some(token))
    }

    /// Sets which of the owner's stores a caller may read, from its next turn on. Returns false if
    /// there is no such caller.
    pub async fn share(
        &self,
        name: &Caller,
        stores: &BTreeSet<OwnerStore>,
    ) -> Result<bool, StoreError> {
        let statement = Statement::new("UPDATE callers SET reads_owner = $2 WHERE name = $1")
            .bind(name.as_str())
            .bind(join_names(stores.iter().map(|store| store.as_str())));
        Ok(self.database.write(statement.into()).await? == [1])
    }

    /// Removes a caller. Returns false if there was none.
    pub async fn remove(&self, name: &Caller) -> Result<bool, StoreError> {
        let statement = Statement::new("DELETE FROM callers WHERE name = $1").bind(name.as_str());
        Ok(self.database.write(statement.into()).await? == [1])
    }

    /// Returns all callers, sorted by name.
    pub async fn list(&self) -> Result<Vec<CallerRecord>, StoreError> {
        Ok(self.read().await?.into_iter().map(|(record, _)| record).collect())
    }

    /// Returns what ends the streams of a valid token.
    pub(crate) fn register_use(&self, digest: TokenDigest, caller: &Caller) -> CancellationToken {
        let mut used = self.used.lock();
        let token = used.entry(digest).or_insert_with(|| UsedToken {
            caller: caller.clone(),
            revoked: CancellationToken::new(),
        });
        token.revoked.clone()
    }

    /// Returns the holder of a token that this process has seen to be valid.
    pub(crate) fn find_used(&self, digest: &TokenDigest) -> Option<Caller> {
        self.used.lock().get(digest).map(|token| token.caller.clone())
    }

    /// Returns the tokens that were used in this process and are not valid any more, once: their
    /// caller was removed, or has another token.
    pub async fn take_revoked(&self) -> Result<Vec<RevokedToken>, StoreError> {
        if self.used.lock().is_empty() {
            return Ok(Vec::new());
        }
        let valid: HashSet<TokenDigest> =
            self.read().await?.into_iter().map(|(_, digest)| digest).collect();
        let mut used = self.used.lock();
        let gone: Vec<TokenDigest> =
            used.keys().filter(|digest| !valid.contains(digest)).copied().collect();
        let taken = gone.iter().filter_map(|digest| used.remove(digest));
        Ok(taken.map(|UsedToken { caller, revoked }| RevokedToken { caller, revoked }).collect())
    }

    /// Returns a caller as of the last read.
    pub fn find_cached(&self, name: &Caller) -> Option<CallerRecord> {
        self.cached.read().get(name).cloned()
    }

    /// Returns the caller that a token belongs to. All digests are compared in any case.
    pub(crate) async fn find(
        &self,
        digest: &TokenDigest,
    ) -> Result<Option<CallerRecord>, StoreError> {
        let mut found = None;
        for (record, known) in self.read().await? {
            if known.matches(digest) {
                found = Some(record);
            }
        }
        Ok(found)
    }

    async fn write(
        &self,
        statement: Statement,
        name: &str,
        token: &CallerToken,
        agents: Option<&BTreeSet<AgentName>>,
        endpoints: &BTreeSet<EndpointKind>,
    ) -> Result<u64, StoreError> {
        let agents = agents.map(|agents| join_names(agents.iter().map(AgentName::as_str)));
        let statement = statement
            .bind(name)
            .bind(token.digest().to_bytes())
            .bind(agents)
            .bind(join_names(endpoints.iter().map(|endpoint| endpoint.name())))
            .bind(Timestamp::now().as_microseconds());
        Ok(self.database.write(statement.into()).await?.first().copied().unwrap_or(0))
    }

    async fn read(&self) -> Result<Vec<(CallerRecord, TokenDigest)>, StoreError> {
        let statement = Statement::new(
            "SELECT name, token, agents, doors, created_at, reads_owner FROM callers ORDER BY name",
        );
        let rows = self.database.query(statement).await?;
        let read: Vec<_> = rows.iter().map(read_record).collect::<Result<_, _>>()?;
        let cached = read.iter().map(|(record, _)| (record.name.clone(), record.clone())).collect();
        *self.cached.write() = cached;
        Ok(read)
    }
}

fn join_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<&str>>().join(",")
}

fn read_record(row: &Row) -> Result<(CallerRecord, TokenDigest), StoreError> {
    let corrupt = |reason: String| StoreError::Corrupt {
        location: format!("caller {}", row.text(0).unwrap_or_default()),
        reason,
    };
    let invalid = |error: InvalidName| corrupt(error.to_string());
    let names = |text: &str| {
        text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let agents = row
        .optional_text(2)?
        .map(|text| names(text).iter().map(|name| name.parse()).collect::<Result<_, _>>())
        .transpose()
        .map_err(invalid)?;
    let endpoints = names(row.text(3)?).iter().map(|name| name.parse()).collect::<Result<_, _>>();
    let reads_owner = names(row.text(5)?).iter().map(|name| name.parse()).collect::<Result<_, _>>();
    let digest = TokenDigest::from_bytes(row.blob(1)?)
        .ok_or_else(|| corrupt("the hash of its token has the wrong size".to_owned()))?;
    let record = CallerRecord {
        name: row.text(0)?.parse().map_err(invalid)?,
        agents,
        endpoints: endpoints.map_err(corrupt)?,
        reads_owner: reads_owner.map_err(corrupt)?,
        created_at: Timestamp::from_microseconds(row.integer(4)?),
    };
    Ok((record, digest))
}
