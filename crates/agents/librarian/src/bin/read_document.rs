//! Plays the part of `lango __read-document` in this crate's tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    lango_librarian::documents::reader_requested().unwrap_or(ExitCode::FAILURE)
}
