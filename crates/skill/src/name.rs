//! Checks the names of skills.

const MAX_NAME_BYTES: usize = 64;

/// Says which names are valid, as the end of a sentence.
pub const NAME_RULE: &str =
    "must be of at most 64 lower-case letters, digits and single hyphens inside";

/// Tells whether a name is valid, and so safe as that of a directory.
pub fn is_valid_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty()
        && name.len() <= MAX_NAME_BYTES
        && name.chars().all(plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_as_names_of_directories() {
        assert!(NAME_RULE.contains(&MAX_NAME_BYTES.to_string()));
        for name in ["a", "release-notes", "v2", &*"a".repeat(MAX_NAME_BYTES)] {
            assert!(is_valid_name(name), "{name}");
        }
        for name in ["", "A", "a b", "../x", "a/b", "-a", "a-", "a--b", ".x", &*"a".repeat(65)] {
            assert!(!is_valid_name(name), "{name}");
        }
    }
}
