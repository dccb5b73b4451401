//! Reads a caller's message as the agents get it: text, attachments and images.

use a2a::{Message, Part, PartContent, Role};
use bytes::Bytes;
use lango_model::Image;
use sha2::{Digest, Sha256};

use crate::wire::canonical::render_canonical;
use crate::wire::error::ProtocolError;

/// The media types that every server accepts. The configuration can add more.
pub(crate) const INPUT_MODES: [&str; 9] = [
    "text/plain",
    "text/markdown",
    "text/csv",
    "text/html",
    "application/json",
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
];

const MAX_PART_COUNT: usize = 64;
const MAX_ID_BYTES: usize = 256;

/// The content of a message, as a turn takes it.
#[derive(Debug, Default)]
pub(crate) struct MessageContent {
    pub(crate) text: String,
    pub(crate) attachment: Option<String>,
    pub(crate) images: Vec<Image>,
}

/// Reads a message, or returns what is wrong with it. Links are not fetched.
pub(crate) fn read_message(
    message: &Message,
    modes: &[String],
) -> Result<MessageContent, ProtocolError> {
    check_id("message.messageId", &message.message_id)?;
    if let Some(context) = &message.context_id {
        check_id("message.contextId", context)?;
    }
    if message.role != Role::User {
        return Err(ProtocolError::invalid_field("message.role", "must be ROLE_USER"));
    }
    if message.parts.is_empty() || message.parts.len() > MAX_PART_COUNT {
        let most = format!("must have 1 to {MAX_PART_COUNT} elements");
        return Err(ProtocolError::invalid_field("message.parts", most));
    }
    let mut texts = Vec::new();
    let mut attached = Vec::new();
    let mut images = Vec::new();
    for part in &message.parts {
        let media_type = check_media_type(part, modes)?;
        match &part.content {
            PartContent::Text(text) => texts.push(text.as_str()),
            PartContent::Data(data) => attached.push(render_block("data", part, &data.to_string())),
            PartContent::Url(url) => {
                attached.push(render_block("a linked file, not fetched", part, url));
            }
            PartContent::Raw(bytes) => match (media_type.as_deref(), std::str::from_utf8(bytes)) {
                (Some(kind), _) if kind.starts_with("image/") => images
                    .push(Image { media_type: kind.to_owned(), data: Bytes::from(bytes.clone()) }),
                (_, Ok(text)) => attached.push(render_block("a file", part, text)),
                (Some(_), Err(_)) => {
                    let size = format!("{} bytes that are no text", bytes.len());
                    attached.push(render_block("a file", part, &size));
                }
                (None, Err(_)) => {
                    let reason = "a raw part that is no text needs a mediaType";
                    return Err(ProtocolError::ContentTypeNotSupported(reason.to_owned()));
                }
            },
        }
    }
    let mut text = texts.join("\n\n");
    if text.trim().is_empty() {
        "(no words, only what is attached)".clone_into(&mut text);
    }
    let attachment = (!attached.is_empty()).then(|| attached.join("\n\n"));
    Ok(MessageContent { text, attachment, images })
}

/// Checks an id that a caller made up: it must be short and without characters that break a log or
/// a database.
pub(crate) fn check_id(field: &str, id: &str) -> Result<(), ProtocolError> {
    if id.is_empty() || id.len() > MAX_ID_BYTES || id.chars().any(char::is_control) {
        let rule = format!("must have 1 to {MAX_ID_BYTES} bytes and no control characters");
        return Err(ProtocolError::invalid_field(field, rule));
    }
    Ok(())
}

/// Returns a key that is equal for every repetition of a message by this caller, and differs for
/// every other message.
pub(crate) fn repeat_key(caller: &str, message: &Message) -> String {
    // Canonical JSON, because the order of an object's members varies.
    // The types of the protocol always have a form in JSON.
    let parts = serde_json::to_value(&message.parts).unwrap_or_default();
    let parts = render_canonical(&parts);
    digest_parts([
        caller.as_bytes(),
        message.message_id.as_bytes(),
        message.context_id.as_deref().unwrap_or_default().as_bytes(),
        message.task_id.as_deref().unwrap_or_default().as_bytes(),
        parts.as_bytes(),
    ])
}

