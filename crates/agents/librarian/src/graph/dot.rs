//! Writes the graph for Graphviz, piece by piece.

use super::Triple;

/// Writes a DOT document: the beginning, any number of triples, the end.
#[derive(Debug, Default)]
pub struct Dot;

impl Dot {
    /// Returns the beginning.
    pub fn begin(&self) -> String {
        "digraph lango {\n  node [shape=box];\n".to_owned()
    }

    /// Returns one relation.
    pub fn triple(&self, triple: &Triple) -> String {
        format!(
            "  {} -> {} [label={}];\n",
            quote(&triple.subject),
            quote(&triple.object),
            quote(&triple.predicate)
        )
    }

    /// Returns the end.
    pub fn end(&self) -> String {
        "}\n".to_owned()
    }
}

/// Returns a DOT string. A backslash begins an escape in labels, so each is doubled.
fn quote(text: &str) -> String {
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
    use super::quote;

    #[test]
    fn a_name_cannot_end_its_string() {
        assert_eq!(quote(r#"a"b\"c\"#), r#""a\"b\\\"c\\""#);
    }
}
