//! Implements the browser's debugging protocol, over a pair of pipes.
//!
//! It uses pipes and not a port: no other process on this machine can talk to the browser, and a
//! browser whose pipe closes ends by itself, also when this process is killed. This module knows
//! messages; their meaning for a page is defined in the modules above.

mod commands;
mod connection;
mod reader;

pub(crate) use commands::*;
pub(crate) use connection::{BrowserEvent, CallError, Command, Connection};
