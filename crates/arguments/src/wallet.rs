//! The arguments of `lango wallet`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum WalletCommand {
    /// Create the wallet. Its key is stored in the vault and never shown.
    Create {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show the account and its network.
    Show {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Ask the chain what the wallet holds.
    Balance {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show the latest payments, after the chain was asked about those that are not settled.
    #[command(after_help = "Examples:
  lango wallet history
  lango wallet history --limit 100 --json
  lango wallet history --offline          as they were when they were last looked at")]
    History {
        /// The most payments to show.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Do not ask the chain.
        #[arg(long)]
        offline: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show the limits of payments, and what is left of them.
    Limits {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
