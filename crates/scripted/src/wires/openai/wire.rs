//! The types of a request: everything that is documented, and nothing else.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::text::{Content, Text};

/// A documented parameter that scripts do not look at.
pub(super) type Known = Option<IgnoredAny>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct Body<'a> {
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) messages: Vec<Message<'a>>,
    #[serde(default, borrow)]
    pub(super) tools: Vec<Tool<'a>>,
    pub(super) temperature: Option<f64>,
    pub(super) audio: Known,
    pub(super) frequency_penalty: Known,
    pub(super) function_call: Known,
    pub(super) functions: Known,
    pub(super) logit_bias: Known,
    pub(super) logprobs: Known,
    pub(super) max_completion_tokens: Known,
    pub(super) max_tokens: Known,
    pub(super) metadata: Known,
    pub(super) modalities: Known,
    pub(super) n: Known,
    pub(super) parallel_tool_calls: Known,
    pub(super) prediction: Known,
    pub(super) presence_penalty: Known,
    pub(super) prompt_cache_key: Known,
    pub(super) prompt_cache_retention: Known,
    pub(super) reasoning_effort: Known,
    pub(super) response_format: Known,
    pub(super) safety_identifier: Known,
    pub(super) seed: Known,
    pub(super) service_tier: Known,
    pub(super) stop: Known,
    pub(super) store: Known,
    pub(super) stream: Known,
    pub(super) stream_options: Known,
    pub(super) tool_choice: Known,
    pub(super) top_logprobs: Known,
    pub(super) top_p: Known,
    pub(super) user: Known,
    pub(super) verbosity: Known,
    pub(super) web_search_options: Known,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct Message<'a> {
    pub(super) role: Speaker,
    #[serde(default, borrow)]
    pub(super) content: Option<Content<'a, Part<'a>>>,
    // Rare, and in a box, so that a message is cheap to move.
    #[serde(default, borrow)]
    pub(super) name: Option<Box<Text<'a>>>,
    #[serde(default, borrow)]
    pub(super) tool_calls: Vec<Call<'a>>,
    #[serde(default, borrow)]
    pub(super) tool_call_id: Option<Text<'a>>,
    /// Not OpenAI's own; servers that send it take it back.
    #[serde(default, borrow)]
    pub(super) reasoning_content: Option<Box<Text<'a>>>,
    pub(super) refusal: Known,
    pub(super) audio: Known,
    pub(super) annotations: Known,
    pub(super) function_call: Known,
}

/// Who speaks.
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
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
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
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct ImageUrl<'a> {
    #[serde(borrow)]
    pub(super) url: Text<'a>,
    pub(super) detail: Known,
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
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) description: Known,
    #[serde(default, borrow)]
    pub(super) parameters: Option<Schema<'a>>,
    pub(super) strict: Known,
}

#[derive(Debug, Deserialize)]
pub(super) struct Schema<'a> {
    #[serde(default, borrow, rename = "type")]
    pub(super) kind: Option<Text<'a>>,
}
