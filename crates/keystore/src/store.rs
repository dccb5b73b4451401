//! Opens the vault of a database, and says what state it is in.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use lango_protocol::Timestamp;
use lango_store::{Batch, Database, Durability, Statement, StoreError};
use parking_lot::{Mutex as SyncMutex, RwLock};
use serde::Serialize;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::audit::{self, AuditDraft};
use crate::given_passphrase::GivenPassphrase;
use crate::key_file::create_key_file;
use crate::master::{MasterKey, WrapPlan};
use crate::schema::{COMPONENT, ENTRY_TABLES};
use crate::scrubbing::TaughtState;
use crate::state::{VaultState, WrapKind, list_wraps, read_state};
use crate::unlocking::UnlockedKey;
use crate::{
    Actor, AuditAction, AuditRecord, AuditVerification, EntryKind, EntryName, KeyStoreError,
    KeyStoreSettings,
};

/// Limits how often a change is tried again that another process came before.
pub(crate) const MAX_TRIES: u32 = 20;

/// The vault of a database. Clones share the unlocked key.
#[derive(Clone)]
pub struct KeyStore {
    pub(crate) inner: Arc<KeyStoreInner>,
}

pub(crate) struct KeyStoreInner {
    pub(crate) database: Database,
    pub(crate) settings: KeyStoreSettings,
    /// The master key while the vault is unlocked. A lock, because all calls share it; it is held
    /// only to copy the key.
    pub(crate) unlocked: RwLock<Option<UnlockedKey>>,
    /// What became of the passphrase of the environment. A lock for the same reason.
    pub(crate) given: SyncMutex<GivenPassphrase>,
    /// What the scrubber knows. A lock, because all calls share it; it is held only to compare.
    pub(crate) taught: SyncMutex<TaughtState>,
    /// Held while a record is appended, so that the calls of one process do not compete for the end
    /// of the chain.
    appending: Mutex<()>,
}

/// Says what protects the master key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// Nothing was stored yet.
    None,
    /// The key file.
    KeyFile,
    /// A key in the system's keyring.
    Keyring,
    /// A passphrase.
    Passphrase,
}

/// Describes the state of the vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VaultStatus {
    /// What protects it.
    pub protection: Protection,
    /// Whether values can be used now.
    pub unlocked: bool,
    /// Until when, if it is locked again by itself.
    pub unlocked_until: Option<Timestamp>,
    /// The number of secrets.
    pub secrets: usize,
    /// The number of keys.
    pub keys: usize,
    /// The number of the master key.
    pub generation: i64,
}

