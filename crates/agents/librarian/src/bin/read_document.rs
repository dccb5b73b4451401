//! Stands in for `lango __read-document` in this crate's tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    lango_librarian::documents::run_reader_if_requested().unwrap_or(ExitCode::FAILURE)
}
