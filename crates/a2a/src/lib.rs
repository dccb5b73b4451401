//! Agents elsewhere, and this team for agents elsewhere: the A2A protocol in both directions.
//!
//! [`server`] opens this team to others, [`remote`] takes others into this team, [`wire`] is what both
//! directions say on the wire beside the official types, [`signature`] signs and checks agent cards.
//! Listening, authentication and configuration belong to those who use this crate.

pub mod remote;
pub mod server;
pub mod signature;
pub mod wire;
