//! A request as the scripted model understands it, and the check that it is a valid history.

use std::borrow::Cow;

use serde::Deserialize;

/// The parts of a chat-completions request that scripts look at.
#[derive(Debug, Deserialize)]
pub(super) struct Conversation<'a> {
    #[serde(borrow)]
    messages: Vec<WireMessage<'a>>,
    #[serde(default, borrow)]
    tools: Vec<WireTool<'a>>,
}

#[derive(Debug, Deserialize)]
struct WireMessage<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(default, borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    tool_calls: Vec<WireCall<'a>>,
    #[serde(default, borrow)]
    tool_call_id: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
struct WireCall<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    function: WireFunctionCall<'a>,
}

#[derive(Debug, Deserialize)]
struct WireFunctionCall<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct WireTool<'a> {
    #[serde(borrow)]
    function: WireFunction<'a>,
}

#[derive(Debug, Deserialize)]
struct WireFunction<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

impl<'a> Conversation<'a> {
    pub(super) fn parse(body: &'a [u8]) -> Result<Self, String> {
        let conversation: Self =
            serde_json::from_slice(body).map_err(|error| format!("not a request: {error}"))?;
        conversation.check()?;
        Ok(conversation)
    }

    /// What every provider checks: the results of a message's calls follow it directly, each call
    /// once, names are plain, and arguments are a JSON object.
    fn check(&self) -> Result<(), String> {
        let mut open: Vec<&str> = Vec::new();
        for (index, message) in self.messages.iter().enumerate() {
            if message.role == "tool" {
                let id = message.tool_call_id.as_deref().unwrap_or_default();
                let position = open.iter().position(|call| *call == id);
                let Some(position) = position else {
                    return Err(format!("messages[{index}]: a result without its call {id:?}"));
                };
                open.swap_remove(position);
                continue;
            }
            if let Some(id) = open.first() {
                return Err(format!("messages[{index}]: the call {id:?} has no result"));
            }
            for call in &message.tool_calls {
                let name = call.function.name.as_bytes();
                let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
                if !(1..=64).contains(&name.len()) || !name.iter().all(plain) {
                    return Err(format!("messages[{index}]: the name of a call is not valid"));
                }
                let arguments = &call.function.arguments;
                if serde_json::from_str::<serde_json::Map<_, _>>(arguments).is_err() {
                    return Err(format!("messages[{index}]: arguments are not a JSON object"));
                }
                if open.contains(&&*call.id) {
                    return Err(format!("messages[{index}]: two calls are {:?}", call.id));
                }
                open.push(&call.id);
            }
            if message.tool_calls.is_empty()
                && message.content.as_deref().unwrap_or_default().is_empty()
            {
                return Err(format!("messages[{index}]: {} says nothing", message.role));
            }
        }
        open.first().map_or(Ok(()), |id| Err(format!("the call {id:?} has no result")))
    }

    /// The name in `You are NAME, …`.
    pub(super) fn agent(&self) -> Option<&str> {
        let system = self.messages.iter().find(|message| message.role == "system")?;
        let rest = system.content.as_deref()?.strip_prefix("You are ")?;
        rest.split([',', '.', '\n', ' ']).next()
    }

    pub(super) fn newest_user(&self) -> &str {
        let newest = self.messages.iter().rev().find(|message| message.role == "user");
        newest.and_then(|message| message.content.as_deref()).unwrap_or_default()
    }

    /// Results since the newest user message, oldest first.
    pub(super) fn results(&self) -> Vec<&str> {
        let from = self.messages.iter().rposition(|message| message.role == "user").unwrap_or(0);
        self.messages[from..]
            .iter()
            .filter(|message| message.role == "tool")
            .filter_map(|message| message.content.as_deref())
            .collect()
    }

    pub(super) fn mentions(&self, part: &str) -> bool {
        self.messages
            .iter()
            .filter(|message| message.role != "system")
            .any(|message| message.content.as_deref().is_some_and(|text| text.contains(part)))
    }

    pub(super) fn offers(&self, tool: &str) -> bool {
        self.tools.iter().any(|offered| offered.function.name == tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(messages: &str) -> Result<(), String> {
        let body = format!(r#"{{"messages":{messages}}}"#);
        Conversation::parse(body.as_bytes()).map(drop)
    }

    #[test]
    fn histories_no_provider_would_take_are_refused() {
        let call = r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}"#;
        let result = r#"{"role":"tool","tool_call_id":"a","content":"r"}"#;
        let user = r#"{"role":"user","content":"u"}"#;
        assert_eq!(check(&format!("[{user},{call},{result}]")), Ok(()));
        assert!(check(&format!("[{user},{call}]")).is_err());
        assert!(check(&format!("[{user},{call},{user}]")).is_err());
        assert!(check(&format!("[{user},{result}]")).is_err());
        assert!(check(&format!("[{user},{call},{result},{result}]")).is_err());
        assert!(check(r#"[{"role":"assistant","content":""}]"#).is_err());
        let unnamed = call.replace(r#""f""#, r#""f g""#);
        assert!(check(&format!("[{user},{unnamed},{result}]")).is_err());
        let broken = call.replace("{}", "{");
        assert!(check(&format!("[{user},{broken},{result}]")).is_err());
    }
}
