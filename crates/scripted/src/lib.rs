//! A scripted model: a server on loopback that speaks the providers' wires and says what a script
//! file tells it to. Whole conversations, hostile ones included, become data.
//!
//! It is as strict as the real providers: what one of them refuses in a request is answered with
//! HTTP 400 and its own words. `docs/scripted-model.md` describes the script's format.

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
pub use script::{ErrorCase, Fault, Figures, Reply, Script, ScriptError, ScriptedCall};
pub use server::{ReceivedRequest, ScriptedServer};
pub use variant::{UsagePlace, WireVariant};
