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
    /// The arguments as valid JSON, whatever the model wrote.
    pub fn valid_arguments(&self) -> &str {
        let object = serde_json::from_str::<&serde_json::value::RawValue>(&self.arguments)
            .is_ok_and(|raw| raw.get().starts_with('{'));
        if object { &self.arguments } else { "{}" }
    }
}
