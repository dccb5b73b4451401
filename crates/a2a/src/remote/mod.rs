//! Connects to remote agents over A2A.
//!
//! Nothing that they send is trusted: a card is read, pinned and compared; an agent's text is
//! bounded and treated as data; its questions go to the user.

mod agent;
mod answer;
mod card;
mod cards;
mod config;
mod context;
mod delegation;
mod directory;
mod error;
mod fetch;
mod limits;
mod peer;
mod schema;
mod tasks;
mod trace;
mod watch;
mod wire;

pub use agent::A2aRemote;
pub use card::{Card, Interface, Skill};
pub use cards::{CardStore, TrustedCard};
pub use config::{RemoteConfig, card_url};
pub use context::{OpenQuestions, forget_session};
pub use directory::{AvailableAgent, Directory, RemoteStatus, team};
pub use error::RemoteError;
pub use fetch::{FetchedCard, fetch_card};
pub use limits::RemoteLimits;
pub(crate) use schema::COMPONENT;
pub use wire::{Binding, Version};
