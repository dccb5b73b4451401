//! Expands `${VARIABLE}` and `${VARIABLE:-otherwise}` in values of the configuration.

/// Says why the variables of a text could not be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// The variable is not set, and the text has no default for it.
    #[error("the variable {0} is not set")]
    Unset(String),
    /// A variable begins and does not end.
    #[error("{0:?} has no closing brace")]
    Unclosed(String),
}

/// Expands the variables of a text. `look_up` returns their values. The error names a missing
/// variable.
pub fn expand(text: &str, look_up: &dyn Fn(&str) -> Option<String>) -> Result<String, ExpandError> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        expanded.push_str(&rest[..start]);
        let inside = &rest[start + 2..];
        let Some(end) = inside.find('}') else {
            return Err(ExpandError::Unclosed(rest[start..].to_owned()));
        };
        let (name, otherwise) = match inside[..end].split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (&inside[..end], None),
        };
        // An empty variable counts as missing if there is a default, as in a shell.
        let value = look_up(name).filter(|value| !(value.is_empty() && otherwise.is_some()));
        match value.or_else(|| otherwise.map(str::to_owned)) {
            Some(value) => expanded.push_str(&value),
            None => return Err(ExpandError::Unset(name.to_owned())),
        }
        rest = &inside[end + 1..];
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_once_and_missing_ones_are_named() {
        let known = |name: &str| match name {
            "A" => Some("${B}".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let expand = |text| expand(text, &known);
        assert_eq!(expand("x-${A}-y $A").unwrap(), "x-${B}-y $A");
        assert_eq!(expand("${B:-one}${EMPTY:-two}${EMPTY}").unwrap(), "onetwo");
        assert_eq!(expand("${B}").unwrap_err(), ExpandError::Unset("B".to_owned()));
        assert_eq!(expand("${B").unwrap_err(), ExpandError::Unclosed("${B".to_owned()));
    }
}
