//! Parses a request, and refuses what Google refuses.

use std::borrow::Cow;

use lango_model::Wire;
use serde_json::{Map, Value};

use super::schema;
use super::wire::{Blob, Body, Content, Part, Tool};
use crate::conversation::{Conversation, Role, ScriptMessage, join};
use crate::signature::Signatures;
use crate::text::{is_base64, unknown_field};

/// Lists the placeholders that Google documents for a missing signature.
const PLACEHOLDERS: [&str; 2] =
    ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// Reads a request for `model`. The error is what the provider says about it.
pub(super) fn parse<'a>(
    body: &'a [u8],
    model: &'a str,
    signatures: &Signatures,
) -> Result<Conversation<'a>, String> {
    let request: Body<'a> = serde_json::from_slice(body).map_err(|error| {
        unknown_field(&error).map_or_else(
            || format!("Invalid JSON payload received. {error}"),
            |name| {
                format!(
                    "Invalid JSON payload received. Unknown name \"{name}\": Cannot find field."
                )
            },
        )
    })?;
    check_config(&request)?;
    check_tools(&request.tools)?;
    check_contents(&request.contents, signatures)?;
    check_order(&request.contents)?;
    if wants_signatures(model) {
        check_signed(&request.contents)?;
    }
    let declarations = request.tools.into_iter().flat_map(|tool| tool.function_declarations);
    let instruction = request.system_instruction.into_iter().flat_map(|content| content.parts);
    let mut conversation = Conversation {
        wire: Wire::Gemini,
        model: Cow::Borrowed(model),
        system: join(instruction.filter_map(|part| part.text).map(|text| text.0)),
        messages: Vec::new(),
        tools: declarations.map(|declaration| declaration.name.0).collect(),
        bytes: body.len(),
    };
    for content in request.contents {
        add(&mut conversation, content);
    }
    Ok(conversation)
}

fn check_config(request: &Body<'_>) -> Result<(), String> {
    let Some(config) = &request.generation_config else { return Ok(()) };
    if config.temperature.is_some_and(|value| !(0.0..=2.0).contains(&value)) {
        return Err("* GenerateContentRequest.generation_config.temperature: temperature must be \
                    in the range [0.0, 2.0]."
            .into());
    }
    if config.max_output_tokens.is_some_and(|tokens| tokens <= 0) {
        return Err("max_output_tokens must be positive.".into());
    }
    Ok(())
}

