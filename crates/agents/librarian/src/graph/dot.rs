//! The graph for Graphviz, piece by piece.

use super::Triple;

/// Writes a DOT document: the beginning, any number of triples, the end.
#[derive(Debug, Default)]
pub struct Dot;

impl Dot {
    /// What comes first.
    pub fn begin(&self) -> String {
        "digraph lango {\n  node [shape=box];\n".to_owned()
    }

    /// One relation.
    pub fn triple(&self, triple: &Triple) -> String {
        format!(
            "  {} -> {} [label={}];\n",
            quoted(&triple.subject),
            quoted(&triple.object),
            quoted(&triple.predicate)
        )
    }

    /// What comes last.
    pub fn end(&self) -> String {
        "}\n".to_owned()
    }
}

/// A string of DOT. A backslash begins an escape in labels, so each is written twice.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_name_cannot_end_its_string() {
        assert_eq!(quoted(r#"a"b\"c\"#), r#""a\"b\\\"c\\""#);
    }
}
