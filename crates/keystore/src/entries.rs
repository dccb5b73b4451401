//! Stores, opens, lists and deletes entries.

use lango_protocol::Timestamp;
use lango_store::{Batch, Row, Statement, StoreError};

use crate::audit::AuditDraft;
use crate::cipher::{EncryptionKey, join_identity, open_sealed, seal};
use crate::master::MasterKey;
use crate::state::{bump_revision, read_state};
use crate::store::{KeyStore, MAX_TRIES};
use crate::{
    Actor, AuditAction, EntryAttributes, EntryInfo, EntryKind, EntryName, KeyStoreError,
    SecretBytes,
};

/// Limits the bytes of a value. Larger things are files, which are encrypted where they are.
const MAX_VALUE_BYTES: usize = 1024 * 1024;

/// An entry as it is stored.
pub(crate) struct StoredEntry {
    pub(crate) info: EntryInfo,
    pub(crate) generation: i64,
    /// The attributes as they were written, which the encryption covers.
    attributes: String,
    data_key: Vec<u8>,
    value: Vec<u8>,
}

/// An entry that is encrypted anew.
pub(crate) struct SealedEntry {
    pub(crate) data_key: Vec<u8>,
    pub(crate) value: Vec<u8>,
}

impl KeyStore {
    /// Stores a value, in place of one that is there.
    pub async fn put(
        &self,
        kind: EntryKind,
        name: &EntryName,
        value: &SecretBytes,
        attributes: EntryAttributes,
        actor: &Actor,
    ) -> Result<EntryInfo, KeyStoreError> {
        self.write_entry(kind, name, value, attributes, actor, true).await
    }

    /// Stores a value under a name that is not used yet.
    pub async fn create(
        &self,
        kind: EntryKind,
        name: &EntryName,
        value: &SecretBytes,
        attributes: EntryAttributes,
        actor: &Actor,
    ) -> Result<EntryInfo, KeyStoreError> {
        self.write_entry(kind, name, value, attributes, actor, false).await
    }

    async fn write_entry(
        &self,
        kind: EntryKind,
        name: &EntryName,
        value: &SecretBytes,
        attributes: EntryAttributes,
        actor: &Actor,
        may_replace: bool,
    ) -> Result<EntryInfo, KeyStoreError> {
        if value.len() > MAX_VALUE_BYTES {
            return Err(KeyStoreError::TooLarge);
        }
        self.learn(kind, name, value);
        let text = serde_json::to_string(&attributes).map_err(|_| KeyStoreError::TooLarge)?;
        for _ in 0..MAX_TRIES {
            let state = self.create_if_missing().await?;
            let master = self.master_of(&state).await?;
            let before = self.find(kind, name).await?;
            if before.is_some() && !may_replace {
                return Err(KeyStoreError::Exists { kind, name: name.clone() });
            }
            let version = before.as_ref().map_or(1, |entry| entry.version + 1);
            let identity = entry_identity(kind, name, version, &text);
            let sealed = seal_entry(&master, &identity, value)?;
            let now = Timestamp::now();
            let statement = match &before {
                None => insert_entry(kind, name, &text, &master, sealed, now),
                Some(old) => update_entry(old, &text, &master, sealed, now),
            };
            let batch = Batch::new().with(bump_revision(master.generation)).with(statement);
            let draft = draft(AuditAction::Stored, kind, name, actor);
            match self.write_recorded(batch, draft).await {
                Ok(()) => {
                    let created_at = before.map_or(now, |entry| entry.created_at);
                    let (name, updated_at) = (name.clone(), now);
                    let (used_at, uses) = (None, 0);
                    let info = EntryInfo {
                        kind,
                        name,
                        version,
                        attributes,
                        created_at,
                        updated_at,
                        used_at,
                        uses,
                    };
                    return Ok(info);
                }
                // The key was replaced, or the entry was changed, in the meantime.
                Err(KeyStoreError::Changed) => {}
                Err(error) => return Err(error),
            }
        }
        Err(KeyStoreError::Changed)
    }

    /// Opens a value for one use, which is recorded before the value is returned.
    pub async fn open_value(
        &self,
        kind: EntryKind,
        name: &EntryName,
        actor: &Actor,
    ) -> Result<SecretBytes, KeyStoreError> {
        let value = self.read_value(kind, name).await?;
        let used = Statement::new(
            "UPDATE vault_entries SET used_at = $1, uses = uses + 1 WHERE kind = $2 AND name = $3",
        )
        .bind(Timestamp::now().as_microseconds())
        .bind(kind.as_str())
        .bind(name.as_str());
        let draft = draft(AuditAction::Used, kind, name, actor);
        self.write_recorded(Batch::new().with(used), draft).await?;
        Ok(value)
    }

