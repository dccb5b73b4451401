//! Parses the script: a list of replies, each with the conditions under which it is given.

use lango_model::Wire;
use serde::Deserialize;

use super::conversation::Conversation;
use super::variant::WireVariant;

/// Describes a script that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the script {name} is not valid: {reason}")]
pub struct ScriptError {
    name: String,
    reason: String,
}

/// Holds the replies of a scripted model, tried from top to bottom; the first whose conditions hold
/// is given.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The wire variant, the same for all replies.
    #[serde(default, alias = "manner")]
    pub(super) variant: WireVariant,
    #[serde(default, rename = "reply")]
    pub(super) replies: Vec<Reply>,
}

/// Is one reply: conditions first, then its content. Every condition given must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reply {
    /// The agent being asked, from the first line of its instruction.
    pub agent: Option<String>,
    /// The newest user message contains this, in upper or lower case.
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
    /// The newest user message has so many images.
    pub images: Option<usize>,
    /// The request came over this wire.
    pub wire: Option<Wire>,
    /// This model is asked.
    pub model: Option<String>,
    /// The request is longer than so many bytes.
    pub longer_than: Option<usize>,
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
    /// The HTTP status, with `fault = "status"`.
    pub status: Option<u16>,
    /// The number of bytes after which the reply breaks off, with `fault = "cut"`.
    pub cut_at: Option<usize>,
    /// The wait before each byte, with `fault = "drip"`.
    pub drip_ms: Option<u64>,
    /// Refuse the request as the provider does in this case.
    pub error: Option<ErrorCase>,
    /// The value of the `Retry-After` header, with a refusal.
    pub retry_after: Option<String>,
    /// The usage to report, instead of an estimate.
    pub usage: Option<ScriptedUsage>,
}

/// Holds the usage to report, in tokens. Cached input is part of the input, reasoning is part of
/// the output.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedUsage {
    /// The whole request.
    pub input: Option<u64>,
    /// The whole reply.
    pub output: Option<u64>,
    /// The part of the request that was in the provider's cache.
    pub cached: Option<u64>,
    /// The part of the request that is written to the cache.
    pub cache_write: Option<u64>,
    /// The part of the reply that is reasoning.
    pub reasoning: Option<u64>,
}

/// Represents a call in a script.
#[derive(Debug, Clone, Default, Deserialize)]
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

/// Lists the faults that a reply can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The connection closes in the middle of the last call's arguments, or of the text.
    Cut,
    /// The connection closes after the last text, without an end mark.
    NoEnd,
    /// Nothing is ever sent.
    Silence,
    /// The stream stops in the middle and the connection stays open.
    Stall,
    /// The reply does not follow the protocol.
    Garbage,
    /// An error event in the middle of the stream.
    ErrorEvent,
    /// The request is refused with `status`.
    Status,
    /// The reply comes one byte at a time.
    Drip,
    /// The connection closes without any response.
    Reset,
}

/// Lists the errors that every provider reports in its own format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCase {
    /// The conversation does not fit the model.
    ContextTooLong,
    /// No money or quota left.
    Quota,
    /// The key is wrong.
    Auth,
    /// There is no such model.
    UnknownModel,
    /// The model cannot call tools.
    NoTools,
    /// The provider will not talk about this.
    ContentRefused,
    /// The provider is overloaded or fails.
    Overloaded,
}

impl Script {
    /// Reads a script; `name` is for messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScriptError> {
        let error = |reason: String| ScriptError { name: name.to_owned(), reason };
        let script: Self = toml::from_str(text).map_err(|e| error(e.to_string()))?;
        for (index, reply) in script.replies.iter().enumerate() {
            if let Err(reason) = reply.check() {
                return Err(error(format!("reply {} {reason}", index + 1)));
            }
        }
        Ok(script)
    }

    /// Tells whether the script has this text as reasoning.
    pub(super) fn thinks(&self, thought: &str) -> bool {
        self.replies.iter().any(|reply| reply.think.as_deref() == Some(thought))
    }
}

