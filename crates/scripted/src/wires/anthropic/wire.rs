//! Defines the types of a request: everything that is documented, and nothing else.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::text::{Content, Text};

/// Represents a documented field that scripts do not read.
pub(super) type IgnoredField = Option<IgnoredAny>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
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
    pub(super) container: IgnoredField,
    pub(super) context_management: IgnoredField,
    pub(super) inference_geo: IgnoredField,
    pub(super) mcp_servers: IgnoredField,
    pub(super) metadata: IgnoredField,
    pub(super) output_config: IgnoredField,
    pub(super) output_format: IgnoredField,
    pub(super) service_tier: IgnoredField,
    pub(super) speed: IgnoredField,
    pub(super) stop_sequences: IgnoredField,
    pub(super) stream: Option<bool>,
    pub(super) tool_choice: IgnoredField,
    pub(super) top_k: IgnoredField,
    pub(super) top_p: IgnoredField,
}

#[derive(Debug, Deserialize)]
pub(super) struct Thinking<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) budget_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct CacheControl {
    #[serde(rename = "type")]
    kind: Ephemeral,
    ttl: IgnoredField,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ephemeral {
    Ephemeral,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) enum SystemBlock<'a> {
    Text {
        #[serde(borrow)]
        text: Text<'a>,
        cache_control: Option<CacheControl>,
        citations: IgnoredField,
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
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) enum Block<'a> {
    Text {
        #[serde(borrow)]
        text: Text<'a>,
        cache_control: Option<CacheControl>,
        citations: IgnoredField,
    },
    Image {
        #[serde(borrow)]
        source: Source<'a>,
        cache_control: Option<CacheControl>,
    },
    Document {
        source: IgnoredAny,
        title: IgnoredField,
        context: IgnoredField,
        citations: IgnoredField,
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
        caller: IgnoredField,
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

/// Represents a block inside a result.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) enum ResultBlock<'a> {
    Text {
        #[serde(borrow)]
        text: Text<'a>,
        cache_control: Option<CacheControl>,
        citations: IgnoredField,
    },
    Image {
        #[serde(borrow)]
        source: Source<'a>,
        cache_control: Option<CacheControl>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
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
#[expect(dead_code, reason = "documented fields are accepted, even if they are not read")]
pub(super) struct Tool<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(default, borrow, rename = "type")]
    pub(super) kind: Option<Text<'a>>,
    pub(super) description: IgnoredField,
    pub(super) input_schema: Option<serde_json::Map<String, serde_json::Value>>,
    pub(super) cache_control: Option<CacheControl>,
    pub(super) strict: IgnoredField,
    pub(super) eager_input_streaming: IgnoredField,
    pub(super) defer_loading: IgnoredField,
    pub(super) allowed_callers: IgnoredField,
    pub(super) input_examples: IgnoredField,
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
