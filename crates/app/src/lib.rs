//! Assembles Lango for every client: configuration, choice of a model, agents, and access to them.
//!
//! Use this to build a client, such as a command line, a terminal UI or a server. [`App::load`]
//! reads the configuration; [`App::open`] opens the database and builds every agent;
//! [`Assembly::runtime`] and [`Assembly::serve`] run them. [`App::inspect`] is for clients that
//! only inspect. Printing and asking the user belong to the client.

mod access;
mod agents;
mod app;
mod approvals;
mod assembly;
mod automation;
pub mod config;
pub mod confinement;
mod definition;
mod environment;
mod error;
mod home;
mod http_server;
pub mod knowledge;
mod logging;
pub mod mcp;
mod notifications;
mod open_databases;
mod owner;
mod payments;
pub mod provider;
pub mod remotes;
mod running;
mod runtime;
mod schema;
mod secret_values;
mod secrets;
mod serving;
mod team;
mod user_service;
mod vault;
mod wallet_keys;
pub mod web;
mod worker;

pub use access::{ServedTeams, check_agents};
pub use agents::{build_automator_settings, build_memory_settings, find_skills};
pub use app::{App, LoadOptions, Stores};
pub use approvals::{open_rule_book, parse_rights, read_approval_policy};
pub use assembly::{Assembly, InspectOptions, Inspection, OpenOptions};
pub use automation::{Audience, RunningAutomation, describe_end};
pub use definition::{TeamOptions, find_workspace, is_trusted};
pub use error::{AppError, ErrorKind};
pub use home::{Home, expand_path};
pub use http_server::{HttpServer, HttpServerOptions, OwnerOptions};
pub use logging::{LOG_VARIABLE, LogOptions, start_logging};
pub use notifications::ChannelFactory;
pub use open_databases::OpenDatabases;
pub use owner::OwnerToken;
pub use payments::payment_settings;
pub use running::RunningTeam;
pub use schema::schema_components;
pub use secret_values::{SecretValues, parse_origin};
pub use serving::{Notice, ServeOptions, ServedAssembly};
pub use team::Roster;
pub use user_service::{ServiceState, UserService};
pub use worker::{Worker, WorkerOptions};
