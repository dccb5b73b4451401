//! Encrypts and decrypts in the format of [age](https://age-encryption.org), for keys of others and
//! for programs of others. Data of any size goes through in pieces.

use std::io::{BufReader, Read, Write};

use age::armor::{ArmoredReader, ArmoredWriter, Format};
use age::x25519::{Identity, Recipient};
use lango_keystore::{Actor, EntryKind, EntryName, KeyStore, KeyStoreError, SecretBytes};
use lango_tool::{ToolContext, ToolError};
use zeroize::Zeroizing;

use super::source::{PIECE_BYTES, read_piece};
use crate::agent::convert_error;

const KIND: EntryKind = EntryKind::Age;
/// Begins the public part of a key.
const RECIPIENT_PREFIX: &str = "age1";
/// Begins a file, and a text in armor.
const BEGINNINGS: [&[u8]; 2] = [b"age-encryption.org/v1", b"-----BEGIN AGE ENCRYPTED FILE-----"];
/// Ends the name of a file.
pub(super) const SUFFIX: &str = ".age";
/// Limits how many bytes tell what a file is.
pub(super) const MAX_BEGINNING_BYTES: usize = 34;

/// Tells whether data that begins like this is in the format of age.
pub(super) fn is_age(beginning: &[u8]) -> bool {
    BEGINNINGS.iter().any(|known| beginning.starts_with(known))
}

/// Returns a new key and its public part.
pub(super) fn generate_identity() -> (SecretBytes, String) {
    use age::secrecy::ExposeSecret as _;
    let identity = Identity::generate();
    let text = identity.to_string().expose_secret().to_owned();
    (SecretBytes::from(text), identity.to_public().to_string())
}

/// Finds who receives: a public key such as `age1…`, or an age key of the vault by its name. None if it
/// is neither.
pub(super) async fn find_recipient(
    store: &KeyStore,
    key: &str,
) -> Result<Option<Recipient>, ToolError> {
    if key.starts_with(RECIPIENT_PREFIX) {
        let parsed = key.parse::<Recipient>().map(Some);
        return parsed.map_err(|reason| {
            ToolError::Failed(format!("{key} is no public key of age: {reason}"))
        });
    }
    let Ok(name) = key.parse::<EntryName>() else { return Ok(None) };
    let entry = store.find(KIND, &name).await.map_err(convert_error)?;
    let public = entry.and_then(|entry| entry.attributes.public);
    Ok(public.and_then(|public| public.parse().ok()))
}

/// Opens the keys that may decrypt: the one of this name, or all of the vault.
pub(super) async fn open_identities(
    store: &KeyStore,
    key: Option<&str>,
    actor: &Actor,
) -> Result<Vec<Identity>, ToolError> {
    let names: Vec<EntryName> = if let Some(name) = key {
        vec![crate::secrets::parse_name(name)?]
    } else {
        let all = store.list(KIND).await.map_err(convert_error)?;
        all.into_iter().map(|entry| entry.name).collect()
    };
    if names.is_empty() {
        return Err(ToolError::Failed(
            "the vault has no age key. Create one with crypto_create_key and the kind age".into(),
        ));
    }
    let mut identities = Vec::with_capacity(names.len());
    for name in names {
        let value = store.open_value(KIND, &name, actor).await.map_err(convert_error)?;
        let identity = value.reveal_text().and_then(|text| text.parse().ok());
        let damaged = || convert_error(KeyStoreError::Damaged { kind: KIND, name: name.clone() });
        identities.push(identity.ok_or_else(damaged)?);
    }
    Ok(identities)
}

/// Encrypts a source to its end for one recipient, and returns how many bytes it had.
pub(super) fn encrypt_for(
    recipient: &Recipient,
    source: &mut dyn Read,
    target: &mut dyn Write,
    armored: bool,
    context: &ToolContext,
) -> Result<u64, ToolError> {
    let recipients = std::iter::once(recipient as &dyn age::Recipient);
    let encryptor = age::Encryptor::with_recipients(recipients).map_err(|error| failed(&error))?;
    let format = if armored { Format::AsciiArmor } else { Format::Binary };
    let armor = ArmoredWriter::wrap_output(target, format).map_err(|error| failed(&error))?;
    let mut writer = encryptor.wrap_output(armor).map_err(|error| failed(&error))?;
    let total = copy(source, &mut writer, context)?;
    let armor = writer.finish().map_err(|error| failed(&error))?;
    armor.finish().map_err(|error| failed(&error))?;
    Ok(total)
}

/// Decrypts a source to its end, and returns how many bytes it is.
pub(super) fn decrypt_with(
    identities: &[Identity],
    source: &mut dyn Read,
    target: &mut dyn Write,
    context: &ToolContext,
) -> Result<u64, ToolError> {
    let changed = || ToolError::Failed("the data was changed or cut short".to_owned());
    let armor = ArmoredReader::new(BufReader::new(source));
    let decryptor = age::Decryptor::new_buffered(armor).map_err(|_| changed())?;
    let identities = identities.iter().map(|identity| identity as &dyn age::Identity);
    let mut reader = decryptor.decrypt(identities).map_err(|_| {
        ToolError::Failed("it was encrypted for another key, or it was changed".to_owned())
    })?;
    copy(&mut reader, target, context).map_err(|error| match error {
        ToolError::Cancelled => error,
        _ => changed(),
    })
}

fn copy(
    source: &mut dyn Read,
    target: &mut dyn Write,
    context: &ToolContext,
) -> Result<u64, ToolError> {
    let mut piece = Zeroizing::new(vec![0; PIECE_BYTES]);
    let mut total = 0;
    loop {
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let count = read_piece(source, &mut piece)?;
        target.write_all(&piece[..count]).map_err(|error| failed(&error))?;
        total += count as u64;
        if count < piece.len() {
            return Ok(total);
        }
    }
}

fn failed(error: &dyn std::fmt::Display) -> ToolError {
    ToolError::Failed(format!("encryption failed: {error}"))
}
