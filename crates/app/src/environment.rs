//! Reads variables of the environment.

use std::env::{self, VarError};

/// Returns a variable that is set and not blank.
pub(crate) fn read_variable(name: &str) -> Option<String> {
    read_variable_even_empty(name).filter(|value| !value.trim().is_empty())
}

/// Returns a variable that is set, even if it is empty. One that is no valid text counts as not
/// set: no name, address or key has such a value.
pub(crate) fn read_variable_even_empty(name: &str) -> Option<String> {
    match env::var(name) {
        Ok(value) => Some(value),
        Err(VarError::NotPresent) => None,
        Err(VarError::NotUnicode(_)) => {
            tracing::warn!(name, "a variable is not used, because it is not valid UTF-8");
            None
        }
    }
}
