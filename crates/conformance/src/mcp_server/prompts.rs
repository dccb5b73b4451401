//! The prompts that the suite gets.

use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, ListPromptsResult};
use serde_json::{Value, json};

use super::tools::words;
use super::{PICTURE, shaped};

pub(super) fn list() -> Result<ListPromptsResult, ErrorData> {
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments: Vec<Value> = arguments
            .iter()
            .map(|name| json!({ "name": name, "description": "For the suite.", "required": true }))
            .collect();
        json!({ "name": name, "description": "For the suite.", "arguments": arguments })
    };
    shaped(json!({ "prompts": [
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
    ] }))
}

pub(super) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let given = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
        value
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .unwrap_or_default()
    };
    let user = |content: Value| json!({ "role": "user", "content": content });
    let messages = match request.name.as_str() {
        "test_simple_prompt" => vec![user(words("This is a simple prompt for testing."))],
        "test_prompt_with_arguments" => {
            let text = format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                given("arg1"),
                given("arg2")
            );
            vec![user(words(&text))]
        }
        "test_prompt_with_embedded_resource" => vec![
            user(json!({ "type": "resource", "resource": {
                "uri": given("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            } })),
            user(words("Please process the embedded resource above.")),
        ],
        "test_prompt_with_image" => vec![
            user(json!({ "type": "image", "data": PICTURE, "mimeType": "image/png" })),
            user(words("Please analyze the image above.")),
        ],
        other => {
            return Err(ErrorData::invalid_params(format!("there is no prompt {other:?}"), None));
        }
    };
    shaped(json!({ "messages": messages }))
}
