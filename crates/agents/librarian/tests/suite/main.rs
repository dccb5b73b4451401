//! Tests the librarian's stores and tools through their public API, on SQLite and PostgreSQL.
#![expect(clippy::unwrap_used, reason = "clippy knows tests by their attribute, not their helpers")]

mod bounds;
mod database;
mod graph;
mod graph_tools;
mod ingest;
mod inquiries;
mod knowledge;
mod learnings;
mod places;
mod reading;
mod reports;
mod skills;
mod spaces;
mod turns;
