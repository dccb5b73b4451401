//! Defines the types of a request: everything that is documented, and nothing else. As with all of
//! Google's JSON, names may be written in both styles.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::text::Text;

/// Represents a documented field that scripts do not read.
type IgnoredField = Option<IgnoredAny>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct Body<'a> {
    #[serde(default, borrow)]
    pub(super) contents: Vec<Content<'a>>,
    #[serde(default, borrow)]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(default, borrow, alias = "system_instruction")]
    pub(super) system_instruction: Option<Content<'a>>,
    #[serde(alias = "generation_config")]
    pub(super) generation_config: Option<GenerationConfig>,
    #[serde(alias = "tool_config")]
    pub(super) tool_config: IgnoredField,
    #[serde(alias = "safety_settings")]
    pub(super) safety_settings: IgnoredField,
    #[serde(alias = "cached_content")]
    pub(super) cached_content: IgnoredField,
    #[serde(alias = "service_tier")]
    pub(super) service_tier: IgnoredField,
    pub(super) store: IgnoredField,
    pub(super) model: IgnoredField,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct GenerationConfig {
    pub(super) temperature: Option<f64>,
    #[serde(alias = "max_output_tokens")]
    pub(super) max_output_tokens: Option<i64>,
    #[serde(alias = "candidate_count")]
    candidate_count: IgnoredField,
    #[serde(alias = "stop_sequences")]
    stop_sequences: IgnoredField,
    #[serde(alias = "top_p")]
    top_p: IgnoredField,
    #[serde(alias = "top_k")]
    top_k: IgnoredField,
    seed: IgnoredField,
    #[serde(alias = "presence_penalty")]
    presence_penalty: IgnoredField,
    #[serde(alias = "frequency_penalty")]
    frequency_penalty: IgnoredField,
    #[serde(alias = "response_mime_type")]
    response_mime_type: IgnoredField,
    #[serde(alias = "response_schema")]
    response_schema: IgnoredField,
    #[serde(alias = "response_json_schema", alias = "_responseJsonSchema")]
    response_json_schema: IgnoredField,
    #[serde(alias = "response_modalities")]
    response_modalities: IgnoredField,
    #[serde(alias = "response_logprobs")]
    response_logprobs: IgnoredField,
    logprobs: IgnoredField,
    #[serde(alias = "enable_enhanced_civic_answers")]
    enable_enhanced_civic_answers: IgnoredField,
    #[serde(alias = "speech_config")]
    speech_config: IgnoredField,
    #[serde(alias = "thinking_config")]
    thinking_config: Option<ThinkingConfig>,
    #[serde(alias = "image_config")]
    image_config: IgnoredField,
    #[serde(alias = "media_resolution")]
    media_resolution: IgnoredField,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
struct ThinkingConfig {
    #[serde(alias = "include_thoughts")]
    include_thoughts: IgnoredField,
    #[serde(alias = "thinking_budget")]
    thinking_budget: IgnoredField,
    #[serde(alias = "thinking_level")]
    thinking_level: IgnoredField,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content<'a> {
    #[serde(default, borrow)]
    pub(super) role: Option<Text<'a>>,
    #[serde(default, borrow)]
    pub(super) parts: Vec<Part<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
#[expect(clippy::struct_field_names, reason = "the wire's own names")]
pub(super) struct Part<'a> {
    #[serde(default, borrow)]
    pub(super) text: Option<Text<'a>>,
    #[serde(default, borrow, alias = "inline_data")]
    pub(super) inline_data: Option<Blob<'a>>,
    #[serde(default, borrow, alias = "function_call")]
    pub(super) function_call: Option<FunctionCall<'a>>,
    #[serde(default, borrow, alias = "function_response")]
    pub(super) function_response: Option<FunctionResponse<'a>>,
    #[serde(alias = "file_data")]
    pub(super) file_data: IgnoredField,
    #[serde(alias = "executable_code")]
    pub(super) executable_code: IgnoredField,
    #[serde(alias = "code_execution_result")]
    pub(super) code_execution_result: IgnoredField,
    #[serde(default)]
    pub(super) thought: bool,
    #[serde(default, borrow, alias = "thought_signature")]
    pub(super) thought_signature: Option<Text<'a>>,
    #[serde(alias = "video_metadata")]
    video_metadata: IgnoredField,
    #[serde(alias = "media_resolution")]
    media_resolution: IgnoredField,
    #[serde(alias = "part_metadata")]
    part_metadata: IgnoredField,
}

impl Part<'_> {
    /// Returns how many kinds of data the part has; one is right.
    pub(super) fn kinds(&self) -> usize {
        [
            self.text.is_some(),
            self.inline_data.is_some(),
            self.function_call.is_some(),
            self.function_response.is_some(),
            self.file_data.is_some(),
            self.executable_code.is_some(),
            self.code_execution_result.is_some(),
        ]
        .into_iter()
        .map(usize::from)
        .sum()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct Blob<'a> {
    #[serde(borrow, alias = "mime_type")]
    pub(super) mime_type: Text<'a>,
    #[serde(borrow)]
    pub(super) data: Text<'a>,
    #[serde(alias = "display_name")]
    display_name: IgnoredField,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) args: Option<Map<String, Value>>,
    #[serde(default, borrow)]
    pub(super) id: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct FunctionResponse<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) response: Map<String, Value>,
    #[serde(default, borrow)]
    pub(super) id: Option<Text<'a>>,
    #[serde(alias = "will_continue")]
    will_continue: IgnoredField,
    scheduling: IgnoredField,
    parts: IgnoredField,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct Tool<'a> {
    #[serde(default, borrow, alias = "function_declarations")]
    pub(super) function_declarations: Vec<Declaration<'a>>,
    #[serde(alias = "google_search")]
    google_search: IgnoredField,
    #[serde(alias = "google_search_retrieval")]
    google_search_retrieval: IgnoredField,
    #[serde(alias = "code_execution")]
    code_execution: IgnoredField,
    #[serde(alias = "url_context")]
    url_context: IgnoredField,
    #[serde(alias = "computer_use")]
    computer_use: IgnoredField,
    #[serde(alias = "file_search")]
    file_search: IgnoredField,
    #[serde(alias = "google_maps")]
    google_maps: IgnoredField,
    #[serde(alias = "mcp_servers")]
    mcp_servers: IgnoredField,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct Declaration<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) description: Option<IgnoredAny>,
    pub(super) parameters: Option<Map<String, Value>>,
    #[serde(alias = "parameters_json_schema")]
    pub(super) parameters_json_schema: Option<Map<String, Value>>,
    behavior: IgnoredField,
    response: IgnoredField,
    #[serde(alias = "response_json_schema")]
    response_json_schema: IgnoredField,
}
