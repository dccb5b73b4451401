//! MCP servers that others made, and some that mean no good, in whole turns.

mod commands;
mod homes;
mod hostile;
mod living;
mod login;
pub(crate) mod peer;
mod pins;
mod project;
mod servers;
