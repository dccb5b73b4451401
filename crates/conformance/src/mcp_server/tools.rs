//! The tools that the suite calls.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, CreateMessageRequestParams, ListToolsResult,
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use super::{PICTURE, forms, internal, shaped};

/// The pause between notifications that the suite describes.
const PAUSE: Duration = Duration::from_millis(50);

/// A sound of no length.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

pub(super) fn list() -> Result<ListToolsResult, ErrorData> {
    let none = || json!({ "type": "object", "properties": {} });
    let text = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let tools = [
        ("test_simple_text", none()),
        ("test_image_content", none()),
        ("test_audio_content", none()),
        ("test_embedded_resource", none()),
        ("test_multiple_content_types", none()),
        ("test_tool_with_logging", none()),
        ("test_error_handling", none()),
        ("test_tool_with_progress", none()),
        ("test_sampling", text("prompt")),
        ("test_elicitation", text("message")),
        ("test_elicitation_sep1034_defaults", none()),
        ("test_elicitation_sep1330_enums", none()),
        ("json_schema_2020_12_tool", modern_schema()),
    ];
    let described = tools.map(|(name, schema)| {
        json!({ "name": name, "description": "For the conformance suite.", "inputSchema": schema })
    });
    shaped(json!({ "tools": described }))
}

/// Words that older kinds of schemas did not have.
fn modern_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": {
            "$anchor": "addressDef", "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
        } },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

pub(super) async fn call(
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let given = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let picture = json!({ "type": "image", "data": PICTURE, "mimeType": "image/png" });
    let shown = match request.name.as_ref() {
        "test_simple_text" => json!([words("This is a simple text response for testing.")]),
        "test_image_content" => json!([picture]),
        "test_audio_content" => {
            json!([{ "type": "audio", "data": SOUND, "mimeType": "audio/wav" }])
        }
        "test_embedded_resource" => json!([{ "type": "resource", "resource": {
            "uri": "test://embedded-resource", "mimeType": "text/plain",
            "text": "This is an embedded resource content.",
        } }]),
        "test_multiple_content_types" => json!([
            words("Multiple content types test:"),
            picture,
            { "type": "resource", "resource": {
                "uri": "test://mixed-content-resource", "mimeType": "application/json",
                "text": "{\"test\":\"data\",\"value\":123}",
            } },
        ]),
        "test_tool_with_logging" => log(context).await?,
        "test_tool_with_progress" => progress(context).await?,
        "test_sampling" => sample(context, &given("prompt")).await?,
        "test_elicitation" => forms::person(context, &given("message")).await?,
        "test_elicitation_sep1034_defaults" => forms::defaults(context).await?,
        "test_elicitation_sep1330_enums" => forms::choices(context).await?,
        "json_schema_2020_12_tool" => json!([words("It was called.")]),
        "test_error_handling" => {
            let words = words("This tool intentionally returns an error for testing");
            return shaped(json!({ "content": [words], "isError": true }));
        }
        other => {
            return Err(ErrorData::invalid_params(format!("there is no tool {other:?}"), None));
        }
    };
    shaped(json!({ "content": shown }))
}

pub(super) fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

async fn log(context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(text));
        context.peer.notify_logging_message(message).await.map_err(internal)?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(json!([words("Three messages were logged.")]))
}

async fn progress(context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    for progress in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let told = ProgressNotificationParam::new(token, progress).with_total(100.0);
            context.peer.notify_progress(told).await.map_err(internal)?;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(json!([words("All of it is done.")]))
}

async fn sample(context: &RequestContext<RoleServer>, prompt: &str) -> Result<Value, ErrorData> {
    let asked: CreateMessageRequestParams = shaped(json!({
        "messages": [{ "role": "user", "content": words(prompt) }],
        "maxTokens": 100,
    }))?;
    let said = context.peer.create_message(asked).await.map_err(internal)?;
    let said = serde_json::to_value(said).map_err(internal)?;
    let text = said.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
    Ok(json!([words(&format!("LLM response: {text}"))]))
}
