//! Writes the graph for Graphviz, piece by piece.

use super::Triple;

/// Writes a DOT document: the beginning, any number of triples, the end.
#[derive(Debug, Default)]
pub struct DotWriter;

impl DotWriter {
    /// Returns the beginning.
    pub fn render_beginning(&self) -> String {
        "digraph lango {\n  node [shape=box];\n".to_owned()
    }

    /// Returns one relation.
    pub fn render_triple(&self, triple: &Triple) -> String {
        format!(
            "  {} -> {} [label={}];\n",
            quote_dot_string(&triple.subject),
            quote_dot_string(&triple.object),
            quote_dot_string(&triple.predicate)
        )
    }

    /// Returns the end.
    pub fn render_end(&self) -> String {
        "}\n".to_owned()
    }
}

/// Returns a DOT string. A backslash begins an escape in labels, so each is doubled.
fn quote_dot_string(text: &str) -> String {
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
    use super::quote_dot_string;

    #[test]
    fn a_name_cannot_end_its_string() {
        assert_eq!(quote_dot_string(r#"a"b\"c\"#), r#""a\"b\\\"c\\""#);
    }
}
