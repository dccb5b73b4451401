//! Reads the row that orders all changes, and the wraps of the master key.

use lango_protocol::Timestamp;
use lango_store::{Database, Row, Statement, StoreError};

/// The one row of `vault_state`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VaultState {
    /// The id of the vault.
    pub(crate) vault: String,
    /// The number of the master key.
    pub(crate) generation: i64,
    /// The number of changes.
    pub(crate) revision: i64,
    /// How often the vault was locked.
    pub(crate) lock_epoch: i64,
    /// The wrong passphrases since the last right one.
    pub(crate) failures: i64,
    /// The time of the last of them.
    pub(crate) failed_at: Timestamp,
}

/// Says what a master key is encrypted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WrapKind {
    /// The key in the key file.
    KeyFile,
    /// A key in the system's keyring.
    Keyring,
    /// A passphrase.
    Passphrase,
    /// The key in a file that processes share for some time.
    Session,
    /// The master key before it, for processes that run while it is replaced.
    Succession,
}

impl WrapKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::KeyFile => "key_file",
            Self::Keyring => "keyring",
            Self::Passphrase => "passphrase",
            Self::Session => "session",
            Self::Succession => "succession",
        }
    }

    fn from_stored(name: &str) -> Option<Self> {
        [Self::KeyFile, Self::Keyring, Self::Passphrase, Self::Session, Self::Succession]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// A row of `vault_wraps`: a master key, encrypted.
#[derive(Debug, Clone)]
pub(crate) struct Wrap {
    pub(crate) id: String,
    pub(crate) kind: WrapKind,
    /// The number of the master key that is wrapped.
    pub(crate) generation: i64,
    /// What is needed to make the key that opens it, in JSON.
    pub(crate) parameters: String,
    pub(crate) wrapped: Vec<u8>,
    pub(crate) expires_at: Option<Timestamp>,
}

impl Wrap {
    /// Returns the statement that stores it.
    pub(crate) fn insert(self) -> Statement {
        Statement::new(
            "INSERT INTO vault_wraps \
             (id, kind, generation, parameters, wrapped, created_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(self.id)
        .bind(self.kind.as_str())
        .bind(self.generation)
        .bind(self.parameters)
        .bind(self.wrapped)
        .bind(Timestamp::now().as_microseconds())
        .bind(self.expires_at.map(Timestamp::as_microseconds))
    }

    fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|at| at <= Timestamp::now())
    }
}

/// Reads the state; none if nothing was ever stored.
pub(crate) async fn read_state(database: &Database) -> Result<Option<VaultState>, StoreError> {
    let statement = Statement::new(
        "SELECT vault, generation, revision, lock_epoch, failures, failed_at \
         FROM vault_state WHERE id = 1",
    );
    let rows = database.query(statement).await?;
    let read = |row: &Row| -> Result<VaultState, StoreError> {
        Ok(VaultState {
            vault: row.text(0)?.to_owned(),
            generation: row.integer(1)?,
            revision: row.integer(2)?,
            lock_epoch: row.integer(3)?,
            failures: row.integer(4)?,
            failed_at: Timestamp::from_microseconds(row.integer(5)?),
        })
    };
    rows.first().map(read).transpose()
}

/// Reads the wraps that have not expired.
pub(crate) async fn list_wraps(database: &Database) -> Result<Vec<Wrap>, StoreError> {
    let statement = Statement::new(
        "SELECT id, kind, generation, parameters, wrapped, expires_at FROM vault_wraps \
         ORDER BY created_at",
    );
    let mut wraps = Vec::new();
    for row in database.query(statement).await? {
        // A kind that a later version knows is of no use here.
        let Some(kind) = WrapKind::from_stored(row.text(1)?) else { continue };
        wraps.push(Wrap {
            id: row.text(0)?.to_owned(),
            kind,
            generation: row.integer(2)?,
            parameters: row.text(3)?.to_owned(),
            wrapped: row.blob(4)?.to_vec(),
            expires_at: row.optional_integer(5)?.map(Timestamp::from_microseconds),
        });
    }
    wraps.retain(|wrap| !wrap.is_expired());
    Ok(wraps)
}

/// Returns the statement that lets a change happen only if the master key is still this one.
pub(crate) fn bump_revision(generation: i64) -> Statement {
    Statement::new(
        "UPDATE vault_state SET revision = revision + 1 WHERE id = 1 AND generation = $1",
    )
    .bind(generation)
    .expect_rows(1)
}

/// Returns the statement that lets a change happen only if nothing has changed since a state was read.
pub(crate) fn advance_state(state: &VaultState, generation: i64) -> Statement {
    Statement::new(
        "UPDATE vault_state SET revision = revision + 1, generation = $1 \
         WHERE id = 1 AND revision = $2",
    )
    .bind(generation)
    .bind(state.revision)
    .expect_rows(1)
}
