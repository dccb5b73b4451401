//! Writes the graph as linked data, piece by piece.
//!
//! Each relation is one node object with the relation as its property, and one statement with its
//! provenance and validity. Readers treat node objects with the same `@id` as one node.

use serde_json::json;

use super::Triple;

/// Writes a JSON-LD document: the beginning, any number of triples, the end.
#[derive(Debug, Default)]
pub struct JsonLdWriter {
    triples: u64,
}

impl JsonLdWriter {
    /// Returns the beginning.
    pub fn render_beginning(&self) -> String {
        let context = json!({
            "name": "http://schema.org/name",
            "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
            "subject": { "@id": "rdf:subject", "@type": "@id" },
            "predicate": { "@id": "rdf:predicate", "@type": "@id" },
            "object": { "@id": "rdf:object", "@type": "@id" },
            "source": "http://purl.org/dc/terms/source",
            "recordedBy": "http://purl.org/dc/terms/creator",
            "validFrom": {
                "@id": "http://schema.org/validFrom",
                "@type": "http://www.w3.org/2001/XMLSchema#dateTime",
            },
            "validTo": {
                "@id": "http://schema.org/validThrough",
                "@type": "http://www.w3.org/2001/XMLSchema#dateTime",
            },
        });
        format!("{{\"@context\":{context},\"@graph\":[\n")
    }

    /// Returns one relation.
    pub fn render_triple(&mut self, triple: &Triple) -> String {
        let (subject, object) = (render_node(&triple.subject), render_node(&triple.object));
        let predicate = render_iri("predicate", &triple.predicate);
        let mut statement = json!({
            "@type": "rdf:Statement",
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "recordedBy": triple.provenance.by,
            "validFrom": triple.valid_from,
        });
        if let Some(source) = &triple.provenance.source {
            statement["source"] = json!(source);
        }
        if let Some(end) = triple.valid_to {
            statement["validTo"] = json!(end);
        }
        let mut relation = json!({ "@id": subject, "name": triple.subject });
        relation[predicate] = json!({ "@id": object, "name": triple.object });
        let comma = if self.triples == 0 { "" } else { ",\n" };
        self.triples += 1;
        format!("{comma}{relation},\n{statement}")
    }

    /// Returns the end.
    pub fn render_end(&self) -> String {
        "\n]}\n".to_owned()
    }
}

fn render_node(name: &str) -> String {
    render_iri("node", &name.to_lowercase())
}

/// Returns an IRI for a name: reserved and non-ASCII bytes are written as `%XX`.
fn render_iri(kind: &str, name: &str) -> String {
    let mut text = format!("urn:lango:{kind}:");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}
