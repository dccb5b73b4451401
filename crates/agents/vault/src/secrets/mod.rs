//! The tools for secrets. None of them returns a value.

mod delete;
mod get;
mod list;
mod set;

pub(crate) use delete::DeleteSecret;
pub(crate) use get::GetSecret;
pub(crate) use list::ListSecrets;
pub(crate) use set::SetSecret;

use lango_keystore::EntryName;
use lango_tool::ToolError;

/// Reads a name that a model wrote.
pub(crate) fn parse_name(name: &str) -> Result<EntryName, ToolError> {
    name.trim()
        .parse()
        .map_err(|error: lango_keystore::InvalidEntryName| ToolError::Arguments(error.to_string()))
}
