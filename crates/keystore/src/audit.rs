//! Records every use of the vault in a chain of hashes.
//!
//! Each record has the hash of the one before it in its own, so that a record that is changed, removed
//! or inserted later does not fit any more.

use std::fmt;

use lango_protocol::{SessionId, Timestamp};
use lango_store::{Database, Row, Statement, StoreError};
use lango_text::hex;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::cipher::join_identity;

/// The hash before the first record.
const FIRST_HASH: &str = "lango-vault-audit-1";

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditAction {
    /// The vault was created.
    Created,
    /// It was unlocked with a passphrase.
    Unlocked,
    /// A wrong passphrase was given.
    UnlockFailed,
    /// It was locked.
    Locked,
    /// Its passphrase was set or changed.
    PassphraseChanged,
    /// A key file or the system's keyring protects it from now on.
    ProtectionChanged,
    /// Its master key was replaced.
    Rotated,
    /// A value was stored.
    Stored,
    /// A value was used.
    Used,
    /// A handle to a value was given out.
    HandleIssued,
    /// A value was deleted.
    Deleted,
    /// Values were exported.
    Exported,
    /// Values were imported.
    Imported,
    /// The vault, whose key was lost, was started anew from an export.
    Restored,
}

impl AuditAction {
    /// Returns the name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Unlocked => "unlocked",
            Self::UnlockFailed => "unlock_failed",
            Self::Locked => "locked",
            Self::PassphraseChanged => "passphrase_changed",
            Self::ProtectionChanged => "protection_changed",
            Self::Rotated => "rotated",
            Self::Stored => "stored",
            Self::Used => "used",
            Self::HandleIssued => "handle_issued",
            Self::Deleted => "deleted",
            Self::Exported => "exported",
            Self::Imported => "imported",
            Self::Restored => "restored",
        }
    }
}

/// Says who does something with the vault, and for what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actor {
    /// The agent or the command.
    pub name: String,
    /// The conversation, if it happens in one.
    pub session: Option<SessionId>,
    /// What it is for.
    pub purpose: String,
}

impl Actor {
    /// Returns an actor that is a command of the user or a part of the program.
    pub fn command(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Returns the same actor with this purpose.
    #[must_use]
    pub fn with_purpose(mut self, purpose: impl Into<String>) -> Self {
        self.purpose = purpose.into();
        self
    }
}

/// One record of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditRecord {
    /// Its number, counted from 1.
    pub number: i64,
    /// The time.
    pub at: Timestamp,
    /// What happened.
    pub action: String,
    /// The kind of entry, or empty.
    pub kind: String,
    /// The name of the entry, or empty.
    pub name: String,
    /// The agent or the command.
    pub actor: String,
    /// The conversation, or empty.
    pub session: String,
    /// What it was for.
    pub detail: String,
    /// The hash of this record and of all before it.
    pub hash: String,
}

/// Says what is wrong with the chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditProblem {
    /// A record does not fit the ones before it.
    #[error("record {0} was changed, or one before it was")]
    Changed(i64),
    /// A record is missing.
    #[error("record {0} is missing")]
    Missing(i64),
}

/// The result of checking the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditVerification {
    /// The records that were checked.
    pub records: i64,
    /// The hash of the last one: a user who notes it can tell later whether records before were cut off.
    pub head: String,
    /// The first thing that is wrong.
    pub problem: Option<AuditProblem>,
}

/// A record before it has a place in the chain.
#[derive(Debug, Clone)]
pub(crate) struct AuditDraft {
    pub(crate) action: AuditAction,
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) actor: Actor,
}

impl AuditDraft {
    /// Returns a record about the vault as a whole.
    pub(crate) fn of_vault(action: AuditAction, actor: &Actor) -> Self {
        Self { action, kind: "", name: String::new(), actor: actor.clone() }
    }

