//! Serialises a request for the Gemini API straight from borrowed parts.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{CallState, ProviderState};
use crate::http::{CONTINUE_TEXT, Endpoint, OPENING_TEXT, with_author};
use crate::{AnsweredCall, Image, Message, ModelRequest};

/// Replaces the signature of a call that another model made; this value is documented. From Gemini
/// 3 on, the first call of each step needs the signature it came with. Only the current turn is
/// checked; a call of an earlier one keeps this value, so that it stays the same from turn to turn.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";
/// Lists the image types that the API accepts.
const IMAGE_MEDIA_TYPES: [&str; 5] =
    ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    generation_config: GenerationConfig,
    /// Last, because the end of it is all that changes from call to call.
    contents: Vec<Content<'a>>,
}

#[derive(Serialize)]
struct Instruction<'a> {
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    /// Only for models that are known to think: others refuse it.
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    /// Thoughts are sent along only on request.
    include_thoughts: bool,
}

impl GenerationConfig {
    fn is_empty(&self) -> bool {
        self.max_output_tokens.is_none()
            && self.temperature.is_none()
            && self.thinking_config.is_none()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Model,
}

#[derive(Serialize)]
struct Content<'a> {
    role: Role,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(flatten)]
    data: Data<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<Cow<'static, str>>,
}

/// Holds the content of a part: exactly one of these fields.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Data<'a> {
    Text(Cow<'a, str>),
    InlineData(InlineData<'a>),
    FunctionCall(FunctionCall<'a>),
    FunctionResponse(FunctionResponse<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: String,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    name: &'a str,
    args: &'a RawValue,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    name: &'a str,
    response: Output<'a>,
}

#[derive(Serialize)]
struct Output<'a> {
    output: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a RawValue,
}

/// Serialises the request.
pub(super) fn serialize_body(
    endpoint: &Endpoint,
    request: &ModelRequest,
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Body {
        system_instruction: Part::text((&*request.instruction).into())
            .map(|part| Instruction { parts: [part] }),
        contents: Contents::of(endpoint, request)?,
        tools: convert_tools(request),
        generation_config: GenerationConfig {
            max_output_tokens: request.options.max_output_tokens,
            temperature: request.options.temperature,
            thinking_config: (endpoint.facts.reasoning == Some(true))
                .then_some(ThinkingConfig { include_thoughts: true }),
        },
    })
}

fn convert_tools(request: &ModelRequest) -> Vec<Tools<'_>> {
    if request.tools.is_empty() {
        return Vec::new();
    }
    let declarations = request.tools.iter().map(|tool| Declaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: &tool.parameters,
    });
    vec![Tools { function_declarations: declarations.collect() }]
}

impl<'a> Part<'a> {
    fn new(data: Data<'a>) -> Self {
        Self { data, thought_signature: None }
    }

    /// Returns a text part, or `None` for an empty text.
    fn text(text: Cow<'a, str>) -> Option<Self> {
        (!text.trim().is_empty()).then(|| Self::new(Data::Text(text)))
    }

    fn signed(mut self, signature: Option<Cow<'static, str>>) -> Self {
        self.thought_signature = signature;
        self
    }
}

/// Collects the contents of the conversation.
struct Contents<'a> {
    list: Vec<Content<'a>>,
}

