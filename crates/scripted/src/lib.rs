//! Implements a scripted model: a server on loopback that speaks the providers' APIs and replies as
//! a script file says. Whole conversations, hostile ones included, become data.
//!
//! It is as strict as the real providers: a request that one of them refuses is answered with HTTP
//! 400 and the provider's message. `docs/scripted-model.md` describes the script's format.

mod answer;
mod conversation;
mod delivery;
mod fixture;
mod refusal;
mod replay;
mod script;
mod server;
mod signature;
mod speech;
#[cfg(test)]
mod tests;
mod text;
mod variant;
mod wires;

pub use fixture::{Framing, WireProfile, profile};
pub use replay::RecordedServer;
pub use script::{ErrorCase, Fault, Reply, Script, ScriptError, ScriptedCall, ScriptedUsage};
pub use server::{ReceivedRequest, ScriptedServer};
pub use speech::render_reply;
pub use variant::{UsagePosition, WireVariant};