impl Reply {
    /// Rejects fields that have no effect without another one.
    fn check(&self) -> Result<(), &'static str> {
        let breaks = self.fault.is_some() || self.error.is_some();
        let speaks = self.say.is_some() || self.think.is_some() || !self.call.is_empty();
        if !speaks && !breaks {
            return Err("says, calls and breaks nothing");
        }
        if self.error.is_some() && self.fault.is_some() {
            return Err("has an error and a fault; it can have one of them");
        }
        if self.cut_at.is_some() && self.fault != Some(Fault::Cut) {
            return Err("has cut_at without fault = \"cut\"");
        }
        if self.drip_ms.is_some() && self.fault != Some(Fault::Drip) {
            return Err("has drip_ms without fault = \"drip\"");
        }
        let refuses = self.error.is_some() || self.fault == Some(Fault::Status);
        if self.retry_after.is_some() && !refuses {
            return Err("has retry_after without an error or fault = \"status\"");
        }
        Ok(())
    }

    pub(super) fn matches(&self, conversation: &Conversation<'_>) -> bool {
        let contains = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        let holds = |condition: &Option<String>, test: &dyn Fn(&str) -> bool| {
            condition.as_deref().is_none_or(test)
        };
        holds(&self.agent, &|name| conversation.agent() == Some(name))
            && holds(&self.user, &|part| contains(conversation.newest_user(), part))
            && self.results.is_none_or(|count| conversation.results().count() == count)
            && holds(&self.result, &|part| {
                conversation.results().next_back().is_some_and(|result| contains(result, part))
            })
            && holds(&self.mentions, &|part| conversation.mentions(part))
            && holds(&self.offers, &|tool| conversation.offers(tool))
            && holds(&self.withholds, &|tool| !conversation.offers(tool))
            && self.images.is_none_or(|count| conversation.images() == count)
            && self.wire.is_none_or(|wire| conversation.wire == wire)
            && holds(&self.model, &|name| conversation.model == name)
            && self.longer_than.is_none_or(|bytes| conversation.bytes > bytes)
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
        assert!(Script::parse("x", "[variant]\nchunks = 2").is_err());
        assert!(Script::parse("x", "[variant]\nchunk_bytes = 0").is_err());
        assert!(Script::parse("x", "[manner]\nchunk_bytes = 1").is_ok(), "the former name");
        assert!(Script::parse("x", "[[reply]]\nerror = \"tired\"").is_err());
        assert!(Script::parse("x", "[[reply]]\nwire = \"telex\"\nsay = \"a\"").is_err());
    }

    #[test]
    fn fields_that_mean_nothing_here_are_refused() {
        let ok = |reply: &str| Script::parse("x", &format!("[[reply]]\n{reply}")).is_ok();
        assert!(ok("fault = \"cut\"\ncut_at = 7"));
        assert!(!ok("say = \"a\"\ncut_at = 7"));
        assert!(ok("fault = \"drip\"\ndrip_ms = 1"));
        assert!(!ok("fault = \"cut\"\ndrip_ms = 1"));
        assert!(ok("error = \"quota\"\nretry_after = \"2\""));
        assert!(ok("fault = \"status\"\nretry_after = \"soon\""));
        assert!(!ok("say = \"a\"\nretry_after = \"2\""));
        assert!(!ok("error = \"quota\"\nfault = \"cut\""));
        assert!(ok("say = \"a\"\nusage = { input = 1, cached = 1 }\nwire = \"openai\""));
    }

    #[test]
    fn the_scripts_in_the_documentation_are_valid() {
        let page = include_str!("../../../docs/scripted-model.md");
        let scripts = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        for script in scripts.clone() {
            Script::parse("scripted-model.md", script).unwrap();
        }
        assert!(scripts.count() >= 6);
    }
}
