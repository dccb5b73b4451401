//! Agents elsewhere, and this team for agents elsewhere: the A2A protocol in both directions.

pub mod remote;
