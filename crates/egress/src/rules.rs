//! Holds the destinations that the user allowed and denied.

use crate::pattern::Pattern;

/// Says what may be reached. The default is everything on the public internet, and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Places that may be reached although their addresses are not public. A metadata address is
    /// opened only by a pattern that is that address: a name or a range does not mean it.
    pub allow_private: Vec<Pattern>,
    /// Places that may never be reached. Wins over everything else.
    pub deny: Vec<Pattern>,
    /// If there are any, nothing else may be reached. Does not make a private address public.
    pub only: Vec<Pattern>,
}

impl Rules {
    /// Reads the three lists as they are configured.
    pub fn parse(
        allow_private: &[String],
        deny: &[String],
        only: &[String],
    ) -> Result<Self, crate::PatternError> {
        let read = |list: &[String]| -> Result<Vec<Pattern>, crate::PatternError> {
            list.iter().map(|text| text.parse()).collect()
        };
        Ok(Self { allow_private: read(allow_private)?, deny: read(deny)?, only: read(only)? })
    }
}
