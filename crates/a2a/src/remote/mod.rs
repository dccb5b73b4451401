//! Agents elsewhere, reached over A2A.
//!
//! Nothing that comes from there is trusted: a card is read, pinned and compared; what an agent says is
//! bounded and taken for data; what it asks, the user is asked.

mod agent;
mod answer;
mod card;
mod cards;
mod circuit;
mod config;
mod context;
mod directory;
mod error;
mod fetch;
mod limits;
mod peer;
mod schema;
mod talk;
mod tasks;
mod trace;
mod watch;
mod wire;

pub use agent::A2aRemote;
pub use card::{Card, Interface, Skill};
pub use cards::{CardBook, TrustedCard};
pub use config::{RemoteConfig, card_url};
pub use context::{OpenQuestions, forget_session};
pub use directory::{Directory, Present, Standing, team};
pub use error::RemoteError;
pub use fetch::{Sighting, sight};
pub use limits::RemoteLimits;
pub use wire::{Binding, Version};
