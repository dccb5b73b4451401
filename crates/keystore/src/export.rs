//! Exports everything to an `age` file, and imports it again.

use std::io::{Read as _, Write as _};

use age::secrecy::SecretString;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lango_store::Batch;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use crate::audit::AuditDraft;
use crate::entries::open_entry;
use crate::{
    Actor, AuditAction, EntryAttributes, EntryKind, EntryName, KeyStore, KeyStoreError, SecretBytes,
};

/// The document inside of an export.
#[derive(Serialize, Deserialize)]
pub(crate) struct ExportDocument {
    format: u32,
    pub(crate) entries: Vec<ExportedEntry>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ExportedEntry {
    pub(crate) kind: EntryKind,
    name: String,
    pub(crate) attributes: EntryAttributes,
    /// In base64.
    value: String,
}

impl ExportedEntry {
    /// Returns its name and its value.
    pub(crate) fn decode(&self) -> Result<(EntryName, SecretBytes), KeyStoreError> {
        let value = STANDARD.decode(&self.value).map_err(|_| KeyStoreError::Export)?;
        Ok((self.name.parse()?, SecretBytes::new(value)))
    }
}

impl Drop for ExportedEntry {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

const FORMAT: u32 = 1;

/// Says what an import did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// The entries that were stored.
    pub stored: usize,
    /// The entries that were left alone, because there is one of that name.
    pub kept: usize,
}

impl KeyStore {
    /// Returns everything, encrypted with a passphrase as an `age` file. The key file or passphrase of
    /// the vault is not needed to import it.
    pub async fn export(
        &self,
        passphrase: &SecretBytes,
        actor: &Actor,
    ) -> Result<Vec<u8>, KeyStoreError> {
        let master = self.master().await?;
        let mut entries = Vec::new();
        for entry in self.list_stored().await? {
            let value = open_entry(&master, &entry)?;
            entries.push(ExportedEntry {
                kind: entry.info.kind,
                name: entry.info.name.to_string(),
                attributes: entry.info.attributes.clone(),
                value: STANDARD.encode(value.reveal()),
            });
        }
        let document = ExportDocument { format: FORMAT, entries };
        let text = serde_json::to_vec(&document).map_err(|_| KeyStoreError::TooLarge)?;
        let (text, passphrase) = (Zeroizing::new(text), secret_string(passphrase)?);
        let sealed = tokio::task::spawn_blocking(move || encrypt(&text, passphrase)).await;
        let sealed = sealed.map_err(|_| KeyStoreError::Derivation)??;
        let draft = AuditDraft::of_vault(AuditAction::Exported, actor);
        self.write_recorded(Batch::new(), draft).await?;
        Ok(sealed)
    }

    /// Stores the entries of an export. Those that are there already stay, unless `replace` is set.
    pub async fn import(
        &self,
        sealed: Vec<u8>,
        passphrase: &SecretBytes,
        replace: bool,
        actor: &Actor,
    ) -> Result<ImportReport, KeyStoreError> {
        let document = open_export(sealed, passphrase).await?;
        let mut report = ImportReport { stored: 0, kept: 0 };
        for entry in &document.entries {
            let (name, value) = entry.decode()?;
            if !replace && self.find(entry.kind, &name).await?.is_some() {
                report.kept += 1;
                continue;
            }
            let attributes = entry.attributes.clone();
            self.put(entry.kind, &name, &value, attributes, actor).await?;
            report.stored += 1;
        }
        let draft = AuditDraft::of_vault(AuditAction::Imported, actor);
        self.write_recorded(Batch::new(), draft).await?;
        Ok(report)
    }
}

/// Reads an export.
pub(crate) async fn open_export(
    sealed: Vec<u8>,
    passphrase: &SecretBytes,
) -> Result<ExportDocument, KeyStoreError> {
    let passphrase = secret_string(passphrase)?;
    let text = tokio::task::spawn_blocking(move || decrypt(&sealed, passphrase)).await;
    let text = text.map_err(|_| KeyStoreError::Derivation)??;
    let document: ExportDocument =
        serde_json::from_slice(&text).map_err(|_| KeyStoreError::Export)?;
    if document.format == FORMAT { Ok(document) } else { Err(KeyStoreError::Export) }
}

fn secret_string(passphrase: &SecretBytes) -> Result<SecretString, KeyStoreError> {
    let text = passphrase.reveal_text().ok_or(KeyStoreError::ShortPassphrase)?;
    Ok(SecretString::from(text.to_owned()))
}

fn encrypt(text: &[u8], passphrase: SecretString) -> Result<Vec<u8>, KeyStoreError> {
    let mut sealed = Vec::new();
    let written = age::Encryptor::with_user_passphrase(passphrase)
        .wrap_output(&mut sealed)
        .and_then(|mut writer| writer.write_all(text).and_then(|()| writer.finish().map(drop)));
    written.map_err(|_| KeyStoreError::TooLarge)?;
    Ok(sealed)
}

fn decrypt(sealed: &[u8], passphrase: SecretString) -> Result<Zeroizing<Vec<u8>>, KeyStoreError> {
    let decryptor = age::Decryptor::new(sealed).map_err(|_| KeyStoreError::Export)?;
    let identity = age::scrypt::Identity::new(passphrase);
    let identities = std::iter::once(&identity as &dyn age::Identity);
    let mut reader = decryptor.decrypt(identities).map_err(|_| KeyStoreError::WrongExport)?;
    let mut text = Zeroizing::new(Vec::new());
    reader.read_to_end(&mut text).map_err(|_| KeyStoreError::Export)?;
    Ok(text)
}
