//! Reads how often a text is expected to occur.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// Says how often the text must occur. All that occur are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "MatchesArgument")]
pub(super) enum ExpectedMatches {
    Exactly(usize),
    /// As often as it does, but at least once.
    All,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum MatchesArgument {
    Number(usize),
    Word(String),
}

impl Default for ExpectedMatches {
    fn default() -> Self {
        Self::Exactly(1)
    }
}

impl TryFrom<MatchesArgument> for ExpectedMatches {
    type Error = String;

    fn try_from(argument: MatchesArgument) -> Result<Self, String> {
        match argument {
            MatchesArgument::Number(0) => Err("expected_matches must be at least 1".to_owned()),
            MatchesArgument::Number(number) => Ok(Self::Exactly(number)),
            MatchesArgument::Word(word) if word.trim().eq_ignore_ascii_case("all") => Ok(Self::All),
            MatchesArgument::Word(word) => {
                Err(format!("expected_matches is a number or \"all\", not {word:?}"))
            }
        }
    }
}

impl fmt::Display for ExpectedMatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(number) => write!(f, "{number}"),
            Self::All => f.write_str("all"),
        }
    }
}

impl JsonSchema for ExpectedMatches {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ExpectedMatches".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["all"]}]})
    }
}
