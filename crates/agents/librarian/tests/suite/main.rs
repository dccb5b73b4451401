//! The librarian's stores and tools through their front door, on SQLite and PostgreSQL alike.
#![expect(clippy::unwrap_used, reason = "clippy knows tests by their attribute, not their helpers")]

mod database;
mod graph;
mod graph_tools;
mod ingest;
mod inquiries;
mod knowledge;
mod learnings;
mod reading;
mod reports;
mod skills;
mod turns;
