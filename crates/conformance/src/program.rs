//! Reads the arguments of the programs, and ends them.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

/// The arguments of a program that is a server.
#[derive(Debug, Parser)]
#[command(about = "Serves on 127.0.0.1 until it is interrupted, and prints `listening on PORT`.")]
pub struct ServerArguments {
    /// The port; 0 for any that is free.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
}

/// Runs a program to its end. A failure is printed.
pub fn run(program: impl Future<Output = Result<()>>) -> ExitCode {
    // One TLS implementation for everything. A program installs it once, so it cannot be there yet.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(program)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, nothing can be printed any more.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
