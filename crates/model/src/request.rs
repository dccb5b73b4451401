//! What a model is asked.

use std::sync::Arc;

use lango_protocol::CallId;
use lango_tool::ToolDeclaration;

/// One request. Instruction and context are separate fields to the very end: nothing that is
/// remembered or retrieved can take the place of what an agent is.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// What the agent is and how it works.
    pub instruction: Arc<str>,
    /// What it should know now; rendered next to the newest user message.
    pub context: Vec<ContextBlock>,
    /// The conversation it may see, oldest first.
    pub messages: Vec<Message>,
    /// What it may call.
    pub tools: Vec<ToolDeclaration>,
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
    },
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
