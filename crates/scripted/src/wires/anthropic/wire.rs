//! The types of a request: everything that is documented, and nothing else.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::text::{Content, Text};

/// A documented field that scripts do not look at.
pub(super) type Known = Option<IgnoredAny>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct Body<'a> {
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) messages: Vec<Message<'a>>,
    pub(super) max_tokens: Option<u64>,
    #[serde(default, borrow)]
    pub(super) system: Option<Content<'a, SystemBlock<'a>>>,
    #[serde(default, borrow)]
    pub(super) tools: Vec<Tool<'a>>,
    pub(super) temperature: Option<f64>,
    #[serde(default, borrow)]
    pub(super) thinking: Option<Thinking<'a>>,
    pub(super) cache_control: Option<CacheControl>,
    pub(super) container: Known,
    pub(super) context_management: Known,
    pub(super) inference_geo: Known,
    pub(super) mcp_servers: Known,
    pub(super) metadata: Known,
    pub(super) output_config: Known,
    pub(super) output_format: Known,
    pub(super) service_tier: Known,
    pub(super) speed: Known,
    pub(super) stop_sequences: Known,
    pub(super) stream: Option<bool>,
    pub(super) tool_choice: Known,
    pub(super) top_k: Known,
    pub(super) top_p: Known,
}

#[derive(Debug, Deserialize)]
pub(super) struct Thinking<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) budget_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct CacheControl {
    #[serde(rename = "type")]
    kind: Ephemeral,
    ttl: Known,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ephemeral {
    Ephemeral,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) enum SystemBlock<'a> {
    Text {
        #[serde(borrow)]
        text: Text<'a>,
        cache_control: Option<CacheControl>,
        citations: Known,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message<'a> {
    pub(super) role: MessageRole,
    #[serde(borrow)]
    pub(super) content: Content<'a, Block<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MessageRole {
    User,
    Assistant,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) enum Block<'a> {
    Text {
        #[serde(borrow)]
        text: Text<'a>,
        cache_control: Option<CacheControl>,
        citations: Known,
    },
    Image {
        #[serde(borrow)]
        source: Source<'a>,
        cache_control: Option<CacheControl>,
    },
    Document {
        source: IgnoredAny,
        title: Known,
        context: Known,
        citations: Known,
        cache_control: Option<CacheControl>,
    },
    Thinking {
        #[serde(borrow)]
        thinking: Text<'a>,
        #[serde(borrow)]
        signature: Text<'a>,
    },
    RedactedThinking {
        #[serde(borrow)]
        data: Text<'a>,
    },
    ToolUse {
        #[serde(borrow)]
        id: Text<'a>,
        #[serde(borrow)]
        name: Text<'a>,
        input: serde_json::Map<String, serde_json::Value>,
        caller: Known,
        cache_control: Option<CacheControl>,
    },
    ToolResult {
        #[serde(borrow)]
        tool_use_id: Text<'a>,
        #[serde(default, borrow)]
        content: Option<Content<'a, ResultBlock<'a>>>,
        is_error: Option<bool>,
        cache_control: Option<CacheControl>,
    },
}

/// What may be inside of a result.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) enum ResultBlock<'a> {
    Text {
        #[serde(borrow)]
        text: Text<'a>,
        cache_control: Option<CacheControl>,
        citations: Known,
    },
    Image {
        #[serde(borrow)]
        source: Source<'a>,
        cache_control: Option<CacheControl>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) enum Source<'a> {
    Base64 {
        #[serde(borrow)]
        media_type: Text<'a>,
        #[serde(borrow)]
        data: Text<'a>,
    },
    Url {
        url: IgnoredAny,
    },
    File {
        file_id: IgnoredAny,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented is known, also where nobody looks at it")]
pub(super) struct Tool<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(default, borrow, rename = "type")]
    pub(super) kind: Option<Text<'a>>,
    pub(super) description: Known,
    pub(super) input_schema: Option<serde_json::Map<String, serde_json::Value>>,
    pub(super) cache_control: Option<CacheControl>,
    pub(super) strict: Known,
    pub(super) eager_input_streaming: Known,
    pub(super) defer_loading: Known,
    pub(super) allowed_callers: Known,
    pub(super) input_examples: Known,
}

impl Block<'_> {
    pub(super) fn is_cached(&self) -> bool {
        match self {
            Self::Text { cache_control, .. }
            | Self::Image { cache_control, .. }
            | Self::Document { cache_control, .. }
            | Self::ToolUse { cache_control, .. }
            | Self::ToolResult { cache_control, .. } => cache_control.is_some(),
            Self::Thinking { .. } | Self::RedactedThinking { .. } => false,
        }
    }
}
