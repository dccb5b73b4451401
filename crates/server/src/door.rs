//! The doors there are, and which one a path belongs to.

use std::fmt;
use std::str::FromStr;

/// A way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Door {
    /// Other agents, over A2A.
    A2a,
    /// Programs that speak OpenAI's wire.
    OpenAi,
    /// Programs that speak MCP.
    Mcp,
}

impl Door {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::A2a, Self::OpenAi, Self::Mcp];

    /// The door that a path leads to.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let below = |place: &str| {
            path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if below("/v1") {
            Some(Self::OpenAi)
        } else if below("/mcp") {
            Some(Self::Mcp)
        } else if below("/a2a") || below("/.well-known") {
            Some(Self::A2a)
        } else {
            None
        }
    }

    /// Its name, as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::A2a => "a2a",
            Self::OpenAi => "openai",
            Self::Mcp => "mcp",
        }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Door {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|door| door.name() == text)
            .ok_or_else(|| format!("{text:?} is not a door: use a2a, openai or mcp"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_the_door_it_lies_below_and_to_no_other() {
        assert_eq!(Door::of_path("/v1/models"), Some(Door::OpenAi));
        assert_eq!(Door::of_path("/mcp"), Some(Door::Mcp));
        assert_eq!(Door::of_path("/a2a/v1/message:send"), Some(Door::A2a));
        assert_eq!(Door::of_path("/.well-known/agent-card.json"), Some(Door::A2a));
        for other in ["/", "/health", "/v10", "/mcpx", "/a2ab"] {
            assert_eq!(Door::of_path(other), None, "{other}");
        }
    }
}
