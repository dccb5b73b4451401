//! A scripted model: a server on loopback that speaks a provider's wire and says what a script
//! file tells it to. Whole conversations, hostile ones included, become data.
//!
//! It is as strict as the real providers: a request whose history has a call without a result,
//! or a result without a call, is answered with HTTP 400. `docs/scripted-model.md` describes the
//! script's format.

mod conversation;
mod render;
mod script;
mod server;

pub use script::{Fault, Reply, Script, ScriptError};
pub use server::{ReceivedRequest, ScriptedServer};