    /// Gives the record its place behind the last one.
    pub(crate) fn place_after(self, last: Option<&(i64, String)>) -> AuditRecord {
        let (number, previous) =
            last.map_or((1, FIRST_HASH), |(number, hash)| (number + 1, hash.as_str()));
        let mut record = AuditRecord {
            number,
            at: Timestamp::now(),
            action: self.action.as_str().to_owned(),
            kind: self.kind.to_owned(),
            name: self.name,
            actor: self.actor.name,
            session: self.actor.session.map(|session| session.to_string()).unwrap_or_default(),
            detail: self.actor.purpose.replace('\0', " "),
            hash: String::new(),
        };
        record.hash = record.compute_hash(previous);
        record
    }
}

impl AuditRecord {
    fn compute_hash(&self, previous: &str) -> String {
        let at = self.at.as_microseconds().to_string();
        let number = self.number.to_string();
        let parts = [
            previous,
            &number,
            &at,
            &self.action,
            &self.kind,
            &self.name,
            &self.actor,
            &self.session,
            &self.detail,
        ];
        hex(Sha256::digest(join_identity(&parts)))
    }

    /// Returns the statement that adds it. It changes no row if another process was faster.
    pub(crate) fn insert(self) -> Statement {
        Statement::new(
            "INSERT INTO vault_audit (seq, at, action, kind, name, actor, session, detail, hash) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (seq) DO NOTHING",
        )
        .bind(self.number)
        .bind(self.at.as_microseconds())
        .bind(self.action)
        .bind(self.kind)
        .bind(self.name)
        .bind(self.actor)
        .bind(self.session)
        .bind(self.detail)
        .bind(self.hash)
        .expect_rows(1)
    }

    fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            number: row.integer(0)?,
            at: Timestamp::from_microseconds(row.integer(1)?),
            action: row.text(2)?.to_owned(),
            kind: row.text(3)?.to_owned(),
            name: row.text(4)?.to_owned(),
            actor: row.text(5)?.to_owned(),
            session: row.text(6)?.to_owned(),
            detail: row.text(7)?.to_owned(),
            hash: row.text(8)?.to_owned(),
        })
    }
}

impl fmt::Display for AuditAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns the number and the hash of the last record.
pub(crate) async fn find_last(database: &Database) -> Result<Option<(i64, String)>, StoreError> {
    let last = Statement::new("SELECT seq, hash FROM vault_audit ORDER BY seq DESC LIMIT 1");
    let rows = database.query(last).await?;
    rows.first().map(|row| Ok((row.integer(0)?, row.text(1)?.to_owned()))).transpose()
}

const COLUMNS: &str = "seq, at, action, kind, name, actor, session, detail, hash";

/// Returns the latest records, the newest last.
pub(crate) async fn list_records(
    database: &Database,
    limit: u32,
) -> Result<Vec<AuditRecord>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM vault_audit ORDER BY seq DESC LIMIT $1");
    let rows = database.query(Statement::new(sql).bind(limit)).await?;
    rows.iter().rev().map(AuditRecord::read).collect()
}

/// Checks the whole chain.
pub(crate) async fn verify_chain(database: &Database) -> Result<AuditVerification, StoreError> {
    /// Limits how many records are held at once.
    const PAGE: u32 = 1000;
    let mut verification =
        AuditVerification { records: 0, head: FIRST_HASH.to_owned(), problem: None };
    loop {
        let sql = format!("SELECT {COLUMNS} FROM vault_audit WHERE seq > $1 ORDER BY seq LIMIT $2");
        let page = Statement::new(sql).bind(verification.records).bind(PAGE);
        let rows = database.query(page).await?;
        if rows.is_empty() {
            return Ok(verification);
        }
        for row in &rows {
            let record = AuditRecord::read(row)?;
            let expected = verification.records + 1;
            if record.number != expected {
                verification.problem = Some(AuditProblem::Missing(expected));
                return Ok(verification);
            }
            if record.compute_hash(&verification.head) != record.hash {
                verification.problem = Some(AuditProblem::Changed(record.number));
                return Ok(verification);
            }
            (verification.records, verification.head) = (record.number, record.hash);
        }
    }
}
