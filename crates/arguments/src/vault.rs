//! The arguments of `lango vault`, `lango secrets`, `lango keys` and `lango audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum VaultCommand {
    /// What protects the vault, and whether it is unlocked.
    #[command(after_help = "Examples:
  lango vault status
  lango vault status --json")]
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Unlock it with its passphrase, for your processes on this machine.
    #[command(after_help = "Examples:
  lango vault unlock
  lango vault unlock --for 30")]
    Unlock {
        /// Minutes until it is locked again; vault.unlockMinutes when absent.
        #[arg(long = "for", value_name = "MINUTES")]
        minutes: Option<u64>,
    },
    /// Lock it for every process, running servers included.
    #[command(after_help = "Examples:
  lango vault lock")]
    Lock,
    /// Set or change its passphrase.
    #[command(after_help = "Examples:
  lango vault passphrase             set or change it
  lango vault passphrase --remove    back to a key file")]
    Passphrase {
        /// Let a key file unlock the vault instead.
        #[arg(long)]
        remove: bool,
    },
    /// Let a key in the system's keyring unlock it, in place of a key file or a passphrase.
    #[command(after_help = "Examples:
  lango vault keyring             only your sessions at this desktop open the vault
  lango vault keyring --remove    back to a key file")]
    Keyring {
        /// Let a key file unlock the vault instead.
        #[arg(long)]
        remove: bool,
    },
    /// Replace the master key and the key of every value. Unlocked processes go on.
    #[command(after_help = "Examples:
  lango vault rotate
  lango vault rotate --revoke    processes that hold the old key are locked")]
    Rotate {
        /// Give processes that hold the old key no way to the new one.
        #[arg(long)]
        revoke: bool,
    },
    /// Write everything to an `age` file with a passphrase of its own.
    #[command(after_help = "Examples:
  lango vault export vault.age
  age --decrypt vault.age        other programs can read it, too")]
    Export {
        /// The file, which must not exist.
        file: PathBuf,
    },
    /// Store what is in an export.
    #[command(after_help = "Examples:
  lango vault import vault.age
  lango vault import vault.age --replace
  lango vault import vault.age --start-anew    after its key was lost")]
    Import {
        /// The file.
        file: PathBuf,
        /// Replace entries that are there.
        #[arg(long)]
        replace: bool,
        /// Delete what the vault has, which cannot be opened because its key is lost.
        #[arg(long, conflicts_with = "replace")]
        start_anew: bool,
        /// Do not ask before that.
        #[arg(long, requires = "start_anew")]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum SecretsCommand {
    /// Store a secret. Its value is asked for, or read from standard input; never an argument.
    #[command(after_help = "Examples:
  lango secrets set github-token
  printf %s \"$TOKEN\" | lango secrets set github-token
  lango secrets set bank --origin https://bank.example")]
    Set {
        /// Its name.
        name: String,
        /// The only site that it may go to, such as `https://github.com`; then no command gets it.
        #[arg(long, value_name = "URL")]
        origin: Option<String>,
    },
    /// List the names of secrets.
    #[command(after_help = "Examples:
  lango secrets list
  lango secrets list --json")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Move keys and tokens that stand in the configuration's file into the vault.
    #[command(after_help = "Examples:
  lango secrets import-config
  lango secrets import-config --dry-run    which they are, without changing anything

In the file, secret:NAME takes the place of each. Comments and all else stay.")]
    ImportConfig {
        /// Only list them.
        #[arg(long)]
        dry_run: bool,
    },
    /// Delete a secret for good.
    #[command(after_help = "Examples:
  lango secrets delete github-token
  lango secrets delete github-token --yes")]
    Delete {
        /// Its name.
        name: String,
        /// Do not ask.
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// List the keys.
    #[command(after_help = "Examples:
  lango keys list
  lango keys list --json")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Create a key, which stays in the vault.
    #[command(after_help = "Examples:
  lango keys create release-2026
  lango keys create backups --kind xchacha20")]
    Create {
        /// Its name.
        name: String,
        /// ed25519 signs, xchacha20 encrypts, age receives what others encrypt for it.
        #[arg(long, default_value = "ed25519")]
        kind: KeyKindName,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KeyKindName {
    Ed25519,
    Xchacha20,
    Age,
}

#[derive(Debug, Args)]
pub struct AuditArguments {
    /// Check that no record was changed, removed or inserted.
    #[arg(long)]
    pub verify: bool,
    /// The most records to show, the latest.
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
