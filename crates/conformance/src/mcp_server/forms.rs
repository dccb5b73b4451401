//! The forms that the suite wants to be asked to fill in.

use rmcp::ErrorData;
use rmcp::model::ElicitRequestParams;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use super::tools::words;
use super::{internal, shaped};

pub(super) async fn person(
    context: &RequestContext<RoleServer>,
    message: &str,
) -> Result<Value, ErrorData> {
    let schema = json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    });
    ask(context, message, schema, "User response").await
}

pub(super) async fn defaults(context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": {
                "type": "string", "enum": ["active", "inactive", "pending"], "default": "active",
            },
            "verified": { "type": "boolean", "default": true },
        },
    });
    ask(context, "Please review the defaults.", schema, "Elicitation completed").await
}

pub(super) async fn choices(context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let titled = |word: &str| {
        json!([
            { "const": "value1", "title": format!("First {word}") },
            { "const": "value2", "title": format!("Second {word}") },
            { "const": "value3", "title": format!("Third {word}") },
        ])
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
            "titledSingle": { "type": "string", "oneOf": titled("Option") },
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {
                "type": "array",
                "items": { "type": "string", "enum": ["option1", "option2", "option3"] },
            },
            "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
        },
    });
    ask(context, "Please choose.", schema, "Elicitation completed").await
}

async fn ask(
    context: &RequestContext<RoleServer>,
    message: &str,
    schema: Value,
    prefix: &str,
) -> Result<Value, ErrorData> {
    let form: ElicitRequestParams =
        shaped(json!({ "mode": "form", "message": message, "requestedSchema": schema }))?;
    let filled = context.peer.create_elicitation(form).await.map_err(internal)?;
    let filled = serde_json::to_value(filled).map_err(internal)?;
    let text = format!("{prefix}: action={}, content={}", filled["action"], filled["content"]);
    Ok(json!([words(&text)]))
}
