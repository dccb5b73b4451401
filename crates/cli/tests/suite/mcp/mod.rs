//! MCP servers that others made, and some that mean no good, in whole turns.

mod commands;
mod conformance;
mod hostile;
mod living;
mod login;
mod peer;
mod pins;
mod servers;