    /// Reads a value without a record, for the program itself: its own credentials, exports, rotation.
    pub(crate) async fn read_value(
        &self,
        kind: EntryKind,
        name: &EntryName,
    ) -> Result<SecretBytes, KeyStoreError> {
        for _ in 0..MAX_TRIES {
            let missing = || KeyStoreError::NotFound { kind, name: name.clone() };
            let entry = self.find_stored(kind, name).await?.ok_or_else(missing)?;
            let state = read_state(self.database()).await?.ok_or_else(missing)?;
            let master = self.master_of(&state).await?;
            if entry.generation == master.generation {
                let value = open_entry(&master, &entry)?;
                self.learn(kind, name, &value);
                return Ok(value);
            }
            // The key was replaced between the two reads, or it never fitted.
            if entry.generation > master.generation {
                continue;
            }
            return Err(KeyStoreError::Damaged { kind, name: name.clone() });
        }
        Err(KeyStoreError::Changed)
    }

    /// Reads a credential of the program itself without a record: it is used with every request.
    /// [`KeyStore::open_value`] records the first use.
    pub async fn read_credential(&self, name: &EntryName) -> Result<SecretBytes, KeyStoreError> {
        self.read_value(EntryKind::Credential, name).await
    }

    /// Lists the entries of a kind by their names. It works in a locked vault.
    pub async fn list(&self, kind: EntryKind) -> Result<Vec<EntryInfo>, KeyStoreError> {
        let sql = format!("SELECT {COLUMNS} FROM vault_entries WHERE kind = $1 ORDER BY name");
        let rows = self.database().query(Statement::new(sql).bind(kind.as_str())).await?;
        rows.iter().map(|row| Ok(read_entry(row)?.info)).collect()
    }

    /// Describes an entry; none if there is none.
    pub async fn find(
        &self,
        kind: EntryKind,
        name: &EntryName,
    ) -> Result<Option<EntryInfo>, KeyStoreError> {
        Ok(self.find_stored(kind, name).await?.map(|entry| entry.info))
    }

    /// Deletes an entry, from the database's files too. Returns whether there was one.
    pub async fn delete(
        &self,
        kind: EntryKind,
        name: &EntryName,
        actor: &Actor,
    ) -> Result<bool, KeyStoreError> {
        let Some(entry) = self.find_stored(kind, name).await? else { return Ok(false) };
        let delete = Statement::new("DELETE FROM vault_entries WHERE kind = $1 AND name = $2")
            .bind(kind.as_str())
            .bind(name.as_str())
            .expect_rows(1);
        let state = read_state(self.database()).await?;
        let generation = state.map_or(entry.generation, |state| state.generation);
        let batch = Batch::new().with(bump_revision(generation)).with(delete);
        let draft = draft(AuditAction::Deleted, kind, name, actor);
        self.write_recorded(batch, draft).await?;
        self.erase_traces().await?;
        Ok(true)
    }

    pub(crate) async fn list_stored(&self) -> Result<Vec<StoredEntry>, KeyStoreError> {
        let sql = format!("SELECT {COLUMNS} FROM vault_entries ORDER BY kind, name");
        let rows = self.database().query(Statement::new(sql)).await?;
        Ok(rows.iter().map(read_entry).collect::<Result<_, _>>()?)
    }

    async fn find_stored(
        &self,
        kind: EntryKind,
        name: &EntryName,
    ) -> Result<Option<StoredEntry>, KeyStoreError> {
        let sql = format!("SELECT {COLUMNS} FROM vault_entries WHERE kind = $1 AND name = $2");
        let statement = Statement::new(sql).bind(kind.as_str()).bind(name.as_str());
        let rows = self.database().query(statement).await?;
        Ok(rows.first().map(read_entry).transpose()?)
    }

    fn learn(&self, kind: EntryKind, name: &EntryName, value: &SecretBytes) {
        self.inner.settings.scrubber.add(&scrubbed_name(kind, name), value.reveal());
    }
}

pub(crate) fn scrubbed_name(kind: EntryKind, name: &EntryName) -> String {
    match kind {
        EntryKind::Secret => name.to_string(),
        _ => format!("{} {name}", kind.as_str()),
    }
}

fn draft(action: AuditAction, kind: EntryKind, name: &EntryName, actor: &Actor) -> AuditDraft {
    AuditDraft { action, kind: kind.as_str(), name: name.to_string(), actor: actor.clone() }
}

const COLUMNS: &str = "kind, name, version, generation, attributes, data_key, value, created_at, \
     updated_at, used_at, uses";

