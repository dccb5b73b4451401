//! Lists the parts of the database's schema, which many crates own.

use lango_store::SchemaComponent;

/// Returns all parts of the schema that this program knows.
pub fn schema_components() -> Vec<SchemaComponent> {
    [
        lango_store::SCHEMA_COMPONENTS,
        lango_keystore::SCHEMA_COMPONENTS,
        lango_runtime::SCHEMA_COMPONENTS,
        lango_retrieval::SCHEMA_COMPONENTS,
        lango_operator::SCHEMA_COMPONENTS,
        lango_librarian::SCHEMA_COMPONENTS,
        lango_automator::SCHEMA_COMPONENTS,
        lango_chronicler::SCHEMA_COMPONENTS,
        lango_keystore::SCHEMA_COMPONENTS,
        lango_payments::SCHEMA_COMPONENTS,
        lango_a2a::SCHEMA_COMPONENTS,
        lango_mcp::SCHEMA_COMPONENTS,
        lango_server::SCHEMA_COMPONENTS,
    ]
    .concat()
}
