//! Defines the types of a request: everything that is documented, and nothing else.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::text::{Content, Text};

/// Represents a documented parameter that scripts do not read.
pub(super) type IgnoredField = Option<IgnoredAny>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct Body<'a> {
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) messages: Vec<Message<'a>>,
    #[serde(default, borrow)]
    pub(super) tools: Vec<Tool<'a>>,
    pub(super) temperature: Option<f64>,
    pub(super) audio: IgnoredField,
    pub(super) frequency_penalty: IgnoredField,
    pub(super) function_call: IgnoredField,
    pub(super) functions: IgnoredField,
    pub(super) logit_bias: IgnoredField,
    pub(super) logprobs: IgnoredField,
    pub(super) max_completion_tokens: IgnoredField,
    pub(super) max_tokens: IgnoredField,
    pub(super) metadata: IgnoredField,
    pub(super) modalities: IgnoredField,
    pub(super) n: IgnoredField,
    pub(super) parallel_tool_calls: IgnoredField,
    pub(super) prediction: IgnoredField,
    pub(super) presence_penalty: IgnoredField,
    pub(super) prompt_cache_key: IgnoredField,
    pub(super) prompt_cache_retention: IgnoredField,
    pub(super) reasoning_effort: IgnoredField,
    pub(super) response_format: IgnoredField,
    pub(super) safety_identifier: IgnoredField,
    pub(super) seed: IgnoredField,
    pub(super) service_tier: IgnoredField,
    pub(super) stop: IgnoredField,
    pub(super) store: IgnoredField,
    pub(super) stream: IgnoredField,
    pub(super) stream_options: IgnoredField,
    pub(super) tool_choice: IgnoredField,
    pub(super) top_logprobs: IgnoredField,
    pub(super) top_p: IgnoredField,
    pub(super) user: IgnoredField,
    pub(super) verbosity: IgnoredField,
    pub(super) web_search_options: IgnoredField,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct Message<'a> {
    pub(super) role: Speaker,
    #[serde(default, borrow)]
    pub(super) content: Option<Content<'a, Part<'a>>>,
    // Rare, and boxed, so that a message is cheap to move.
    #[serde(default, borrow)]
    pub(super) name: Option<Box<Text<'a>>>,
    #[serde(default, borrow)]
    pub(super) tool_calls: Vec<Call<'a>>,
    #[serde(default, borrow)]
    pub(super) tool_call_id: Option<Text<'a>>,
    /// Not OpenAI's own; servers that send it take it back.
    #[serde(default, borrow)]
    pub(super) reasoning_content: Option<Box<Text<'a>>>,
    pub(super) refusal: IgnoredField,
    pub(super) audio: IgnoredField,
    pub(super) annotations: IgnoredField,
    pub(super) function_call: IgnoredField,
}

/// The role of a message's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Speaker {
    System,
    Developer,
    User,
    Assistant,
    Tool,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) enum Part<'a> {
    Text {
        #[serde(borrow)]
        text: Text<'a>,
    },
    Refusal {
        #[serde(borrow)]
        refusal: Text<'a>,
    },
    ImageUrl {
        #[serde(borrow)]
        image_url: ImageUrl<'a>,
    },
    InputAudio {
        input_audio: IgnoredAny,
    },
    File {
        file: IgnoredAny,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct ImageUrl<'a> {
    #[serde(borrow)]
    pub(super) url: Text<'a>,
    pub(super) detail: IgnoredField,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) function: FunctionCall<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Text<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tool<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) function: Function<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) description: IgnoredField,
    #[serde(default, borrow)]
    pub(super) parameters: Option<Schema<'a>>,
    pub(super) strict: IgnoredField,
}

#[derive(Debug, Deserialize)]
pub(super) struct Schema<'a> {
    #[serde(default, borrow, rename = "type")]
    pub(super) kind: Option<Text<'a>>,
}
