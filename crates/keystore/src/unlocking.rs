//! Unlocks and locks the vault.

use std::fmt;
use std::time::Duration;

use lango_protocol::Timestamp;
use lango_store::{Batch, Statement};

use crate::attempts::{begin_attempt, reset_attempts};
use crate::audit::AuditDraft;
use crate::cipher::EncryptionKey;
use crate::given_passphrase::GivenUse;
use crate::key_file::read_key_file;
use crate::keyring::KeyringItem;
use crate::master::MasterKey;
use crate::passphrase::Derivation;
use crate::session::{delete_expired, delete_sessions};
use crate::state::{VaultState, Wrap, WrapKind, list_wraps, read_state};
use crate::store::KeyStore;
use crate::{Actor, AuditAction, KeyStoreError, SecretBytes};

/// The master key of an unlocked vault.
#[derive(Clone)]
pub(crate) struct UnlockedKey {
    pub(crate) master: MasterKey,
    /// Until when it is used; none if the key file or the keyring unlocks the vault anyway.
    pub(crate) until: Option<Timestamp>,
    /// How often the vault was locked before.
    pub(crate) lock_epoch: i64,
}

impl fmt::Debug for UnlockedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnlockedKey").field("until", &self.until).finish_non_exhaustive()
    }
}

impl KeyStore {
    /// Unlocks the vault with its passphrase, for this process and those of the same user.
    pub async fn unlock(
        &self,
        passphrase: &SecretBytes,
        time: Option<Duration>,
        actor: &Actor,
    ) -> Result<Timestamp, KeyStoreError> {
        let state = read_state(self.database()).await?.ok_or(KeyStoreError::NoPassphrase)?;
        let master = self.check_passphrase(&state, passphrase, actor).await?;
        let until = Timestamp::now().plus(time.unwrap_or(self.inner.settings.unlock_time));
        let session = self.create_session(&state, &master, until)?;
        let batch =
            Batch::new().with(reset_attempts()).with(delete_expired()).with(session.insert());
        let draft = AuditDraft::of_vault(AuditAction::Unlocked, actor);
        self.write_recorded(batch, draft).await?;
        self.hold(master, Some(until), &state);
        Ok(until)
    }

    /// Locks the vault for every process.
    pub async fn lock(&self, actor: &Actor) -> Result<(), KeyStoreError> {
        let state = read_state(self.database()).await?.ok_or(KeyStoreError::NoPassphrase)?;
        let wraps = list_wraps(self.database()).await?;
        if !wraps.iter().any(|wrap| wrap.kind == WrapKind::Passphrase) {
            return Err(KeyStoreError::NoPassphrase);
        }
        let lock =
            Statement::new("UPDATE vault_state SET lock_epoch = lock_epoch + 1 WHERE id = 1");
        let batch = Batch::new().with(lock).with(delete_sessions());
        let draft = AuditDraft::of_vault(AuditAction::Locked, actor);
        self.write_recorded(batch, draft).await?;
        self.remove_session_file(&state.vault);
        *self.inner.unlocked.write() = None;
        Ok(())
    }

    /// Returns the master key. Fails if the vault is locked or was never created.
    pub(crate) async fn master(&self) -> Result<MasterKey, KeyStoreError> {
        let state = read_state(self.database()).await?.ok_or(KeyStoreError::Locked)?;
        self.master_of(&state).await
    }

    /// Returns the master key of a vault in this state.
    pub(crate) async fn master_of(&self, state: &VaultState) -> Result<MasterKey, KeyStoreError> {
        self.inner.given.lock().note_state(state);
        let held = self.inner.unlocked.read().clone();
        // What was locked since, or is held too long, is forgotten.
        let held = held.filter(|held| {
            held.lock_epoch == state.lock_epoch
                && held.until.is_none_or(|until| Timestamp::now() < until)
        });
        if let Some(held) = &held
            && held.master.generation == state.generation
        {
            return Ok(held.master.clone());
        }
        let wraps = list_wraps(self.database()).await?;
        let followed = held.and_then(|held| {
            follow_succession(held.master, state, &wraps).map(|master| (master, held.until))
        });
        let (master, until) = if let Some(followed) = followed {
            followed
        } else {
            *self.inner.unlocked.write() = None;
            self.find_master(state, &wraps).await?
        };
        self.hold(master.clone(), until, state);
        Ok(master)
    }

    pub(crate) fn hold(&self, master: MasterKey, until: Option<Timestamp>, state: &VaultState) {
        let lock_epoch = state.lock_epoch;
        *self.inner.unlocked.write() = Some(UnlockedKey { master, until, lock_epoch });
    }

    /// Unlocks the vault with what this process has: the key file, the keyring, a session, or a
    /// passphrase that it was started with.
    async fn find_master(
        &self,
        state: &VaultState,
        wraps: &[Wrap],
    ) -> Result<(MasterKey, Option<Timestamp>), KeyStoreError> {
        if let Some(wrap) = wraps.iter().find(|wrap| wrap.kind == WrapKind::KeyFile) {
            return Ok((self.unwrap_with_key_file(state, wrap)?, None));
        }
        if let Some(wrap) = wraps.iter().find(|wrap| wrap.kind == WrapKind::Keyring) {
            let (_, master) = self.unwrap_with_keyring(state, wrap).await?;
            return Ok((master, None));
        }
        if let Some((master, until)) = self.open_session(state, wraps)
            && let Some(master) = follow_succession(master, state, wraps)
        {
            return Ok((master, until));
        }
        Ok((self.unwrap_with_given_passphrase(state, wraps).await?, None))
    }

