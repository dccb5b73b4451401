//! Defines a request to a model.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use bytes::Bytes;
use lango_protocol::{CallId, CallReport, CallStatus, DelegationStatus, Instruction, ORCHESTRATOR};
use lango_tool::ToolDeclaration;

use crate::ModelId;

/// Holds one request. Instruction and context are separate fields to the very end: no memory and no
/// retrieved text can replace an agent's instruction.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// The agent's role in the turn. It is not sent to a provider: a language model reads it in its
    /// instruction.
    pub role: RequestRole,
    /// The agent's identity and its way of working. Its type has no place for words of others.
    pub instruction: Instruction,
    /// Facts for this request; rendered next to the newest user message.
    pub context: Vec<ContextBlock>,
    /// The conversation it may see, oldest first.
    pub messages: Vec<Message>,
    /// The tools it may call.
    pub tools: Vec<ToolDeclaration>,
    /// The agents it may transfer to, with their abilities. They are not sent to a provider: a
    /// language model reads about them in its instruction.
    pub colleagues: Vec<Arc<Colleague>>,
    /// The calls of the newest turns before this one, oldest first. They are not sent to a
    /// provider: a language model reads the conversation.
    pub earlier_calls: Vec<EarlierCall>,
    /// The options of the reply.
    pub options: ReplyOptions,
}

/// Describes a call of an earlier turn, so that "delete the second one" can be understood without
/// reading what was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierCall {
    /// The tool.
    pub tool: String,
    /// JSON.
    pub arguments: String,
    /// True if it did what it was asked for.
    pub succeeded: bool,
    /// The files that it was about, in the order in which they were shown.
    pub files: Vec<String>,
}

impl ModelRequest {
    /// Returns the position of the newest user message: everything before it stays the same from
    /// call to call, and context goes into it.
    pub fn newest_user(&self) -> Option<usize> {
        self.messages.iter().rposition(|message| matches!(message, Message::User(_)))
    }

    /// Renders a user message, with the context in front of it if it is the newest one. A second
    /// system message is refused by the templates of many local models, and early in the request
    /// it would spoil the provider's cache.
    pub(crate) fn user_text<'a>(&self, position: usize, message: &'a UserMessage) -> Cow<'a, str> {
        let text = message.rendered();
        if self.context.is_empty() || self.newest_user() != Some(position) {
            return text;
        }
        let mut whole = String::new();
        for block in &self.context {
            whole.push_str("<context source=\"");
            whole.push_str(block.source);
            whole.push_str("\">\n");
            push_block_text(&mut whole, block.text.trim_end());
            whole.push_str("\n</context>\n\n");
        }
        whole.push_str(&text);
        Cow::Owned(whole)
    }
}

/// Appends the text of a block. Text of others cannot end its block or begin another: such a tag in it
/// gets a space.
fn push_block_text(whole: &mut String, text: &str) {
    const TAGS: [&str; 2] = ["<context", "</context"];
    // The positions are those of the text itself, because only ASCII letters change.
    let lower = text.to_ascii_lowercase();
    let mut written = 0;
    for (position, _) in lower.match_indices('<') {
        if TAGS.iter().any(|tag| lower[position..].starts_with(tag)) {
            whole.push_str(&text[written..=position]);
            whole.push(' ');
            written = position + 1;
        }
    }
    whole.push_str(&text[written..]);
}

/// Says which part an agent plays in a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RequestRole {
    /// It talks to the user and transfers tasks to specialists.
    Orchestrator,
    /// It was given a task, and may reject it.
    Specialist,
    /// It was given a request to split into steps.
    Planner,
    /// It is the only agent, or no agent at all.
    #[default]
    Single,
}

/// Describes an agent that another may transfer to.
#[derive(Debug, Clone)]
pub struct Colleague {
    /// Its name.
    pub name: String,
    /// Its purpose, in a few words.
    pub description: String,
    /// The tools it can call; empty for a remote agent, whose tools are not known.
    pub tools: Vec<ToolDeclaration>,
}

/// Sets the options of a reply. What is not set is left to the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ReplyOptions {
    /// Upper limit of the reply in tokens.
    pub max_output_tokens: Option<u32>,
    /// The temperature, between 0 and 2.
    pub temperature: Option<f32>,
}

/// Represents an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The type, such as `image/png`.
    pub media_type: String,
    /// The file's bytes.
    pub data: Bytes,
}

/// Holds a bounded piece of context for one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextBlock {
    /// The source, such as `workspace` or `memory`.
    pub source: &'static str,
    /// The text.
    pub text: String,
}

/// Is one entry of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A person, and the task that an orchestrator made of it.
    User(UserMessage),
    /// An agent's text.
    Assistant {
        /// The agent, where it is not the one being asked.
        author: Option<String>,
        /// The text.
        text: String,
    },
    /// An agent's calls together with their results. There is no other way to put a call into a
    /// request.
    Exchange {
        /// The text that came with the calls.
        text: String,
        /// The calls, each with its result.
        calls: Vec<AnsweredCall>,
        /// The provider state of this reply.
        provider_state: Option<ProviderState>,
    },
}

/// Holds a user's text, what came with it, and the task that a specialist has to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserMessage {
    /// The user's own text.
    pub text: String,
    /// Text that came with the message, such as standard input. It is data, not an instruction.
    pub attachment: Option<String>,
    /// The task as the orchestrator worded it, where it differs from the user's text.
    pub task: Option<String>,
    /// Images. A model that accepts none gets a placeholder text for each.
    pub images: Vec<Image>,
}

