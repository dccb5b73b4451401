//! Defines the errors of the key store.

use std::path::PathBuf;

use lango_store::StoreError;

use crate::{EntryKind, EntryName, InvalidEntryName};

/// Describes why the key store did not do what it was asked to. Each message names the next step.
#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    /// For the user: the vault has a passphrase, and it is not known here.
    #[error("the vault is locked. Unlock it: lango vault unlock")]
    Locked,
    /// For the user: the passphrase is another one.
    #[error("the passphrase is wrong. Try again: lango vault unlock")]
    WrongPassphrase,
    /// For the operator of the machine: the process was started with another passphrase.
    #[error(
        "LANGO_VAULT_PASSPHRASE is not the passphrase of the vault. Start again with the right one, or \
         unlock the vault: lango vault unlock"
    )]
    OtherVariable,
    /// For the user: there were too many wrong passphrases.
    #[error("too many wrong passphrases. Wait {seconds} s, then: lango vault unlock")]
    Backoff {
        /// How long to wait.
        seconds: u64,
    },
    /// For the user: the vault has no passphrase that could be checked.
    #[error(
        "the vault has no passphrase; its key file unlocks it. Set one: lango vault passphrase"
    )]
    NoPassphrase,
    /// For the user: a passphrase must be given for this, although the vault is unlocked.
    #[error("this needs the passphrase of the vault. Run it at a terminal")]
    PassphraseNeeded,
    /// For the user: an empty passphrase protects nothing.
    #[error("the passphrase is shorter than 8 characters. Choose a longer one")]
    ShortPassphrase,
    /// For the operator of the machine: the key file is gone.
    #[error(
        "the key file of the vault, {}, is missing. Put it back from a backup (on a second server: \
         copy it from the first), or start anew from an export: \
         lango vault import FILE --start-anew", _0.display()
    )]
    MissingKeyFile(PathBuf),
    /// For the user: the system's keyring cannot be used.
    #[error(
        "the system's keyring cannot be used: {0}. It works in the session of your desktop, once it is \
         unlocked; to protect the vault in another way: lango vault passphrase"
    )]
    Keyring(String),
    /// For the user: the keyring has no key for the vault.
    #[error(
        "the system's keyring has no key for this vault any more. Put the keyring back from a backup, or \
         start anew from an export: lango vault import FILE --start-anew"
    )]
    MissingKeyringKey,
    /// For the user: there is nothing in the keyring that could be removed from it.
    #[error(
        "the key of the vault is not in the system's keyring. See what unlocks it: lango vault status"
    )]
    NotInKeyring,
    /// For the user: a vault whose key is there is not to be started anew.
    #[error(
        "the key of the vault is not lost. Import without --start-anew: lango vault import FILE"
    )]
    NotLost,
    /// For the operator of the machine: the key file is of another vault.
    #[error(
        "the key file {} does not open this vault. Put the right one in its place, or start anew from \
         an export: lango vault import FILE --start-anew", _0.display()
    )]
    OtherKeyFile(PathBuf),
    /// For the operator of the machine: the key file cannot be used.
    #[error("the key file of the vault, {}, cannot be used: {reason}", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// For the operator of the machine: the file that shares an unlocked vault cannot be written.
    #[error("{} cannot be written: {reason}. Set XDG_RUNTIME_DIR to a directory of yours", path.display())]
    SessionFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// For the user: there is no such entry.
    #[error("there is no {kind} named {name}. List what there is: {}", kind.list_command())]
    NotFound {
        /// The kind of entry.
        kind: EntryKind,
        /// Its name.
        name: EntryName,
    },
    /// For the user: there is such an entry already.
    #[error("there is a {kind} named {name} already. Choose another name")]
    Exists {
        /// The kind of entry.
        kind: EntryKind,
        /// Its name.
        name: EntryName,
    },
    /// For the operator of the machine: an entry was changed by another program, or by a defect.
    #[error(
        "the {kind} {name} is damaged: what is stored is not what was encrypted. Restore a backup: \
         lango backup restore FILE, or lango vault import FILE --replace"
    )]
    Damaged {
        /// The kind of entry.
        kind: EntryKind,
        /// Its name.
        name: EntryName,
    },
    /// For the operator of the machine: the wrapped master key cannot be used.
    #[error("the key of the vault is damaged. Restore a backup: lango backup restore FILE")]
    DamagedMaster,
    /// For a retry: another process changed the vault at the same time.
    #[error(
        "another process changed the vault at the same time; nothing was changed here. Try again"
    )]
    Changed,
    /// For the user: a name is not allowed.
    #[error(transparent)]
    Name(#[from] InvalidEntryName),
    /// For the model and the user: a handle is not valid, here or any more.
    #[error("this handle is not valid: {0}. Get a new one with secrets_get")]
    Handle(String),
    /// For the user: a secret is bound to another site.
    #[error(
        "the secret {name} may go to {origin} only. Store another one for this: lango secrets set NAME"
    )]
    OtherOrigin {
        /// Its name.
        name: EntryName,
        /// The site.
        origin: String,
    },
    /// For the model and the user: a header goes to one site, and it is not said to which.
    #[error(
        "the secret {name} goes to one site as a header: say to which one, such as https://github.com, \
         or bind it: lango secrets set {name} --origin SITE"
    )]
    NoOrigin {
        /// Its name.
        name: EntryName,
    },
    /// For the model: a secret cannot be sent in this way.
    #[error("{0}. Nothing was sent")]
    Header(String),
    /// For the user: a value is too large.
    #[error("the value is too large for the vault. Encrypt it as a file: crypto_encrypt")]
    TooLarge,
    /// For the operator of the machine: a key could not be derived from a passphrase.
    #[error("the passphrase could not be checked: not enough memory? Try again")]
    Derivation,
    /// For the operator of the machine: the system has no random numbers.
    #[error("the system gives no random numbers. Nothing was changed")]
    NoRandomness,
    /// For the user: a file is no export, or is damaged.
    #[error("this file is no export of a vault, or it is damaged. Take another one")]
    Export,
    /// For the user: the passphrase of an export is another one.
    #[error("the passphrase is not the one of this file, or the file is damaged. Try again")]
    WrongExport,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl KeyStoreError {
    /// Tells whether the vault did not open because what opens it may be lost, so that its owner can
    /// decide that it is.
    pub(crate) fn means_lost_key(&self) -> bool {
        matches!(
            self,
            Self::Locked
                | Self::OtherVariable
                | Self::MissingKeyFile(_)
                | Self::OtherKeyFile(_)
                | Self::Keyring(_)
                | Self::MissingKeyringKey
                | Self::DamagedMaster
        )
    }
}