    /// Returns the master key, if the process was started with the passphrase. A variable that does not
    /// fit is tried once: the user would have to wait for its guesses.
    async fn unwrap_with_given_passphrase(
        &self,
        state: &VaultState,
        wraps: &[Wrap],
    ) -> Result<MasterKey, KeyStoreError> {
        let wrap = wraps.iter().find(|wrap| wrap.kind == WrapKind::Passphrase);
        let (Some(passphrase), Some(wrap)) = (&self.inner.settings.passphrase, wrap) else {
            return Err(KeyStoreError::Locked);
        };
        let decided = self.inner.given.lock().decide_use(state, wrap);
        match decided {
            GivenUse::Allowed => {}
            GivenUse::Locked => return Err(KeyStoreError::Locked),
            GivenUse::Refused => return Err(KeyStoreError::OtherVariable),
        }
        let actor = Actor::command("lango").with_purpose("LANGO_VAULT_PASSPHRASE");
        match self.check_passphrase(state, passphrase, &actor).await {
            Ok(master) => {
                self.database().write(reset_attempts().into()).await?;
                Ok(master)
            }
            Err(KeyStoreError::WrongPassphrase) => {
                self.inner.given.lock().note_refusal(wrap);
                Err(KeyStoreError::OtherVariable)
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn unwrap_with_key_file(
        &self,
        state: &VaultState,
        wrap: &Wrap,
    ) -> Result<MasterKey, KeyStoreError> {
        let path = &self.inner.settings.key_file;
        let by = read_key_file(path)?.ok_or_else(|| KeyStoreError::MissingKeyFile(path.clone()))?;
        wrap.unwrap_with(&by, state).ok_or_else(|| KeyStoreError::OtherKeyFile(path.clone()))
    }

    /// Returns the key of the keyring and the master key that it wraps.
    pub(crate) async fn unwrap_with_keyring(
        &self,
        state: &VaultState,
        wrap: &Wrap,
    ) -> Result<(EncryptionKey, MasterKey), KeyStoreError> {
        let opened = KeyringItem::from_parameters(&wrap.parameters)?.read().await;
        let unwrapped = opened.and_then(|by| {
            let master = wrap.unwrap_with(&by, state).ok_or(KeyStoreError::MissingKeyringKey)?;
            Ok((by, master))
        });
        if matches!(unwrapped, Err(KeyStoreError::MissingKeyringKey)) {
            // Another process may have replaced the key since the wrap was read.
            let wraps = list_wraps(self.database()).await?;
            if wraps.iter().all(|present| present.id != wrap.id) {
                return Err(KeyStoreError::Changed);
            }
        }
        unwrapped
    }

    /// Returns the master key if the passphrase is right.
    pub(crate) async fn check_passphrase(
        &self,
        state: &VaultState,
        passphrase: &SecretBytes,
        actor: &Actor,
    ) -> Result<MasterKey, KeyStoreError> {
        let (_, master) = self.open_with_passphrase(state, passphrase, actor).await?;
        Ok(master)
    }

    /// Returns the key of the passphrase and the master key, if the passphrase is right. A wrong one
    /// is counted and recorded.
    pub(crate) async fn open_with_passphrase(
        &self,
        state: &VaultState,
        passphrase: &SecretBytes,
        actor: &Actor,
    ) -> Result<(EncryptionKey, MasterKey), KeyStoreError> {
        let wraps = list_wraps(self.database()).await?;
        let wrap = wraps.iter().find(|wrap| wrap.kind == WrapKind::Passphrase);
        let wrap = wrap.ok_or(KeyStoreError::NoPassphrase)?;
        let derivation: Derivation =
            serde_json::from_str(&wrap.parameters).map_err(|_| KeyStoreError::DamagedMaster)?;
        begin_attempt(self.database()).await?;
        let by = derivation.derive(passphrase).await?;
        let Some(master) = wrap.unwrap_with(&by, state) else {
            let draft = AuditDraft::of_vault(AuditAction::UnlockFailed, actor);
            self.write_recorded(Batch::new(), draft).await?;
            return Err(KeyStoreError::WrongPassphrase);
        };
        Ok((by, master))
    }
}

/// Goes from a master key to the present one, over those that replaced it.
fn follow_succession(
    mut master: MasterKey,
    state: &VaultState,
    wraps: &[Wrap],
) -> Option<MasterKey> {
    while master.generation < state.generation {
        let next = master.generation + 1;
        let wrap = wraps
            .iter()
            .find(|wrap| wrap.kind == WrapKind::Succession && wrap.generation == next)?;
        master = wrap.unwrap_with(&master.key, state)?;
    }
    (master.generation == state.generation).then_some(master)
}
