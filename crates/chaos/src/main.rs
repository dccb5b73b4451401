//! Runs one to three `lango serve` on one database under random faults, and checks what is left: the
//! journal, the effects, and what the model was sent. With `--automation` it runs one to five `lango worker`
//! with jobs, background tasks and workflows.
//!
//! Clients send requests that must be carried out once each, and repeat them as good clients do, with
//! the same key. Meanwhile servers are killed, stopped and continued, restarted, and cut off from their
//! database. Then everything gets time to end, and [`check`] looks at it.

mod automation;
mod check;
mod client;
mod faults;
mod fleet;
mod random;
mod stage;
mod work;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;

use crate::fleet::ProcessRole;
use crate::stage::Stage;

/// The arguments of the program.
#[derive(Debug, Parser)]
#[command(
    about = "Runs lango serve under random faults and checks that nothing is lost or done twice",
    after_help = "Examples:\n  lango-chaos --seconds 60\n  lango-chaos --seconds 60 --servers 3 \
                  --postgres postgres://postgres@127.0.0.1:5432/postgres"
)]
pub(crate) struct Arguments {
    /// The program to run; the one beside this program unless given.
    #[arg(long)]
    pub(crate) lango: Option<PathBuf>,
    /// How long faults happen.
    #[arg(long, default_value_t = 30)]
    pub(crate) seconds: u64,
    /// How many processes share the database, from 1 to 5.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) servers: u8,
    /// A PostgreSQL server to use instead of SQLite. A database is made for the run.
    #[arg(long, value_name = "URL")]
    pub(crate) postgres: Option<String>,
    /// Run workers with jobs, background tasks and workflows, in place of servers with clients.
    #[arg(long)]
    pub(crate) automation: bool,
    /// The seed of the faults.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let ran = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run(&arguments)));
    let (text, code) = match ran {
        Ok((text, true)) => (text, ExitCode::SUCCESS),
        Ok((text, false)) => (text, ExitCode::FAILURE),
        Err(error) => (format!("error: {error:#}\n"), ExitCode::FAILURE),
    };
    // If the output is closed, the exit status still says it.
    let _ = std::io::stdout().write_all(text.as_bytes());
    code
}

/// Runs everything. Returns what to print, and whether all is well.
async fn run(arguments: &Arguments) -> Result<(String, bool)> {
    if arguments.automation {
        return automation::run(arguments).await;
    }
    let stage = Stage::open(arguments, &stage::write_script(), ProcessRole::Server).await?;
    let time = Duration::from_secs(arguments.seconds);
    let faults = tokio::spawn(faults::cause(stage.clone(), None, time, arguments.seed, 50..900));
    let sent = work::send_until_calm(&stage, arguments.seed).await;
    let caused = faults.await??;
    stage.fleet.start_all().await?;
    work::wait_for_ends(&stage, &sent).await;
    stage.fleet.stop_all().await;
    let observed = stage.observe(sent).await?;
    let verdict = check::check(&observed);
    let engine = if arguments.postgres.is_some() { "PostgreSQL" } else { "SQLite" };
    let text = format!(
        "{engine}, {} servers, seed {}: {caused}; {} requests accepted, {} effects, {} model requests\n{verdict}",
        arguments.servers,
        arguments.seed,
        observed.accepted.len(),
        observed.effects.len(),
        stage.model.count(),
    );
    Ok((text, verdict.is_clean()))
}
