//! `lango-mcp-conformance-client URL`: Lango's MCP client in a scenario of the conformance suite, which
//! the suite names in the environment.

use std::process::ExitCode;

use clap::Parser;
use lango_conformance::{play_mcp_client, run};

/// Plays the client in a scenario of the MCP conformance suite.
#[derive(Debug, Parser)]
struct Arguments {
    /// The address of the suite's server.
    url: String,
}

fn main() -> ExitCode {
    run(play_mcp_client(&Arguments::parse().url))
}
