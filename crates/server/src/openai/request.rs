//! Parses requests to `/v1/chat/completions`.

use lango_text::truncate_characters;
use serde_json::Value;

use super::content::MessageContent;
use super::error::ApiError;
use super::history::{AuthorRole, ChatHistory, ChatMessage};
use super::parameters::{RequestParameters, missing_error, wrong_type_error};

/// The name of the only model.
pub(super) const MODEL: &str = "lango";

/// Limits the messages of a request.
const MAX_MESSAGE_COUNT: usize = 4096;
/// Limits the text of a new message.
const MAX_TEXT_BYTES: usize = 1024 * 1024;
/// Limits the images of a new message.
const MAX_IMAGE_COUNT: usize = 16;

/// Holds a parsed request.
#[derive(Debug)]
pub(super) struct ChatRequest {
    pub(super) history: ChatHistory,
    pub(super) stream: bool,
    /// True if the usage follows as a separate chunk at the end of a stream.
    pub(super) include_usage: bool,
    /// The session that the request names.
    pub(super) session: Option<String>,
    /// Notices about requested features that are not supported.
    pub(super) notices: Vec<&'static str>,
}

impl ChatRequest {
    pub(super) fn parse(body: &[u8]) -> Result<Self, ApiError> {
        let mut parameters = RequestParameters::of_body(body)?;
        let model = parameters.required_text("model")?;
        check_model(&model)?;
        let messages = parameters.list("messages")?.ok_or_else(|| missing_error("messages"))?;
        let history = parse_history(messages)?;
        let stream = parameters.flag("stream")?;
        let include_usage = match parameters.object("stream_options")? {
            Some(mut options) => options.flag("include_usage")?,
            None => false,
        };
        let session = match parameters.object("metadata")? {
            Some(mut metadata) => metadata.text("session")?,
            None => None,
        };
        let notices = check_parameters(&mut parameters)?;
        Ok(Self { history, stream, include_usage, session, notices })
    }
}

/// Refuses an unknown model.
pub(super) fn check_model(model: &str) -> Result<(), ApiError> {
    if model == MODEL {
        return Ok(());
    }
    let shown = truncate_characters(model, 80);
    let words = format!("the model {shown:?} does not exist; there is {MODEL:?}");
    Err(ApiError::not_found("model", "model_not_found", words))
}

fn parse_history(messages: Vec<Value>) -> Result<ChatHistory, ApiError> {
    if messages.is_empty() || messages.len() > MAX_MESSAGE_COUNT {
        let words = format!("\"messages\" must have 1 to {MAX_MESSAGE_COUNT} messages");
        return Err(ApiError::invalid("messages", words));
    }
    let chat_messages: Vec<ChatMessage> = messages
        .into_iter()
        .enumerate()
        .map(|(number, message)| parse_message(message, number))
        .collect::<Result<_, _>>()?;
    let history = ChatHistory::of(chat_messages).ok_or_else(|| {
        let words = "the last message must be the user's: there is nothing to answer otherwise";
        ApiError::invalid("messages", words)
    })?;
    let new = &history.new;
    if new.text.trim().is_empty() && new.images.is_empty() {
        return Err(ApiError::invalid("messages", "the user's message is empty"));
    }
    if new.text.len() > MAX_TEXT_BYTES {
        let words = "the user's message is longer than 1 MiB. Put it into a file and name the file";
        return Err(ApiError::invalid("messages", words).with_code("context_length_exceeded"));
    }
    if new.images.len() > MAX_IMAGE_COUNT {
        let words = format!("the user's message has more than {MAX_IMAGE_COUNT} pictures");
        return Err(ApiError::invalid("messages", words));
    }
    Ok(history)
}

fn parse_message(message: Value, number: usize) -> Result<ChatMessage, ApiError> {
    let mut message = RequestParameters::of_value(message, format!("messages[{number}]"))?;
    let role = match message.required_text("role")?.as_str() {
        "system" | "developer" => AuthorRole::Client,
        "user" => AuthorRole::User,
        "assistant" => AuthorRole::Assistant,
        "tool" | "function" => AuthorRole::Tool,
        other => {
            let words = format!("the role {other:?} is not known: use system, user or assistant");
            return Err(ApiError::invalid(message.name("role"), words).with_code("invalid_value"));
        }
    };
    let name = message.name("content");
    let content = MessageContent::of(message.take("content"), &name)?;
    Ok(ChatMessage { role, content })
}

/// Checks the parameters that change the format of an answer, and refuses unsupported ones. The
/// others are ignored, because the owner configures the agents' models.
fn check_parameters(parameters: &mut RequestParameters) -> Result<Vec<&'static str>, ApiError> {
    let unsupported = |name: &str, words: &str| {
        Err(ApiError::invalid(name, words).with_code("unsupported_parameter"))
    };
    if parameters.whole_number("n")?.is_some_and(|n| n != 1) {
        return unsupported("n", "there is one answer to a request: leave out \"n\"");
    }
    if let Some(mut format) = parameters.object("response_format")?
        && format.required_text("type")? != "text"
    {
        let words = "answers are text. Ask for JSON in words, and check what comes";
        return unsupported("response_format", words);
    }
    if let Some(modalities) = parameters.list("modalities")?
        && modalities.iter().any(|modality| modality != "text")
    {
        return unsupported("modalities", "answers are text");
    }
    // A wrong type is an error of the client even if the value itself is ignored.
    for name in ["temperature", "top_p", "frequency_penalty", "presence_penalty"] {
        parameters.number(name)?;
    }
    for name in ["max_tokens", "max_completion_tokens"] {
        parameters.whole_number(name)?;
    }
    check_tools(parameters)
}

