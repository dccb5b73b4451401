//! `lango-mcp-conformance-server [--port N]`: the server that the MCP conformance suite wants to find.

use std::process::ExitCode;

use clap::Parser as _;
use lango_conformance::{ServerArguments, run, serve_mcp};

fn main() -> ExitCode {
    run(serve_mcp(ServerArguments::parse().port))
}