/// Returns the SHA-256 over several parts, each preceded by its length, as hexadecimal digits.
pub(crate) fn digest_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    lango_text::hex(hasher.finalize())
}

/// Returns the media type of a part without its parameters, or an error if it is not accepted.
fn check_media_type(part: &Part, modes: &[String]) -> Result<Option<String>, ProtocolError> {
    let Some(given) = &part.media_type else { return Ok(None) };
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence.is_empty() {
        return Ok(None);
    }
    let is_text = matches!(part.content, PartContent::Text(_)) && essence.starts_with("text/");
    if is_text || modes.contains(&essence) {
        return Ok(Some(essence));
    }
    let message = format!("parts of {given:?} are not accepted; see defaultInputModes of the card");
    Err(ProtocolError::ContentTypeNotSupported(message))
}

fn render_block(what: &str, part: &Part, content: &str) -> String {
    let name = part.filename.as_deref().map(|name| format!(", named {name:?}")).unwrap_or_default();
    let kind = part.media_type.as_deref().map(|kind| format!(", {kind}")).unwrap_or_default();
    format!("[{what}{name}{kind}]\n{content}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(parts: Vec<Part>) -> Message {
        Message::new(Role::User, parts)
    }

    fn modes() -> Vec<String> {
        INPUT_MODES.map(str::to_owned).to_vec()
    }

    #[test]
    fn words_data_files_and_pictures_each_find_their_place() {
        let read = read_message(
            &message(vec![
                Part::text("Look at this:"),
                Part::data(serde_json::json!({ "a": 1 })),
                Part::raw(b"x,y".to_vec()).with_filename("t.csv").with_media_type("text/csv"),
                Part::raw(vec![0, 255]).with_media_type("image/png"),
                Part::url("https://example.org/a.txt"),
            ]),
            &modes(),
        )
        .unwrap();
        assert_eq!(read.text, "Look at this:");
        let attachment = read.attachment.unwrap();
        assert!(
            attachment.contains("{\"a\":1}") && attachment.contains("\"t.csv\""),
            "{attachment}"
        );
        assert!(attachment.contains("not fetched"), "{attachment}");
        assert_eq!(read.images.len(), 1);
    }

    #[test]
    fn what_is_not_read_is_refused() {
        let strange = Part::raw(b"tck".to_vec()).with_media_type("application/x-unsupported");
        let refused = read_message(&message(vec![strange.clone()]), &modes()).unwrap_err();
        assert!(matches!(refused, ProtocolError::ContentTypeNotSupported(_)), "{refused}");
        let mut more = modes();
        more.push("application/x-unsupported".to_owned());
        assert!(read_message(&message(vec![strange]), &more).is_ok());
        assert!(read_message(&message(vec![]), &modes()).is_err());
        let mut agent = message(vec![Part::text("x")]);
        agent.role = Role::Agent;
        assert!(read_message(&agent, &modes()).is_err());
        let mut nameless = message(vec![Part::text("x")]);
        nameless.message_id = String::new();
        assert!(read_message(&nameless, &modes()).is_err());
    }

    #[test]
    fn the_order_of_members_makes_no_other_message() {
        let text = r#"{ "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "x", "metadata":
            { "a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8 } }] }"#;
        let key = || repeat_key("a", &serde_json::from_str::<Message>(text).unwrap());
        assert_eq!(key(), key());
    }

    #[test]
    fn a_repetition_has_the_same_key_and_nothing_else_has() {
        let first = message(vec![Part::text("x")]);
        let mut again = first.clone();
        again.metadata = Some(std::iter::once(("try".to_owned(), 2.into())).collect());
        assert_eq!(repeat_key("a", &first), repeat_key("a", &again));
        assert_ne!(repeat_key("a", &first), repeat_key("b", &first));
        let mut other = first.clone();
        other.task_id = Some("t".to_owned());
        assert_ne!(repeat_key("a", &first), repeat_key("a", &other));
        other = first.clone();
        other.parts = vec![Part::text("y")];
        assert_ne!(repeat_key("a", &first), repeat_key("a", &other));
    }
}