/// Checks the tools of the client. The team calls only its own tools, and a model may always answer
/// without a call: so a list of tools is accepted, and only a `tool_choice` that requires a call is
/// refused.
fn check_tools(parameters: &mut RequestParameters) -> Result<Vec<&'static str>, ApiError> {
    let listed = |list: Option<Vec<Value>>| list.is_some_and(|list| !list.is_empty());
    let any = listed(parameters.list("tools")?) | listed(parameters.list("functions")?);
    let must = match (parameters.take("tool_choice"), parameters.take("function_call")) {
        (None, None) => false,
        (Some(Value::String(choice)), _) | (None, Some(Value::String(choice))) => {
            match choice.as_str() {
                "none" => return Ok(Vec::new()),
                "auto" => false,
                _ => true,
            }
        }
        (Some(Value::Object(_)), _) | (None, Some(Value::Object(_))) => true,
        (Some(other), _) | (None, Some(other)) => {
            return Err(wrong_type_error("tool_choice", "a string or an object", &other));
        }
    };
    if must {
        let words = "the team calls its own tools, and none of the client's. Leave out \
                     \"tool_choice\", or set it to \"auto\" or \"none\"";
        return Err(ApiError::invalid("tool_choice", words).with_code("unsupported_parameter"));
    }
    let notice = "the tools of the request are not called: the team has its own";
    Ok(if any { vec![notice] } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(rest: &str) -> Result<ChatRequest, ApiError> {
        let messages = r#""messages":[{"role":"user","content":"hello"}]"#;
        ChatRequest::parse(format!(r#"{{"model":"lango",{messages}{rest}}}"#).as_bytes())
    }

    #[test]
    fn what_says_how_a_model_should_speak_is_taken_and_ignored() {
        let request = parse(
            r#","temperature":0.5,"max_tokens":10,"seed":3,"user":"x","stop":["a"],"logprobs":true,
            "parallel_tool_calls":false,"something_new":{"a":1},"stream":null,"n":1"#,
        );
        assert_eq!(request.unwrap().history.new.text, "hello");
    }

    #[test]
    fn a_wrong_type_is_named_with_its_parameter() {
        for (rest, param) in [
            (r#","stream":"yes""#, "stream"),
            (r#","temperature":"hot""#, "temperature"),
            (r#","max_tokens":-1"#, "max_tokens"),
            (r#","stream_options":{"include_usage":1}"#, "stream_options.include_usage"),
            (r#","metadata":{"session":7}"#, "metadata.session"),
            (r#","tools":{}"#, "tools"),
            (r#","n":2"#, "n"),
            (r#","tool_choice":"required","tools":[{}]"#, "tool_choice"),
            (r#","response_format":{"type":"json_object"}"#, "response_format"),
        ] {
            assert_eq!(parse(rest).unwrap_err().param.as_deref(), Some(param), "{rest}");
        }
        let error = |body: &str| ChatRequest::parse(body.as_bytes()).unwrap_err();
        assert_eq!(error("[]").param.as_deref(), Some("body"));
        assert_eq!(error(r#"{"messages":[]}"#).param.as_deref(), Some("model"));
        assert_eq!(error(r#"{"model":"gpt"}"#).code, Some("model_not_found"));
        let body = r#"{"model":"lango","messages":[{"role":"user","content":[{"type":"audio"}]}]}"#;
        assert_eq!(error(body).param.as_deref(), Some("messages[0].content[0].type"));
    }

    #[test]
    fn tools_of_the_client_are_taken_unless_one_must_be_called() {
        assert!(parse(r#","tools":[]"#).unwrap().notices.is_empty());
        assert!(parse(r#","tools":[{}],"tool_choice":"none""#).unwrap().notices.is_empty());
        assert_eq!(parse(r#","tools":[{}],"tool_choice":"auto""#).unwrap().notices.len(), 1);
    }

    #[test]
    fn pictures_come_with_the_request_and_are_never_fetched() {
        let with = |url: &str| {
            let part = format!(r#"{{"type":"image_url","image_url":{{"url":"{url}"}}}}"#);
            let body =
                format!(r#"{{"model":"lango","messages":[{{"role":"user","content":[{part}]}}]}}"#);
            ChatRequest::parse(body.as_bytes())
        };
        let image = with("data:image/jpeg;base64,iVBORw0KGgo=").unwrap().history.new.images;
        assert_eq!(image[0].media_type, "image/png");
        for bad in [
            "https://example.org/a.png",
            "http://127.0.0.1:1/a.png",
            "file:///etc/passwd",
            "data:image/png,abc",
            "data:image/png;base64,!!!",
            "data:text/html;base64,PHN2Zy8+",
        ] {
            assert_eq!(with(bad).unwrap_err().code, Some("invalid_image_url"), "{bad}");
        }
    }
}
