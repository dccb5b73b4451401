//! The types of a request: everything that is documented, and nothing else. As with all of
//! Google's JSON, names may be written in both styles.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::text::Text;

/// A documented field that scripts do not look at.
type Known = Option<IgnoredAny>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
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
    pub(super) tool_config: Known,
    #[serde(alias = "safety_settings")]
    pub(super) safety_settings: Known,
    #[serde(alias = "cached_content")]
    pub(super) cached_content: Known,
    #[serde(alias = "service_tier")]
    pub(super) service_tier: Known,
    pub(super) store: Known,
    pub(super) model: Known,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct GenerationConfig {
    pub(super) temperature: Option<f64>,
    #[serde(alias = "max_output_tokens")]
    pub(super) max_output_tokens: Option<i64>,
    #[serde(alias = "candidate_count")]
    candidate_count: Known,
    #[serde(alias = "stop_sequences")]
    stop_sequences: Known,
    #[serde(alias = "top_p")]
    top_p: Known,
    #[serde(alias = "top_k")]
    top_k: Known,
    seed: Known,
    #[serde(alias = "presence_penalty")]
    presence_penalty: Known,
    #[serde(alias = "frequency_penalty")]
    frequency_penalty: Known,
    #[serde(alias = "response_mime_type")]
    response_mime_type: Known,
    #[serde(alias = "response_schema")]
    response_schema: Known,
    #[serde(alias = "response_json_schema", alias = "_responseJsonSchema")]
    response_json_schema: Known,
    #[serde(alias = "response_modalities")]
    response_modalities: Known,
    #[serde(alias = "response_logprobs")]
    response_logprobs: Known,
    logprobs: Known,
    #[serde(alias = "enable_enhanced_civic_answers")]
    enable_enhanced_civic_answers: Known,
    #[serde(alias = "speech_config")]
    speech_config: Known,
    #[serde(alias = "thinking_config")]
    thinking_config: Option<ThinkingConfig>,
    #[serde(alias = "image_config")]
    image_config: Known,
    #[serde(alias = "media_resolution")]
    media_resolution: Known,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
struct ThinkingConfig {
    #[serde(alias = "include_thoughts")]
    include_thoughts: Known,
    #[serde(alias = "thinking_budget")]
    thinking_budget: Known,
    #[serde(alias = "thinking_level")]
    thinking_level: Known,
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
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
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
    pub(super) file_data: Known,
    #[serde(alias = "executable_code")]
    pub(super) executable_code: Known,
    #[serde(alias = "code_execution_result")]
    pub(super) code_execution_result: Known,
    #[serde(default)]
    pub(super) thought: bool,
    #[serde(default, borrow, alias = "thought_signature")]
    pub(super) thought_signature: Option<Text<'a>>,
    #[serde(alias = "video_metadata")]
    video_metadata: Known,
    #[serde(alias = "media_resolution")]
    media_resolution: Known,
    #[serde(alias = "part_metadata")]
    part_metadata: Known,
}

impl Part<'_> {
    /// How many kinds of data it has; one is right.
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
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct Blob<'a> {
    #[serde(borrow, alias = "mime_type")]
    pub(super) mime_type: Text<'a>,
    #[serde(borrow)]
    pub(super) data: Text<'a>,
    #[serde(alias = "display_name")]
    display_name: Known,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) args: Option<Map<String, Value>>,
    #[serde(default, borrow)]
    pub(super) id: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct FunctionResponse<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) response: Map<String, Value>,
    #[serde(default, borrow)]
    pub(super) id: Option<Text<'a>>,
    #[serde(alias = "will_continue")]
    will_continue: Known,
    scheduling: Known,
    parts: Known,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct Tool<'a> {
    #[serde(default, borrow, alias = "function_declarations")]
    pub(super) function_declarations: Vec<Declaration<'a>>,
    #[serde(alias = "google_search")]
    google_search: Known,
    #[serde(alias = "google_search_retrieval")]
    google_search_retrieval: Known,
    #[serde(alias = "code_execution")]
    code_execution: Known,
    #[serde(alias = "url_context")]
    url_context: Known,
    #[serde(alias = "computer_use")]
    computer_use: Known,
    #[serde(alias = "file_search")]
    file_search: Known,
    #[serde(alias = "google_maps")]
    google_maps: Known,
    #[serde(alias = "mcp_servers")]
    mcp_servers: Known,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct Declaration<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) description: Option<IgnoredAny>,
    pub(super) parameters: Option<Map<String, Value>>,
    #[serde(alias = "parameters_json_schema")]
    pub(super) parameters_json_schema: Option<Map<String, Value>>,
    behavior: Known,
    response: Known,
    #[serde(alias = "response_json_schema")]
    response_json_schema: Known,
}
