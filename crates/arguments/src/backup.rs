//! The arguments of `lango backup`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum BackupCommand {
    /// Write everything that the database has to a new file, also while programs use it.
    #[command(after_help = "Examples:
  lango backup create
  lango backup create /mnt/disk/lango.backup
  lango backup create --json | jq -r .file")]
    Create {
        /// The file; lango-DATE.backup in the directory of the database when absent.
        file: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check that a backup is whole and can be restored.
    #[command(after_help = "Examples:
  lango backup verify /mnt/disk/lango.backup")]
    Verify {
        /// The file.
        file: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Put a backup in the place of the database, which is kept aside.
    #[command(after_help = "Examples:
  lango backup restore /mnt/disk/lango.backup           where there is no database
  lango backup restore /mnt/disk/lango.backup --force   put the database aside first

End all programs that use the database before, such as lango serve.")]
    Restore {
        /// The file.
        file: PathBuf,
        /// Put a database that is there aside.
        #[arg(long)]
        force: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