impl UserMessage {
    /// Makes a message of text alone.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Renders the message as one text, as a language model reads it.
    pub fn rendered(&self) -> Cow<'_, str> {
        if self.attachment.is_none() && self.task.is_none() {
            return Cow::Borrowed(&self.text);
        }
        let mut text = self.text.clone();
        if let Some(attachment) = &self.attachment {
            text.push_str("\n\n<attachment>\n");
            text.push_str(attachment);
            text.push_str("\n</attachment>");
        }
        if let Some(task) = &self.task {
            text.push_str("\n\n<task from=\"");
            text.push_str(ORCHESTRATOR);
            text.push_str("\">\n");
            text.push_str(task);
            text.push_str("\n</task>");
        }
        Cow::Owned(text)
    }

    /// Returns how many bytes of text it has, about.
    pub fn text_bytes(&self) -> usize {
        let part = |part: &Option<String>| part.as_ref().map_or(0, String::len);
        self.text.len() + part(&self.attachment) + part(&self.task)
    }
}

impl Image {
    /// Returns the bytes as every API carries them.
    pub(crate) fn base64(&self) -> String {
        base64::engine::general_purpose::STANDARD.encode(&self.data)
    }

    /// Returns a text in place of the image, for a model that accepts none.
    pub(crate) fn placeholder(&self) -> String {
        let kilobytes = self.data.len().div_ceil(1024);
        format!("[an image ({}, {kilobytes} kB) that this model cannot see]", self.media_type)
    }
}

impl Message {
    /// Makes a user message without images.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(UserMessage::new(text))
    }
}

/// Holds data of one provider about one of its own replies, such as a signature of its reasoning.
/// It goes back to the model it came from and to no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderState {
    /// The model that it came from.
    pub from: ModelId,
    /// JSON that only this provider understands.
    pub data: String,
}

impl ProviderState {
    /// Returns the data, if it came from `id`.
    pub fn for_model(&self, id: &ModelId) -> Option<&str> {
        (self.from == *id).then_some(self.data.as_str())
    }
}

/// Holds a call and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredCall {
    /// The id we gave it.
    pub id: CallId,
    /// The tool.
    pub name: String,
    /// JSON; what was not valid JSON is shown as an empty object, its result says why.
    pub arguments: String,
    /// The result, as a language model reads it.
    pub result: String,
    /// The result, for programs.
    pub outcome: CallOutcome,
}

/// Says how a call went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOutcome {
    /// A tool was called.
    Tool {
        /// The status of the call.
        status: CallStatus,
        /// The report of its effects, for a person.
        report: Option<Arc<CallReport>>,
    },
    /// A task was transferred to a specialist.
    Transfer {
        /// The status of the transfer.
        status: DelegationStatus,
        /// The specialist's answer, question or reason.
        text: String,
        /// The outcomes of the specialist's own calls.
        calls: CallTally,
    },
}

/// Counts the tool calls of a specialist by whether they did what they were asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallTally {
    /// Calls that did.
    pub succeeded: u32,
    /// Calls that did not, or were not run.
    pub failed: u32,
}

impl CallOutcome {
    /// Makes the outcome of a tool that reports nothing for a person.
    pub fn tool(status: CallStatus) -> Self {
        Self::Tool { status, report: None }
    }
}

impl AnsweredCall {
    /// Returns the name if every provider accepts it, and a placeholder otherwise. A model that
    /// invented a name learns it from the result; as a name it would fail every later request.
    pub fn valid_name(&self) -> &str {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let valid = (1..=64).contains(&self.name.len()) && self.name.bytes().all(allowed);
        if valid { &self.name } else { "not_a_tool" }
    }

    /// Returns the arguments as a JSON object, even where the model wrote something else. They are
    /// parsed as strictly as by the strictest provider: a number out of range or half a surrogate
    /// would fail every later request.
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
        AnsweredCall {
            id,
            name: name.into(),
            arguments: arguments.into(),
            result: "r".into(),
            outcome: CallOutcome::tool(CallStatus::Ok),
        }
    }

    #[test]
    fn a_user_message_is_rendered_with_what_came_with_it() {
        assert_eq!(UserMessage::new("hi").rendered(), "hi");
        let message = UserMessage {
            attachment: Some("a".into()),
            task: Some("t".into()),
            ..UserMessage::new("u")
        };
        assert_eq!(
            message.rendered(),
            "u\n\n<attachment>\na\n</attachment>\n\n<task from=\"lango-orchestrator\">\nt\n</task>"
        );
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

    proptest::proptest! {
        #[test]
        fn no_text_ends_the_block_that_it_stands_in(
            text in "(\\PC|</?[Cc]on[Tt]ext|>|\n| source=\"x\"){0,40}",
        ) {
            let request = ModelRequest {
                context: vec![ContextBlock { source: "page", text: text.clone() }],
                messages: vec![Message::user("Hello.")],
                ..ModelRequest::default()
            };
            let message = UserMessage::new("Hello.");
            let whole = request.user_text(0, &message);
            let lower = whole.to_ascii_lowercase();
            proptest::prop_assert_eq!(lower.matches("<context").count(), 1);
            proptest::prop_assert_eq!(lower.matches("</context").count(), 1);
            // Nothing else is changed.
            let block = whole.strip_prefix("<context source=\"page\">\n");
            let block = block.and_then(|block| block.strip_suffix("\n</context>\n\nHello."));
            let without_spaces = |text: &str| text.replace(' ', "");
            let block = block.map(without_spaces);
            proptest::prop_assert_eq!(block, Some(without_spaces(text.trim_end())));
        }
    }
}
