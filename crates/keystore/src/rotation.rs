//! Replaces the master key and what protects it, while other processes use the vault.

use lango_protocol::Timestamp;
use lango_store::{Batch, Statement};

use crate::audit::AuditDraft;
use crate::cipher::EncryptionKey;
use crate::entries::{StoredEntry, open_entry, seal_entry};
use crate::key_file::{create_key_file, lock_key_file, read_key_file};
use crate::keyring::KeyringItem;
use crate::master::{MasterKey, WrapPlan};
use crate::passphrase::Derivation;
use crate::state::{VaultState, WrapKind, advance_state, list_wraps, read_state};
use crate::store::KeyStore;
use crate::{Actor, AuditAction, KeyStoreError, SecretBytes};

/// Sets the minimum length of a passphrase.
const MIN_PASSPHRASE_BYTES: usize = 8;

impl KeyStore {
    /// Sets the passphrase, in place of the key file, of the keyring or of the passphrase `old`.
    /// Unlocked processes stay unlocked. The key file is removed: what it opens would not need the passphrase.
    pub async fn set_passphrase(
        &self,
        old: Option<&SecretBytes>,
        new: &SecretBytes,
        actor: &Actor,
    ) -> Result<(), KeyStoreError> {
        if new.len() < MIN_PASSPHRASE_BYTES {
            return Err(KeyStoreError::ShortPassphrase);
        }
        let state = self.create_if_missing().await?;
        let (_, master) = self.authenticate(&state, old, actor).await?;
        let derivation = Derivation::generate(self.inner.settings.derivation_cost)?;
        let by = derivation.derive(new).await?;
        let parameters =
            serde_json::to_string(&derivation).map_err(|_| KeyStoreError::Derivation)?;
        let replaced = self.list_keyring_items().await?;
        let _changing = self.lock_key_file().await?;
        self.replace_wrap(&state, &master, &by, WrapKind::Passphrase, parameters, actor).await?;
        delete_items(&replaced).await;
        self.remove_key_file();
        let until = Timestamp::now().plus(self.inner.settings.unlock_time);
        self.hold(master, Some(until), &state);
        Ok(())
    }

    /// Lets a key file unlock the vault from now on, in place of the keyring or the passphrase `old`.
    pub async fn use_key_file(
        &self,
        old: Option<&SecretBytes>,
        actor: &Actor,
    ) -> Result<(), KeyStoreError> {
        let state = self.create_if_missing().await?;
        let (_, master) = self.authenticate(&state, old, actor).await?;
        let replaced = self.list_keyring_items().await?;
        let _changing = self.lock_key_file().await?;
        let by = create_key_file(&self.inner.settings.key_file)?;
        let kind = WrapKind::KeyFile;
        self.replace_wrap(&state, &master, &by, kind, "{}".to_owned(), actor).await?;
        delete_items(&replaced).await;
        self.hold(master, None, &state);
        Ok(())
    }

    /// Lets a new key in the system's keyring unlock the vault from now on, in place of the key file,
    /// which is removed, or of the passphrase `old`.
    pub async fn use_keyring(
        &self,
        old: Option<&SecretBytes>,
        actor: &Actor,
    ) -> Result<(), KeyStoreError> {
        let state = self.create_if_missing().await?;
        let (_, master) = self.authenticate(&state, old, actor).await?;
        let (item, by) = (KeyringItem::generate(&state.vault), EncryptionKey::generate()?);
        item.store(&by).await?;
        let replaced = self.list_keyring_items().await?;
        let (kind, parameters) = (WrapKind::Keyring, item.to_parameters()?);
        let _changing = self.lock_key_file().await?;
        let changed = self.replace_wrap(&state, &master, &by, kind, parameters, actor).await;
        if let Err(error) = changed {
            delete_items(&[item]).await;
            return Err(error);
        }
        delete_items(&replaced).await;
        self.remove_key_file();
        self.hold(master, None, &state);
        Ok(())
    }

    /// Keeps other processes from changing the key file until the result is dropped: one that is about to
    /// use it again must not find it removed.
    async fn lock_key_file(&self) -> Result<std::fs::File, KeyStoreError> {
        lock_key_file(&self.inner.settings.key_file).await
    }