impl KeyStore {
    /// Opens the vault of a database. Nothing is created before the first value is stored.
    pub async fn open(
        database: Database,
        settings: KeyStoreSettings,
    ) -> Result<Self, KeyStoreError> {
        database.migrate(&COMPONENT).await?;
        let inner = KeyStoreInner {
            database,
            settings,
            unlocked: RwLock::new(None),
            given: SyncMutex::default(),
            taught: SyncMutex::default(),
            appending: Mutex::new(()),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the file whose key unlocks the vault as long as it has no passphrase.
    pub fn key_file(&self) -> &Path {
        &self.inner.settings.key_file
    }

    /// Says what protects the vault.
    pub async fn protection(&self) -> Result<Protection, KeyStoreError> {
        let state = read_state(self.database()).await?;
        let wraps = list_wraps(self.database()).await?;
        let has = |kind: WrapKind| wraps.iter().any(|wrap| wrap.kind == kind);
        Ok(match &state {
            None => Protection::None,
            Some(_) if has(WrapKind::Passphrase) => Protection::Passphrase,
            Some(_) if has(WrapKind::Keyring) => Protection::Keyring,
            Some(_) => Protection::KeyFile,
        })
    }

    /// Describes the state of the vault.
    pub async fn status(&self) -> Result<VaultStatus, KeyStoreError> {
        let state = read_state(self.database()).await?;
        let protection = self.protection().await?;
        let unlocked = match self.master().await {
            Ok(_) => true,
            Err(KeyStoreError::Locked | KeyStoreError::OtherVariable) => false,
            Err(error) => return Err(error),
        };
        let until = self.inner.unlocked.read().as_ref().and_then(|key| key.until);
        let secrets = self.list(EntryKind::Secret).await?.len();
        let mut keys = 0;
        for kind in EntryKind::KEYS {
            keys += self.list(*kind).await?.len();
        }
        let generation = state.map_or(0, |state| state.generation);
        Ok(VaultStatus { protection, unlocked, unlocked_until: until, secrets, keys, generation })
    }

    /// Returns the latest records of what was done, the newest last.
    pub async fn list_audit(&self, limit: u32) -> Result<Vec<AuditRecord>, KeyStoreError> {
        Ok(audit::list_records(self.database(), limit).await?)
    }

    /// Checks the chain of records.
    pub async fn verify_audit(&self) -> Result<AuditVerification, KeyStoreError> {
        Ok(audit::verify_chain(self.database()).await?)
    }

    /// Records something that was done with an entry.
    pub async fn record(
        &self,
        action: AuditAction,
        kind: EntryKind,
        name: &EntryName,
        actor: &Actor,
    ) -> Result<(), KeyStoreError> {
        let (kind, name, actor) = (kind.as_str(), name.to_string(), actor.clone());
        self.write_recorded(Batch::new(), AuditDraft { action, kind, name, actor }).await
    }

    pub(crate) fn database(&self) -> &Database {
        &self.inner.database
    }

    /// Removes what was replaced or deleted from the other files of the database. While other
    /// processes read it, that waits for a later time; what stays there until then is encrypted.
    pub(crate) async fn erase_traces(&self) -> Result<(), KeyStoreError> {
        match self.database().erase_traces(ENTRY_TABLES).await {
            Err(StoreError::Busy { .. }) | Ok(()) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates the vault with a key file, unless there is one.
    pub(crate) async fn create_if_missing(&self) -> Result<VaultState, KeyStoreError> {
        if let Some(state) = read_state(self.database()).await? {
            return Ok(state);
        }
        let by = create_key_file(&self.inner.settings.key_file)?;
        let vault = Uuid::new_v4().simple().to_string();
        let plan = WrapPlan {
            vault: &vault,
            kind: WrapKind::KeyFile,
            parameters: "{}".to_owned(),
            expires_at: None,
        };
        let wrap = MasterKey::generate(1)?.wrap(&by, plan)?;
        let now = Timestamp::now().as_microseconds();
        let state = Statement::new(
            "INSERT INTO vault_state \
             (id, vault, generation, revision, lock_epoch, failures, failed_at, created_at) \
             VALUES (1, $1, 1, 1, 0, 0, 0, $2) ON CONFLICT (id) DO NOTHING",
        )
        .bind(vault.clone())
        .bind(now)
        .expect_rows(1);
        let batch = Batch::new().with(state).with(wrap.insert());
        let draft = AuditDraft::of_vault(AuditAction::Created, &Actor::command("lango"));
        match self.write_recorded(batch, draft).await {
            // Another process has created it.
            Ok(()) | Err(KeyStoreError::Changed) => {}
            Err(error) => return Err(error),
        }
        read_state(self.database()).await?.ok_or(KeyStoreError::DamagedMaster)
    }

    /// Writes a batch together with its record, or neither. Returns [`KeyStoreError::Changed`] if the
    /// batch does not fit the database any more.
    pub(crate) async fn write_recorded(
        &self,
        batch: Batch,
        draft: AuditDraft,
    ) -> Result<(), KeyStoreError> {
        let _appending = self.inner.appending.lock().await;
        let database = self.database();
        for _ in 0..MAX_TRIES {
            let last = audit::find_last(database).await?;
            let record = draft.clone().place_after(last.as_ref());
            let whole = batch.clone().with(record.insert()).durability(Durability::PowerLoss);
            match database.write(whole).await {
                Ok(_) => return Ok(()),
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            // Unless another process appended a record first, it is the batch that does not fit.
            if audit::find_last(database).await? == last {
                return Err(KeyStoreError::Changed);
            }
        }
        Err(KeyStoreError::Changed)
    }
}

impl fmt::Debug for KeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyStore")
    }
}