impl<'a> Contents<'a> {
    fn of(endpoint: &Endpoint, request: &'a ModelRequest) -> serde_json::Result<Vec<Content<'a>>> {
        let mut contents = Self { list: Vec::new() };
        let sees = endpoint.facts.images != Some(false);
        let checks_signatures = checks_signatures(&endpoint.id.model);
        for (position, message) in request.messages.iter().enumerate() {
            match message {
                Message::User(message) => {
                    contents.push(
                        Role::User,
                        build_user_parts(
                            request.user_text(position, message),
                            &message.images,
                            sees,
                        ),
                    );
                }
                Message::Assistant { author, text } => {
                    contents.push(Role::Model, Part::text(with_author(author.as_deref(), text)));
                }
                Message::Exchange { text, calls, provider_state } => {
                    let kept =
                        provider_state.as_ref().and_then(|kept| kept.for_model(&endpoint.id));
                    let kept = read_provider_state(kept, calls.len(), checks_signatures);
                    contents.exchange(text, calls, kept)?;
                }
            }
        }
        if contents.list.last().is_none_or(|content| content.role == Role::Model) {
            let words = if contents.list.is_empty() { OPENING_TEXT } else { CONTINUE_TEXT };
            contents.push(Role::User, Part::text(words.into()));
        }
        Ok(contents.list)
    }

    /// Adds to the last content if it has the same role. A call must follow a user message, so the
    /// conversation begins with one.
    fn push(&mut self, role: Role, parts: impl IntoIterator<Item = Part<'a>>) {
        let mut parts = parts.into_iter().peekable();
        if parts.peek().is_none() {
            return;
        }
        if self.list.is_empty() && role == Role::Model {
            self.push(Role::User, Part::text(OPENING_TEXT.into()));
        }
        match self.list.last_mut().filter(|content| content.role == role) {
            Some(content) => content.parts.extend(parts),
            None => self.list.push(Content { role, parts: parts.collect() }),
        }
    }

    fn exchange(
        &mut self,
        text: &'a str,
        calls: &'a [AnsweredCall],
        kept: ProviderState,
    ) -> serde_json::Result<()> {
        let text = Part::text(text.into()).map(|part| part.signed(kept.text.map(Cow::Owned)));
        let mut parts: Vec<_> = text.into_iter().collect();
        let mut responses = Vec::with_capacity(calls.len());
        for (call, kept) in calls.iter().zip(kept.calls) {
            let (id, name) = (kept.id, call.valid_name());
            let args = serde_json::from_str(call.valid_arguments())?;
            let call_part = FunctionCall { id: id.clone(), name, args };
            let signature = kept.signature.map(Cow::Owned);
            parts.push(Part::new(Data::FunctionCall(call_part)).signed(signature));
            let response = FunctionResponse { id, name, response: Output { output: &call.result } };
            responses.push(Part::new(Data::FunctionResponse(response)));
        }
        self.push(Role::Model, parts);
        self.push(Role::User, responses);
        Ok(())
    }
}

/// Returns the provider state for a reply of so many calls.
fn read_provider_state(data: Option<&str>, calls: usize, signature_needed: bool) -> ProviderState {
    // Data of another format is left out: it is older than this program, or damaged.
    let kept = data.and_then(|data| serde_json::from_str::<ProviderState>(data).ok());
    let mut kept = kept.unwrap_or_default();
    kept.calls.resize(calls, CallState::default());
    if let Some(first) = kept.calls.first_mut().filter(|_| signature_needed) {
        first.signature.get_or_insert_with(|| FOREIGN_SIGNATURE.to_owned());
    }
    kept
}

/// Tells whether the model is a Gemini 3 or later. An alias that always means the newest model is.
fn checks_signatures(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let Some(version) = name.strip_prefix("gemini-") else {
        return false;
    };
    let digits = version.bytes().take_while(u8::is_ascii_digit).count();
    version[..digits].parse::<u32>().map_or(version.ends_with("-latest"), |major| major >= 3)
}

fn build_user_parts<'a>(text: Cow<'a, str>, images: &'a [Image], sees: bool) -> Vec<Part<'a>> {
    let images = images.iter().map(|image| {
        Part::new(if sees && IMAGE_MEDIA_TYPES.contains(&image.media_type.as_str()) {
            Data::InlineData(InlineData { mime_type: &image.media_type, data: image.base64() })
        } else {
            Data::Text(image.placeholder().into())
        })
    });
    Part::text(text).into_iter().chain(images).collect()
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
