//! Tests the requirements for the agent tree without a model. `../SCENARIOS.md` maps every scenario
//! of the documents to a test here, or says where else it is shown.

#![expect(clippy::unwrap_used, reason = "clippy allows it in test functions, not in their helpers")]

mod agent_files;
mod author;
mod capabilities;
mod conditional;
mod delegation;
mod partition;
mod prompts;
mod properties;
mod reporting;
mod scenarios;
mod snapshots;
mod support;
mod token_limits;
mod topology_files;
mod tree;
