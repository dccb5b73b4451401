//! `lango-a2a-kit-server [--port N]`: the agent that the A2A protocol's test kit wants to find.

use std::process::ExitCode;

use clap::Parser as _;
use lango_conformance::{ServerArguments, run, serve_a2a_kit};

fn main() -> ExitCode {
    run(serve_a2a_kit(ServerArguments::parse().port))
}
