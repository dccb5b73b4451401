//! Expands `${VARIABLE}` and `${VARIABLE:-otherwise}` in values of the configuration.

/// Expands the variables of a text. `look_up` returns their values. The error names a missing
/// variable.
pub fn expand(text: &str, look_up: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        expanded.push_str(&rest[..start]);
        let inside = &rest[start + 2..];
        let Some(end) = inside.find('}') else {
            return Err(format!("{:?} has no closing brace", &rest[start..]));
        };
        let (name, otherwise) = match inside[..end].split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (&inside[..end], None),
        };
        // An empty variable counts as missing if there is a default, as in a shell.
        let value = look_up(name).filter(|value| !(value.is_empty() && otherwise.is_some()));
        match value.or_else(|| otherwise.map(str::to_owned)) {
            Some(value) => expanded.push_str(&value),
            None => return Err(format!("the variable {name} is not set")),
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
        assert!(expand("${B}").unwrap_err().contains("the variable B"));
        assert!(expand("${B").is_err());
    }
}
