//! Tests the binary through its public interface: a command line in, events, words and an exit code
//! out. The model is a script; everything else is real.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod a2a;
mod approvals;
mod automation;
mod automation_results;
mod automation_rights;
mod automation_turns;
mod bad_input;
mod clocks;
mod command_line;
mod daemon;
mod durability;
mod earlier_version;
mod embedded;
mod examples;
mod file_tools;
mod fixture;
mod following;
mod hostile;
mod invocation;
mod journal;
mod kill;
mod mcp;
mod models;
mod navigator;
mod notifications;
mod promises;
mod request;
mod requirements;
mod server;
mod site;
mod typing;
mod vault;
mod wallet;
mod workflow_commands;
mod workflows;
