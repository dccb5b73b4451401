//! The argument that chooses whose entries a command shows and changes.

use clap::Args;
use lango_protocol::{Caller, Space};

/// Chooses a space.
#[derive(Debug, Args)]
pub struct SpaceArguments {
    /// What this API client stored, instead of what is yours.
    #[arg(long, value_name = "NAME", global = true)]
    client: Option<Caller>,
}

impl SpaceArguments {
    /// Returns the space: yours, or that of the named client.
    pub fn space(&self) -> Space {
        self.client.as_ref().map_or(Space::Owner, Space::of_caller)
    }
}
