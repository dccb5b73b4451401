//! Parses a request, and refuses what Ollama refuses. Unknown fields are ignored.

use std::borrow::Cow;

use lango_model::Wire;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::conversation::{Conversation, Role, ScriptMessage, join};
use crate::script::Script;
use crate::text::{Text, is_base64};

#[derive(Debug, Deserialize)]
struct Body<'a> {
    #[serde(default, borrow)]
    model: Option<Text<'a>>,
    #[serde(default, borrow)]
    messages: Vec<Message<'a>>,
    #[serde(default, borrow)]
    tools: Vec<Tool<'a>>,
}

#[derive(Debug, Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(default, borrow)]
    content: Text<'a>,
    #[serde(default, borrow)]
    thinking: Option<Text<'a>>,
    #[serde(default, borrow)]
    images: Vec<Text<'a>>,
    #[serde(default, borrow)]
    tool_calls: Vec<Call<'a>>,
    #[serde(default, borrow)]
    tool_name: Option<Text<'a>>,
    #[serde(default, borrow)]
    tool_call_id: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
struct Call<'a> {
    #[serde(default, borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    function: FunctionCall<'a>,
}

#[derive(Debug, Deserialize)]
struct FunctionCall<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[expect(dead_code, reason = "it must be an object, whatever is in it")]
    arguments: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Tool<'a> {
    #[serde(borrow)]
    function: Function<'a>,
}

#[derive(Debug, Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(default, borrow)]
    parameters: Parameters<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[expect(dead_code, reason = "only the types of the values are checked")]
struct Parameters<'a> {
    #[serde(default, borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(default, borrow)]
    required: Option<Vec<Text<'a>>>,
    properties: Option<Map<String, Value>>,
}

/// Reads a request. The error is what the server says about it.
pub(super) fn parse<'a>(body: &'a [u8], script: &Script) -> Result<Conversation<'a>, String> {
    let request: Body<'a> =
        serde_json::from_slice(body).map_err(|error| format!("json: cannot unmarshal: {error}"))?;
    let model = request.model.filter(|model| !model.is_empty()).ok_or("model is required")?;
    for tool in &request.tools {
        if tool.function.name.is_empty() {
            return Err("tool function name is required".into());
        }
        check_properties(&tool.function.parameters)?;
    }
    check_order(&request.messages)?;
    let mut conversation = Conversation {
        wire: Wire::Ollama,
        model: model.0,
        system: Cow::Borrowed(""),
        messages: Vec::new(),
        tools: request.tools.into_iter().map(|tool| tool.function.name.0).collect(),
        bytes: body.len(),
    };
    for message in request.messages {
        // Ollama accepts any reasoning; this server refuses that of another model.
        if message.thinking.as_deref().is_some_and(|thought| !script.thinks(thought)) {
            return Err("thinking is not what this server said".into());
        }
        add(&mut conversation, message)?;
    }
    Ok(conversation)
}

/// Checks that a property is an object with a type that is a name or a list of names.
fn check_properties(parameters: &Parameters<'_>) -> Result<(), String> {
    for (name, property) in parameters.properties.iter().flatten() {
        let valid = property.as_object().is_some_and(|property| match property.get("type") {
            None | Some(Value::String(_)) => true,
            Some(Value::Array(kinds)) => kinds.iter().all(Value::is_string),
            Some(_) => false,
        });
        if !valid {
            return Err(format!(
                "json: cannot unmarshal into Go struct field \
                 ChatRequest.tools.function.parameters.properties of type api.ToolProperty: {name}"
            ));
        }
    }
    Ok(())
}

/// Checks that a result belongs to a call of the assistant message before it.
fn check_order(messages: &[Message<'_>]) -> Result<(), String> {
    let mut open: Vec<&Call<'_>> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if &*message.role != "tool" {
            open = message.tool_calls.iter().collect();
            continue;
        }
        let fits = |call: &&Call<'_>| {
            let same = |theirs: Option<&str>, ours: Option<&str>| match (theirs, ours) {
                (Some(theirs), Some(ours)) => theirs == ours,
                _ => true,
            };
            same(message.tool_name.as_deref(), Some(&call.function.name))
                && same(message.tool_call_id.as_deref(), call.id.as_deref())
        };
        let Some(position) = open.iter().position(fits) else {
            return Err(format!("messages[{index}]: a tool message without its call"));
        };
        open.remove(position);
    }
    Ok(())
}

fn add<'a>(conversation: &mut Conversation<'a>, message: Message<'a>) -> Result<(), String> {
    let role = match &*message.role {
        "system" => {
            let system = std::mem::take(&mut conversation.system);
            conversation.system = join([system, message.content.0]);
            return Ok(());
        }
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        other => {
            return Err(format!(
                "invalid role: {other}, must be one of [system, user, assistant, tool]"
            ));
        }
    };
    if message.images.iter().any(|image| !is_base64(image)) {
        return Err("illegal base64 data at input byte 0".into());
    }
    conversation.messages.push(ScriptMessage {
        role,
        text: message.content.0,
        images: message.images.len(),
        calls: message.tool_calls.into_iter().map(|call| call.function.name.0).collect(),
    });
    Ok(())
}
