//! One HTTP server for every door: A2A, the OpenAI wire, MCP and health, with one way to know who asks.
//!
//! Use this to let programs talk to the team. [`Access`] decides who is let in, and through which
//! door; [`Listener`] accepts connections within limits; [`routes`] puts the doors together. What a
//! message means to an agent belongs to the runtime, and what a caller reaches to the wiring.

mod access;
mod callers;
mod door;
mod gate;
mod guesses;
mod health;
mod listener;
mod openai;
mod patient;
mod refusal;
mod room;
mod routes;
mod token;

pub use access::{Access, AccessParts};
pub use callers::{CallerRecord, Callers, CallersError};
pub use door::Door;
pub use gate::Gate;
pub use listener::{Listener, ListenerError};
pub use openai::{OpenAiDoor, OpenAiParts};
pub use routes::{Doors, routes};
pub use token::{Token, TokenError};