    /// Removes the key file, which would open nothing any more.
    fn remove_key_file(&self) {
        if let Err(error) = std::fs::remove_file(&self.inner.settings.key_file)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the key file, which opens nothing any more, is still there");
        }
    }

    async fn list_keyring_items(&self) -> Result<Vec<KeyringItem>, KeyStoreError> {
        let wraps = list_wraps(self.database()).await?;
        let items = wraps.iter().filter(|wrap| wrap.kind == WrapKind::Keyring);
        items.map(|wrap| KeyringItem::from_parameters(&wrap.parameters)).collect()
    }

    /// Replaces the master key and the key of every value. Processes that are unlocked go on with the
    /// new key, unless `revoke` is set: then the old key leads nowhere, and they are locked.
    pub async fn rotate(
        &self,
        passphrase: Option<&SecretBytes>,
        revoke: bool,
        actor: &Actor,
    ) -> Result<i64, KeyStoreError> {
        let state = read_state(self.database()).await?.ok_or(KeyStoreError::Locked)?;
        match self.rotate_from(&state, passphrase, revoke, actor).await {
            // What another process encrypts anew meanwhile does not open with the key of before.
            Err(
                KeyStoreError::Damaged { .. }
                | KeyStoreError::DamagedMaster
                | KeyStoreError::OtherKeyFile(_)
                | KeyStoreError::MissingKeyFile(_)
                | KeyStoreError::MissingKeyringKey,
            ) if read_state(self.database()).await?.as_ref() != Some(&state) => {
                Err(KeyStoreError::Changed)
            }
            result => result,
        }
    }

    async fn rotate_from(
        &self,
        state: &VaultState,
        passphrase: Option<&SecretBytes>,
        revoke: bool,
        actor: &Actor,
    ) -> Result<i64, KeyStoreError> {
        let (by, old) = self.authenticate(state, passphrase, actor).await?;
        let new = MasterKey::generate(state.generation + 1)?;
        let mut batch = Batch::new().with(advance_state(state, new.generation));
        for entry in self.list_stored().await? {
            batch.push(reseal(&old, &new, &entry)?);
        }
        self.add_wraps(&mut batch, state, &old, &new, &by, revoke).await?;
        let draft = AuditDraft::of_vault(AuditAction::Rotated, actor);
        self.write_recorded(batch, draft).await?;
        self.erase_traces().await?;
        let until = self.inner.unlocked.read().as_ref().and_then(|held| held.until);
        self.hold(new.clone(), until, state);
        Ok(new.generation)
    }

    /// Adds the statements that wrap the new master key as the old one was.
    async fn add_wraps(
        &self,
        batch: &mut Batch,
        state: &VaultState,
        old: &MasterKey,
        new: &MasterKey,
        by: &EncryptionKey,
        revoke: bool,
    ) -> Result<(), KeyStoreError> {
        let wraps = list_wraps(self.database()).await?;
        let lasting = wraps
            .iter()
            .find(|wrap| {
                matches!(wrap.kind, WrapKind::KeyFile | WrapKind::Keyring | WrapKind::Passphrase)
            })
            .ok_or(KeyStoreError::DamagedMaster)?;
        let plan = |kind, parameters: &str, expires_at| WrapPlan {
            vault: &state.vault,
            kind,
            parameters: parameters.to_owned(),
            expires_at,
        };
        let wrap = new.wrap(by, plan(lasting.kind, &lasting.parameters, None))?;
        batch.push(delete_lasting_wraps());
        batch.push(wrap.insert());
        if revoke {
            batch.push(crate::session::delete_sessions());
        } else {
            let until = Timestamp::now().plus(self.inner.settings.unlock_time);
            let succession = plan(WrapKind::Succession, "{}", Some(until));
            batch.push(new.wrap(&old.key, succession)?.insert());
        }
        Ok(())
    }

    /// Returns the key that wraps the master key, and the master key. Being unlocked is not enough for
    /// a change of keys where there is a passphrase.
    async fn authenticate(
        &self,
        state: &VaultState,
        passphrase: Option<&SecretBytes>,
        actor: &Actor,
    ) -> Result<(EncryptionKey, MasterKey), KeyStoreError> {
        let wraps = list_wraps(self.database()).await?;
        if let Some(wrap) = wraps.iter().find(|wrap| wrap.kind == WrapKind::KeyFile) {
            let path = &self.inner.settings.key_file;
            let by =
                read_key_file(path)?.ok_or_else(|| KeyStoreError::MissingKeyFile(path.clone()))?;
            let other = || KeyStoreError::OtherKeyFile(path.clone());
            let master = wrap.unwrap_with(&by, state).ok_or_else(other)?;
            return Ok((by, master));
        }
        if let Some(wrap) = wraps.iter().find(|wrap| wrap.kind == WrapKind::Keyring) {
            return self.unwrap_with_keyring(state, wrap).await;
        }
        let passphrase = passphrase.ok_or(KeyStoreError::PassphraseNeeded)?;
        let opened = self.open_with_passphrase(state, passphrase, actor).await?;
        self.database().write(crate::attempts::reset_attempts().into()).await?;
        Ok(opened)
    }

    async fn replace_wrap(
        &self,
        state: &VaultState,
        master: &MasterKey,
        by: &EncryptionKey,
        kind: WrapKind,
        parameters: String,
        actor: &Actor,
    ) -> Result<(), KeyStoreError> {
        let plan = WrapPlan { vault: &state.vault, kind, parameters, expires_at: None };
        let batch = Batch::new()
            .with(advance_state(state, state.generation))
            .with(delete_lasting_wraps())
            .with(crate::attempts::reset_attempts())
            .with(master.wrap(by, plan)?.insert());
        let action = match kind {
            WrapKind::Passphrase => AuditAction::PassphraseChanged,
            _ => AuditAction::ProtectionChanged,
        };
        let draft = AuditDraft::of_vault(action, actor);
        self.write_recorded(batch, draft).await?;
        self.erase_traces().await?;
        Ok(())
    }
}

async fn delete_items(items: &[KeyringItem]) {
    for item in items {
        item.delete().await;
    }
}

fn delete_lasting_wraps() -> Statement {
    Statement::new("DELETE FROM vault_wraps WHERE kind IN ('key_file', 'keyring', 'passphrase')")
}

/// Returns the statement that encrypts an entry anew.
fn reseal(
    old: &MasterKey,
    new: &MasterKey,
    entry: &StoredEntry,
) -> Result<Statement, KeyStoreError> {
    let value = open_entry(old, entry)?;
    let sealed = seal_entry(new, &entry.identity(), &value)?;
    Ok(Statement::new(
        "UPDATE vault_entries SET generation = $1, data_key = $2, value = $3 \
         WHERE kind = $4 AND name = $5",
    )
    .bind(new.generation)
    .bind(sealed.data_key)
    .bind(sealed.value)
    .bind(entry.info.kind.as_str())
    .bind(entry.info.name.as_str())
    .expect_rows(1))
}
