//! The librarian's stores and tools through their front door, on SQLite and PostgreSQL alike.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "clippy knows tests by their attribute, not their helpers"
)]

mod database;
mod graph;
mod graph_tools;
mod ingest;
mod reading;
