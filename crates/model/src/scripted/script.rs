//! The script: a list of replies, each with the conditions under which it is given.

use serde::Deserialize;

use super::conversation::Conversation;

/// A script that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the script {name} is not valid: {reason}")]
pub struct ScriptError {
    name: String,
    reason: String,
}

/// The replies of a scripted model, tried from top to bottom; the first whose conditions hold is
/// given.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    #[serde(default, rename = "reply")]
    pub(super) replies: Vec<Reply>,
}

/// One reply: conditions first, then what is said. Every condition given must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reply {
    /// The agent being asked, from the first line of its instruction.
    pub agent: Option<String>,
    /// The newest user message contains this, whatever the case.
    pub user: Option<String>,
    /// So many results have come since the newest user message.
    pub results: Option<usize>,
    /// The newest result contains this.
    pub result: Option<String>,
    /// Anything in the conversation contains this.
    pub mentions: Option<String>,
    /// This tool is offered.
    pub offers: Option<String>,
    /// This tool is not offered.
    pub withholds: Option<String>,
    /// Give this reply so many times at most.
    pub times: Option<u32>,

    /// Text. `{user}` and `{result}` stand for the newest message and result.
    pub say: Option<String>,
    /// Say the text so many times.
    pub repeat: Option<usize>,
    /// Reasoning before the text.
    pub think: Option<String>,
    /// Tools to call.
    pub call: Vec<ScriptedCall>,
    /// Make the calls so many times.
    pub copies: Option<usize>,
    /// Wait before the reply.
    pub delay_ms: u64,
    /// Go wrong in this way.
    pub fault: Option<Fault>,
    /// With `fault = "status"`: the HTTP status.
    pub status: Option<u16>,
}

/// A call in a script.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The tool.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: toml::Table,
    /// Its arguments as raw text, instead.
    pub raw: Option<String>,
}

/// Ways to go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The connection closes in the middle of the last call's arguments, or of the text.
    Cut,
    /// The connection closes after the last word, without an end mark.
    NoEnd,
    /// Nothing is ever sent.
    Silence,
    /// The stream stops in the middle and the connection stays open.
    Stall,
    /// What is sent is not the protocol.
    Garbage,
    /// An error event in the middle of the stream.
    ErrorEvent,
    /// The request is refused with `status`.
    Status,
}

impl Script {
    /// Reads a script; `name` is for messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScriptError> {
        let error = |reason: String| ScriptError { name: name.to_owned(), reason };
        let script: Self = toml::from_str(text).map_err(|e| error(e.to_string()))?;
        for (index, reply) in script.replies.iter().enumerate() {
            let speaks = reply.say.is_some() || !reply.call.is_empty() || reply.fault.is_some();
            if !speaks && reply.think.is_none() {
                let number = index + 1;
                return Err(error(format!("reply {number} says, calls and breaks nothing")));
            }
        }
        Ok(script)
    }
}

impl Reply {
    pub(super) fn matches(&self, conversation: &Conversation<'_>) -> bool {
        let contains = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        let holds = |condition: &Option<String>, test: &dyn Fn(&str) -> bool| {
            condition.as_deref().is_none_or(test)
        };
        holds(&self.agent, &|name| conversation.agent() == Some(name))
            && holds(&self.user, &|part| contains(conversation.newest_user(), part))
            && self.results.is_none_or(|count| conversation.results().len() == count)
            && holds(&self.result, &|part| {
                conversation.results().last().is_some_and(|result| contains(result, part))
            })
            && holds(&self.mentions, &|part| conversation.mentions(part))
            && holds(&self.offers, &|tool| conversation.offers(tool))
            && holds(&self.withholds, &|tool| !conversation.offers(tool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_with_a_misspelt_field_or_an_empty_reply_is_refused() {
        assert!(Script::parse("x", "[[reply]]\nsays = \"a\"").is_err());
        assert!(Script::parse("x", "[[reply]]\nagent = \"a\"").is_err());
        assert!(Script::parse("x", "[[reply]]\nsay = \"a\"\ntimes = 2").is_ok());
    }
}
