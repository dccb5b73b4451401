//! Defines the kinds of endpoints and their paths.

use std::fmt;
use std::str::FromStr;

/// The kind of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndpointKind {
    /// A2A, for other agents.
    A2a,
    /// The OpenAI API.
    OpenAi,
    /// MCP.
    Mcp,
}

impl EndpointKind {
    /// Holds all kinds.
    pub const ALL: [Self; 3] = [Self::A2a, Self::OpenAi, Self::Mcp];

    /// Returns the endpoint that a path belongs to.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let below = |prefix: &str| {
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::A2a => "a2a",
            Self::OpenAi => "openai",
            Self::Mcp => "mcp",
        }
    }
}

impl fmt::Display for EndpointKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for EndpointKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|endpoint| endpoint.name() == text)
            .ok_or_else(|| format!("{text:?} is not an endpoint: use a2a, openai or mcp"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_the_endpoint_it_lies_below_and_to_no_other() {
        assert_eq!(EndpointKind::of_path("/v1/models"), Some(EndpointKind::OpenAi));
        assert_eq!(EndpointKind::of_path("/mcp"), Some(EndpointKind::Mcp));
        assert_eq!(EndpointKind::of_path("/a2a/v1/message:send"), Some(EndpointKind::A2a));
        assert_eq!(EndpointKind::of_path("/.well-known/agent-card.json"), Some(EndpointKind::A2a));
        for other in ["/", "/health", "/v10", "/mcpx", "/a2ab"] {
            assert_eq!(EndpointKind::of_path(other), None, "{other}");
        }
    }
}