fn read_entry(row: &Row) -> Result<StoredEntry, StoreError> {
    let damaged = || StoreError::Query { reason: "an entry of the vault has no valid name".into() };
    let time = Timestamp::from_microseconds;
    let attributes = row.text(4)?.to_owned();
    let info = EntryInfo {
        kind: EntryKind::from_stored(row.text(0)?).ok_or_else(damaged)?,
        name: row.text(1)?.parse().map_err(|_| damaged())?,
        version: row.unsigned(2)?,
        // Attributes that were changed are found when the value is opened.
        attributes: serde_json::from_str(&attributes).unwrap_or_default(),
        created_at: time(row.integer(7)?),
        updated_at: time(row.integer(8)?),
        used_at: row.optional_integer(9)?.map(time),
        uses: row.unsigned(10)?,
    };
    let (data_key, value) = (row.blob(5)?.to_vec(), row.blob(6)?.to_vec());
    Ok(StoredEntry { info, generation: row.integer(3)?, attributes, data_key, value })
}

pub(crate) fn insert_entry(
    kind: EntryKind,
    name: &EntryName,
    attributes: &str,
    master: &MasterKey,
    sealed: SealedEntry,
    now: Timestamp,
) -> Statement {
    Statement::new(
        "INSERT INTO vault_entries (kind, name, version, generation, attributes, data_key, value, \
         created_at, updated_at, used_at, uses) \
         VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $7, NULL, 0) ON CONFLICT (kind, name) DO NOTHING",
    )
    .bind(kind.as_str())
    .bind(name.as_str())
    .bind(master.generation)
    .bind(attributes)
    .bind(sealed.data_key)
    .bind(sealed.value)
    .bind(now.as_microseconds())
    .expect_rows(1)
}

fn update_entry(
    old: &EntryInfo,
    attributes: &str,
    master: &MasterKey,
    sealed: SealedEntry,
    now: Timestamp,
) -> Statement {
    let version = i64::try_from(old.version).unwrap_or(i64::MAX);
    Statement::new(
        "UPDATE vault_entries SET version = version + 1, generation = $1, attributes = $2, \
         data_key = $3, value = $4, updated_at = $5 WHERE kind = $6 AND name = $7 AND version = $8",
    )
    .bind(master.generation)
    .bind(attributes)
    .bind(sealed.data_key)
    .bind(sealed.value)
    .bind(now.as_microseconds())
    .bind(old.kind.as_str())
    .bind(old.name.as_str())
    .bind(version)
    .expect_rows(1)
}

/// Encrypts a value with a new key, and that key with the master key.
pub(crate) fn seal_entry(
    master: &MasterKey,
    identity: &[u8],
    value: &SecretBytes,
) -> Result<SealedEntry, KeyStoreError> {
    let data_key = EncryptionKey::generate()?;
    let wrapped = seal(&master.key, identity, data_key.reveal())?;
    Ok(SealedEntry { data_key: wrapped, value: seal(&data_key, identity, value.reveal())? })
}

/// Decrypts a value. Fails if anything in its row was changed, or belongs to another row.
pub(crate) fn open_entry(
    master: &MasterKey,
    entry: &StoredEntry,
) -> Result<SecretBytes, KeyStoreError> {
    let identity = entry.identity();
    let open = || {
        let data_key = open_sealed(&master.key, &identity, &entry.data_key)?;
        open_sealed(&EncryptionKey::from_bytes(data_key.reveal())?, &identity, &entry.value)
    };
    let EntryInfo { kind, name, .. } = &entry.info;
    open().ok_or_else(|| KeyStoreError::Damaged { kind: *kind, name: name.clone() })
}

impl StoredEntry {
    pub(crate) fn identity(&self) -> Vec<u8> {
        let EntryInfo { kind, name, version, .. } = &self.info;
        entry_identity(*kind, name, *version, &self.attributes)
    }
}

/// Returns the identity of an entry that is stored for the first time, and its attributes as they are
/// written.
pub(crate) fn new_entry_identity(
    kind: EntryKind,
    name: &EntryName,
    attributes: &EntryAttributes,
) -> Result<(Vec<u8>, String), KeyStoreError> {
    let text = serde_json::to_string(attributes).map_err(|_| KeyStoreError::TooLarge)?;
    Ok((entry_identity(kind, name, 1, &text), text))
}

fn entry_identity(kind: EntryKind, name: &EntryName, version: u64, attributes: &str) -> Vec<u8> {
    let version = version.to_string();
    join_identity(&["entry", kind.as_str(), name.as_str(), &version, attributes])
}
