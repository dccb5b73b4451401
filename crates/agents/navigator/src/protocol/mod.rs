//! The browser's debugging protocol, over a pair of pipes.
//!
//! Pipes and not a port: nobody else on this machine can speak to the browser, and a browser whose
//! pipe closes ends by itself, also when we are killed. This module knows messages; what they mean
//! for a page is known above.

mod commands;
mod connection;
mod reader;

pub(crate) use commands::*;
pub(crate) use connection::{CallError, Command, Connection, Event};
