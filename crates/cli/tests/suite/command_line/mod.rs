//! What a person or a script types, sees and gets back.

mod approvals;
mod background;
mod catalog;
mod configuration;
mod graph;
mod hands;
mod ingest;
mod input;
mod interruption;
mod knowledge;
mod logging;
mod memory;
mod notices;
mod output;
mod questions;
mod sessions;
mod skills;
mod terminal;
mod undo;
mod visible;
