//! Runs the sandbox helper for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    lango_sandbox::run_helper_if_requested().unwrap_or(ExitCode::FAILURE)
}
