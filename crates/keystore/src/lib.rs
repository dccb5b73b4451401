//! Keeps secrets and keys in the database, each encrypted with a key of its own.
//!
//! A *master key* encrypts the keys of the values. It is stored only wrapped: by a key file, by a key in
//! the system's keyring, or by a passphrase ([`KeyStore::unlock`]). Every use of a value is recorded in a chain of hashes
//! ([`AuditRecord`]). A [`SecretHandles`] gives out names for values that only the program resolves.
//! Who may use a value is decided by the runtime and its user.

mod attempts;
mod audit;
mod cipher;
mod entries;
mod entry;
mod error;
mod export;
mod given_passphrase;
mod handles;
mod header_secret;
mod key_file;
mod keyring;
mod master;
mod passphrase;
mod process;
mod restoration;
mod rotation;
mod schema;
mod scrubbing;
mod secret;
mod session;
mod settings;
mod state;
mod store;
mod unlocking;
mod value_sealer;

pub use audit::{Actor, AuditAction, AuditProblem, AuditRecord, AuditVerification};
pub use cipher::{EncryptionKey, open_sealed, seal};
pub use entry::{EntryAttributes, EntryInfo, EntryKind, EntryName, InvalidEntryName};
pub use error::KeyStoreError;
pub use export::ImportReport;
pub use handles::{HandleInfo, HandlePlace, HandleRequest, HandleUse, SecretHandles};
pub use header_secret::HeaderSecret;
pub use passphrase::DerivationCost;
pub use process::protect_process_memory;
pub use secret::SecretBytes;
pub use settings::KeyStoreSettings;
pub use store::{KeyStore, Protection, VaultStatus};
pub use value_sealer::ValueSealer;

/// The parts of the database's schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[lango_store::SchemaComponent] = &[schema::COMPONENT];
