//! What a model is asked.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use bytes::Bytes;
use lango_protocol::CallId;
use lango_tool::ToolDeclaration;

use crate::ModelId;

/// One request. Instruction and context are separate fields to the very end: nothing that is
/// remembered or retrieved can take the place of what an agent is.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// What the agent is and how it works.
    pub instruction: Arc<str>,
    /// What it should know now; rendered next to the newest user message.
    pub context: Vec<ContextBlock>,
    /// The conversation it may see, oldest first.
    pub messages: Vec<Message>,
    /// What it may call.
    pub tools: Vec<ToolDeclaration>,
    /// Whom it may hand over to, with what they can do. No provider is sent this: a language model
    /// reads about them in its instruction.
    pub colleagues: Vec<Arc<Colleague>>,
    /// How it should answer.
    pub options: Options,
}

impl ModelRequest {
    /// The position of the newest user message: everything before it stays the same from call to
    /// call, and context goes into it.
    pub fn newest_user(&self) -> Option<usize> {
        self.messages.iter().rposition(|message| matches!(message, Message::User { .. }))
    }

    /// A user message's text, with the context in front of it if it is the newest one. A second
    /// system message is refused by the templates of many local models, and early in the request
    /// it would spoil the provider's cache.
    pub(crate) fn user_text<'a>(&self, position: usize, text: &'a str) -> Cow<'a, str> {
        if self.context.is_empty() || self.newest_user() != Some(position) {
            return Cow::Borrowed(text);
        }
        let mut whole = String::new();
        for block in &self.context {
            whole.push_str("<context source=\"");
            whole.push_str(block.source);
            whole.push_str("\">\n");
            whole.push_str(block.text.trim_end());
            whole.push_str("\n</context>\n\n");
        }
        whole.push_str(text);
        Cow::Owned(whole)
    }
}

/// An agent that another may hand over to.
#[derive(Debug, Clone)]
pub struct Colleague {
    /// Its name.
    pub name: String,
    /// What it is for, in a few words.
    pub description: String,
    /// What it can call. Nothing is known of the tools of an agent elsewhere.
    pub tools: Vec<ToolDeclaration>,
}

/// How a model should answer. What is absent is left to the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Options {
    /// Upper limit of the reply in tokens.
    pub max_output_tokens: Option<u32>,
    /// Between 0 and 2.
    pub temperature: Option<f32>,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: String,
    /// The file's bytes.
    pub data: Bytes,
}

/// A bounded piece of knowledge for one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextBlock {
    /// Where it comes from, such as `workspace` or `memory`.
    pub source: &'static str,
    /// The text.
    pub text: String,
}

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A person, or the task an orchestrator handed over.
    User {
        /// The text.
        text: String,
        /// What came with it. A model that takes no images is told that they are there.
        images: Vec<Image>,
    },
    /// An agent's words.
    Assistant {
        /// The agent, where it is not the one being asked.
        author: Option<String>,
        /// The text.
        text: String,
    },
    /// An agent's calls together with their results. There is no other way to put a call into a
    /// request.
    Exchange {
        /// What it said along with the calls.
        text: String,
        /// The calls, each with its result.
        calls: Vec<AnsweredCall>,
        /// What the provider of this reply wants to see again with it.
        keepsake: Option<Keepsake>,
    },
}

impl Image {
    /// The bytes as every wire carries them.
    pub(crate) fn base64(&self) -> String {
        base64::engine::general_purpose::STANDARD.encode(&self.data)
    }

    /// For a model that takes none.
    pub(crate) fn in_words(&self) -> String {
        let kilobytes = self.data.len().div_ceil(1024);
        format!("[an image ({}, {kilobytes} kB) that this model cannot see]", self.media_type)
    }
}

impl Message {
    /// Words of the user, without images.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }
}

/// Data of one provider about one of its own replies, such as a signature of its reasoning.
/// It goes back to the model it came from and to no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keepsake {
    /// Whose it is.
    pub from: ModelId,
    /// JSON that only this provider understands.
    pub data: String,
}

impl Keepsake {
    /// The data, if `id` is whose it is.
    pub fn for_model(&self, id: &ModelId) -> Option<&str> {
        (self.from == *id).then_some(self.data.as_str())
    }
}

/// A call and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredCall {
    /// The id we gave it.
    pub id: CallId,
    /// The tool.
    pub name: String,
    /// JSON; what was not valid JSON is shown as an empty object, its result says why.
    pub arguments: String,
    /// The result.
    pub result: String,
}

impl AnsweredCall {
    /// The name as every provider takes one. A model that invented another is told so by the
    /// result; in the name it would fail every later request.
    pub fn valid_name(&self) -> &str {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let valid = (1..=64).contains(&self.name.len()) && self.name.bytes().all(allowed);
        if valid { &self.name } else { "not_a_tool" }
    }

    /// The arguments as a JSON object, whatever the model wrote. Read as strictly as the strictest
    /// provider does: a number out of range or half a surrogate would fail every later request.
    pub fn valid_arguments(&self) -> &str {
        type Object = serde_json::Map<String, serde_json::Value>;
        let valid = serde_json::from_str::<Object>(&self.arguments).is_ok();
        if valid { &self.arguments } else { "{}" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> AnsweredCall {
        let id = CallId::generate();
        AnsweredCall { id, name: name.into(), arguments: arguments.into(), result: "r".into() }
    }

    #[test]
    fn a_name_that_a_provider_would_refuse_is_not_sent() {
        assert_eq!(call("fs_read", "{}").valid_name(), "fs_read");
        for bad in ["", "a b", "functions.exec", "exec_shеll", &"x".repeat(65)] {
            assert_eq!(call(bad, "{}").valid_name(), "not_a_tool", "{bad}");
        }
    }

    #[test]
    fn arguments_that_a_provider_could_not_read_are_shown_as_an_empty_object() {
        let shown = |arguments: &str| call("f", arguments).valid_arguments().to_owned();
        assert_eq!(shown(r#"{"a": 1}"#), r#"{"a": 1}"#);
        for bad in ["", "[1]", "null", r#"{"a": 1"#, r#"{"a": 1e309}"#, r#"{"a": "\ud800"}"#] {
            assert_eq!(shown(bad), "{}", "{bad}");
        }
    }
}
