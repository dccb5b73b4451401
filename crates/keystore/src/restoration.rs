//! Starts a vault anew whose key is lost, with the entries of an export.

use lango_protocol::Timestamp;
use lango_store::{Batch, Statement};

use crate::attempts::reset_attempts;
use crate::audit::AuditDraft;
use crate::entries::{insert_entry, new_entry_identity, seal_entry};
use crate::export::open_export;
use crate::key_file::{create_key_file, lock_key_file};
use crate::master::{MasterKey, WrapPlan};
use crate::state::{WrapKind, advance_state, read_state};
use crate::{Actor, AuditAction, ImportReport, KeyStore, KeyStoreError, SecretBytes};

impl KeyStore {
    /// Replaces everything by the entries of an export, under a new master key that a key file wraps.
    /// What was there and is not in the export is gone, so a vault that opens is refused. All of it is
    /// one transaction.
    pub async fn start_anew(
        &self,
        sealed: Vec<u8>,
        passphrase: &SecretBytes,
        actor: &Actor,
    ) -> Result<ImportReport, KeyStoreError> {
        let document = open_export(sealed, passphrase).await?;
        let state = read_state(self.database()).await?.ok_or(KeyStoreError::NotLost)?;
        match self.master_of(&state).await {
            Ok(_) => return Err(KeyStoreError::NotLost),
            Err(error) if error.means_lost_key() => {}
            // A database that is busy or a file that others can read is no lost key.
            Err(error) => return Err(error),
        }
        let _changing = lock_key_file(&self.inner.settings.key_file).await?;
        let by = create_key_file(&self.inner.settings.key_file)?;
        let master = MasterKey::generate(state.generation + 1)?;
        let plan = WrapPlan {
            vault: &state.vault,
            kind: WrapKind::KeyFile,
            parameters: "{}".to_owned(),
            expires_at: None,
        };
        let mut batch = Batch::new()
            .with(advance_state(&state, master.generation))
            .with(reset_attempts())
            .with(Statement::new("DELETE FROM vault_entries"))
            .with(Statement::new("DELETE FROM vault_wraps"))
            .with(master.wrap(&by, plan)?.insert());
        for entry in &document.entries {
            let (name, value) = entry.decode()?;
            let (identity, attributes) = new_entry_identity(entry.kind, &name, &entry.attributes)?;
            let sealed = seal_entry(&master, &identity, &value)?;
            let now = Timestamp::now();
            batch.push(insert_entry(entry.kind, &name, &attributes, &master, sealed, now));
        }
        let draft = AuditDraft::of_vault(AuditAction::Restored, actor);
        self.write_recorded(batch, draft).await?;
        self.erase_traces().await?;
        self.hold(master, None, &state);
        self.teach_scrubber().await?;
        Ok(ImportReport { stored: document.entries.len(), kept: 0 })
    }
}