fn check_tools(tools: &[Tool<'_>]) -> Result<(), String> {
    let mut names = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        for (number, declaration) in tool.function_declarations.iter().enumerate() {
            let at = format!("tools[{index}].function_declarations[{number}]");
            let name = &*declaration.name;
            let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
            if !is_name(name) || !name.starts_with(begins) {
                return Err(format!(
                    "* GenerateContentRequest.{at}.name: [INVALID_ARGUMENT] Invalid function name. \
                     Must start with a letter or an underscore."
                ));
            }
            if names.contains(&name) {
                return Err(format!("Duplicate function declaration found: {name}"));
            }
            names.push(name);
            if let Some(parameters) = &declaration.parameters {
                schema::check(parameters, &format!("{at}.parameters"))?;
                if declaration.parameters_json_schema.is_some() {
                    return Err(format!(
                        "* GenerateContentRequest.{at}: parameters and parameters_json_schema are \
                         mutually exclusive"
                    ));
                }
            }
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}

fn check_contents(contents: &[Content<'_>], signatures: &Signatures) -> Result<(), String> {
    if contents.is_empty() {
        return Err("* GenerateContentRequest.contents: contents is not specified".into());
    }
    for (index, content) in contents.iter().enumerate() {
        let at = format!("* GenerateContentRequest.contents[{index}]");
        if !matches!(content.role.as_deref(), None | Some("user" | "model")) {
            return Err("Please use a valid role: user, model.".into());
        }
        if content.parts.is_empty() {
            return Err(format!("{at}.parts: contents.parts must not be empty."));
        }
        for (number, part) in content.parts.iter().enumerate() {
            check_part(content, part, signatures)
                .map_err(|reason| format!("{at}.parts[{number}]: {reason}"))?;
        }
    }
    Ok(())
}

fn is_model(content: &Content<'_>) -> bool {
    content.role.as_deref() == Some("model")
}

fn check_part(
    content: &Content<'_>,
    part: &Part<'_>,
    signatures: &Signatures,
) -> Result<(), &'static str> {
    if part.kinds() != 1 {
        return Err("required oneof field 'data' must have one initialized field");
    }
    if part.text.as_deref() == Some("") && part.thought_signature.is_none() {
        return Err("it must have a text parameter");
    }
    if let Some(blob) = &part.inline_data {
        check_blob(blob)?;
    }
    let name = part.function_call.as_ref().map(|call| &*call.name);
    let response = part.function_response.as_ref().map(|response| &*response.name);
    if name.or(response).is_some_and(|name| !is_name(name)) {
        return Err("Invalid function name");
    }
    let misplaced = if is_model(content) { response } else { name };
    if misplaced.is_some() {
        return Err("only a model calls, and only a user responds");
    }
    if let Some(signature) = &part.thought_signature {
        let known = PLACEHOLDERS.contains(&&**signature)
            || signatures.recognises(Wire::Gemini, name.unwrap_or_default(), signature);
        if !known || !is_model(content) {
            return Err("Invalid thought signature.");
        }
    }
    Ok(())
}

/// Checks the type of images; audio, video and documents are not checked.
fn check_blob(blob: &Blob<'_>) -> Result<(), &'static str> {
    if !is_base64(&blob.data) {
        return Err("inline_data: Base64 decoding failed");
    }
    match blob.mime_type.strip_prefix("image/") {
        Some("png" | "jpeg" | "webp" | "heic" | "heif") => Ok(()),
        None if !blob.mime_type.is_empty() => Ok(()),
        _ => Err("Unsupported MIME type"),
    }
}

fn calls<'c>(content: &'c Content<'_>) -> Vec<&'c str> {
    content.parts.iter().filter_map(|part| Some(&*part.function_call.as_ref()?.name)).collect()
}

fn responses<'c>(content: &'c Content<'_>) -> Vec<&'c str> {
    content.parts.iter().filter_map(|part| Some(&*part.function_response.as_ref()?.name)).collect()
}

/// Calls come after the user, responses directly after their calls.
fn check_order(contents: &[Content<'_>]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let answered = responses(content);
        if answered.len() != open.len() {
            return Err(
                "Please ensure that the number of function response parts is equal to the \
                        number of function call parts of the function call turn."
                    .into(),
            );
        }
        if answered != open {
            return Err("Please ensure that function responses have the names of their function \
                        calls, in the same order."
                .into());
        }
        open = calls(content);
        let after_user = index.checked_sub(1).is_some_and(|before| !is_model(&contents[before]));
        if !open.is_empty() && !after_user {
            return Err(
                "Please ensure that function call turn comes immediately after a user turn \
                        or after a function response turn."
                    .into(),
            );
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    Err("Please ensure that the number of function response parts is equal to the number of \
         function call parts of the function call turn."
        .into())
}

/// Tells whether a model is of the third generation or a later one.
fn wants_signatures(model: &str) -> bool {
    let Some(version) = model.strip_prefix("gemini-") else { return false };
    let major = version.split(['.', '-']).next().and_then(|major| major.parse::<u32>().ok());
    major.map_or(version.ends_with("-latest"), |major| major >= 3)
}

/// Checks that the first call of each step of the current turn is signed, which models from the
/// third generation on require.
fn check_signed(contents: &[Content<'_>]) -> Result<(), String> {
    let speaks = |content: &Content<'_>| !is_model(content) && responses(content).is_empty();
    let from = contents.iter().rposition(speaks).unwrap_or(0);
    for (index, content) in contents.iter().enumerate().skip(from) {
        let mut parts = content.parts.iter().enumerate();
        let first = parts.find_map(|(at, part)| Some((at, part, part.function_call.as_ref()?)));
        if let Some((at, part, call)) = first
            && part.thought_signature.is_none()
        {
            return Err(format!(
                "Function call is missing a thought_signature in functionCall parts. This is \
                 required for tools to work correctly, and missing thought_signature may lead to \
                 degraded model performance. Additional data, function call `default_api:{}`, \
                 content {index}, position {at}.",
                &*call.name
            ));
        }
    }
    Ok(())
}

fn add<'a>(conversation: &mut Conversation<'a>, content: Content<'a>) {
    let model = is_model(&content);
    let mut begins = true;
    let mut said = ScriptMessage::new(Role::Assistant, Cow::Borrowed(""));
    for part in content.parts {
        if let Some(call) = part.function_call {
            said.calls.push(call.name.0);
        } else if let Some(response) = part.function_response {
            let text = Cow::Owned(result_text(response.response));
            conversation.messages.push(ScriptMessage::new(Role::Tool, text));
        } else if let Some(text) = part.text.filter(|_| !part.thought) {
            if model {
                said.text = join([said.text, text.0]);
            } else {
                conversation.push_user_text(text.0, begins);
                begins = false;
            }
        } else if part.inline_data.is_some() {
            conversation.push_user_image(begins, false);
            begins = false;
        }
    }
    if model {
        conversation.messages.push(said);
    }
}

/// Returns the text of a result. A result is an object; clients put a text into its only field.
fn result_text(mut response: Map<String, Value>) -> String {
    if response.len() == 1
        && let Some(Value::String(text)) = response.values_mut().next()
    {
        return std::mem::take(text);
    }
    Value::Object(response).to_string()
}
