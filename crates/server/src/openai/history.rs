//! Splits the messages of a request into new and earlier ones, and computes the marks of a
//! conversation.

use lango_protocol::Caller;
use lango_text::{hex, tail};
use sha2::{Digest as _, Sha256};

use super::content::MessageContent;

/// Limits the earlier messages that a new session gets. The newest are included.
const MAX_EARLIER_BYTES: usize = 256 * 1024;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AuthorRole {
    /// The client program: `system` and `developer`.
    Client,
    User,
    Assistant,
    /// A tool result of the client, from a conversation with another model.
    Tool,
}

/// Holds one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChatMessage {
    pub(super) role: AuthorRole,
    pub(super) content: MessageContent,
}

/// Represents a SHA-256 digest in hexadecimal.
pub(super) type ConversationDigest = String;

/// Holds the conversation of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChatHistory {
    /// The client's instructions on how to answer.
    pub(super) instructions: String,
    /// The messages before the new one, oldest first.
    pub(super) earlier: Vec<ChatMessage>,
    /// The new message.
    pub(super) new: MessageContent,
}

impl ChatHistory {
    /// Splits the messages. Returns none if the user sent no new message.
    pub(super) fn of(messages: Vec<ChatMessage>) -> Option<Self> {
        let (client, mut earlier): (Vec<ChatMessage>, Vec<ChatMessage>) =
            messages.into_iter().partition(|message| message.role == AuthorRole::Client);
        let texts: Vec<String> = client.into_iter().map(|message| message.content.text).collect();
        let last_answer = earlier.iter().rposition(|message| message.role != AuthorRole::User);
        let new_messages = earlier.split_off(last_answer.map_or(0, |position| position + 1));
        if new_messages.is_empty() {
            return None;
        }
        let mut new = MessageContent::default();
        for message in new_messages {
            if !new.text.is_empty() && !message.content.text.is_empty() {
                new.text.push_str("\n\n");
            }
            new.text.push_str(&message.content.text);
            new.images.extend(message.content.images);
        }
        Some(Self { instructions: texts.join("\n\n"), earlier, new })
    }

    /// Returns the mark of the earlier messages, or none at the start of a conversation.
    pub(super) fn mark_before(&self, caller: &Caller) -> Option<ConversationDigest> {
        (!self.earlier.is_empty()).then(|| {
            let mut hasher = begin_digest(caller);
            self.earlier
                .iter()
                .for_each(|message| add_message(&mut hasher, message.role, &message.content));
            finish_digest(hasher)
        })
    }

    /// Returns the mark of the conversation after this answer, which is how the next request
    /// begins.
    pub(super) fn mark_after(&self, caller: &Caller, answer: &str) -> ConversationDigest {
        let mut hasher = begin_digest(caller);
        self.earlier
            .iter()
            .for_each(|message| add_message(&mut hasher, message.role, &message.content));
        add_message(&mut hasher, AuthorRole::User, &self.new);
        let answer = MessageContent { text: answer.to_owned(), images: Vec::new() };
        add_message(&mut hasher, AuthorRole::Assistant, &answer);
        finish_digest(hasher)
    }

    /// Returns the mark of the instructions, to detect changes.
    pub(super) fn mark_of_instructions(&self) -> ConversationDigest {
        finish_digest(Sha256::new_with_prefix(self.instructions.as_bytes()))
    }

    /// Returns the attachment of the new message: the client's instructions if the agents do not
    /// have them, and the earlier messages if the session does not have them.
    pub(super) fn render_attachment(&self, instructions: bool, earlier: bool) -> Option<String> {
        let mut text = String::new();
        if instructions && !self.instructions.trim().is_empty() {
            text.push_str(&format!(
                "The program that the user writes with says about how to answer:\n\n{}\n",
                tail(&self.instructions, MAX_EARLIER_BYTES)
            ));
        }
        if earlier && !self.earlier.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str("Earlier conversation:\n");
            text.push_str(&self.render());
        }
        (!text.is_empty()).then_some(text)
    }

    /// Renders the earlier messages as text. The oldest are left out if there are too many.
    fn render(&self) -> String {
        let mut parts = Vec::new();
        let mut bytes = 0;
        for message in self.earlier.iter().rev() {
            let part = render_message(message);
            bytes += part.len();
            if bytes > MAX_EARLIER_BYTES {
                parts.push("\n[older messages are left out]\n".to_owned());
                break;
            }
            parts.push(part);
        }
        parts.reverse();
        parts.concat()
    }
}

fn render_message(message: &ChatMessage) -> String {
    let who = match message.role {
        AuthorRole::User => "User",
        AuthorRole::Assistant => "Assistant",
        AuthorRole::Tool => "Tool",
        AuthorRole::Client => "Client",
    };
    let images = match message.content.images.len() {
        0 => String::new(),
        1 => "\n[with a picture]".to_owned(),
        several => format!("\n[with {several} pictures]"),
    };
    format!("\n{who}: {}{images}\n", message.content.text.trim())
}

fn begin_digest(caller: &Caller) -> Sha256 {
    let mut hasher = Sha256::new();
    hash_with_length(&mut hasher, caller.as_str().as_bytes());
    hasher
}

/// Adds a message to the hash. White space at its ends is ignored, because clients send back
/// trimmed text.
fn add_message(hasher: &mut Sha256, role: AuthorRole, content: &MessageContent) {
    let role: &[u8] = match role {
        AuthorRole::Client => b"client",
        AuthorRole::User => b"user",
        AuthorRole::Assistant => b"assistant",
        AuthorRole::Tool => b"tool",
    };
    hash_with_length(hasher, role);
    hash_with_length(hasher, content.text.trim().as_bytes());
    hash_with_length(hasher, &(content.images.len() as u64).to_le_bytes());
    for image in &content.images {
        hash_with_length(hasher, &image.data);
    }
}

/// Adds bytes after their length, so that two parts are never taken for one.
fn hash_with_length(hasher: &mut Sha256, bytes: &[u8]) {
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn finish_digest(hasher: Sha256) -> ConversationDigest {
    hex(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: AuthorRole, text: &str) -> ChatMessage {
        ChatMessage { role, content: MessageContent { text: text.to_owned(), images: Vec::new() } }
    }

    #[test]
    fn the_mark_after_an_answer_is_the_one_before_the_next_message() {
        let caller: Caller = "one".parse().unwrap();
        let first = ChatHistory::of(vec![
            message(AuthorRole::Client, "Be brief."),
            message(AuthorRole::User, "Hello"),
        ]);
        let first = first.unwrap();
        assert_eq!(first.mark_before(&caller), None);
        let after = first.mark_after(&caller, "Hi!\n");
        let again = |answer: &str, user: &str| {
            let messages = vec![
                message(AuthorRole::Client, "Be long."),
                message(AuthorRole::User, user),
                message(AuthorRole::Assistant, answer),
                message(AuthorRole::User, "And now?"),
            ];
            ChatHistory::of(messages).unwrap().mark_before(&caller).unwrap()
        };
        assert_eq!(again("Hi!", "Hello"), after);
        assert_ne!(again("Hi?", "Hello"), after);
        assert_ne!(again("Hi!", "Hell"), after);
        let other: Caller = "other".parse().unwrap();
        assert_ne!(first.mark_after(&other, "Hi!"), after);
    }

    #[test]
    fn only_what_the_session_does_not_know_goes_along() {
        let history = ChatHistory::of(vec![
            message(AuthorRole::Client, "Be brief."),
            message(AuthorRole::User, "Hello"),
            message(AuthorRole::Assistant, "Hi!"),
            message(AuthorRole::User, "One"),
            message(AuthorRole::User, "Two"),
        ])
        .unwrap();
        assert_eq!(history.new.text, "One\n\nTwo");
        assert_eq!(history.render_attachment(false, false), None);
        let all = history.render_attachment(true, true).unwrap();
        assert!(
            all.contains("Be brief.") && all.contains("User: Hello\n\nAssistant: Hi!"),
            "{all}"
        );
        assert!(!all.contains("One"), "{all}");
        assert!(
            ChatHistory::of(vec![
                message(AuthorRole::User, "x"),
                message(AuthorRole::Assistant, "y")
            ])
            .is_none()
        );
    }

    #[test]
    fn a_long_conversation_is_told_from_its_end() {
        let mut messages: Vec<ChatMessage> = (0..100)
            .map(|number| {
                message(AuthorRole::Assistant, &format!("{number} {}", "x".repeat(10_000)))
            })
            .collect();
        messages.push(message(AuthorRole::User, "now"));
        let render = ChatHistory::of(messages).unwrap().render_attachment(false, true).unwrap();
        assert!(render.len() < MAX_EARLIER_BYTES + 1000, "{}", render.len());
        assert!(render.contains("Assistant: 99 ") && !render.contains("Assistant: 0 "));
        assert!(render.contains("older messages are left out"));
    }
}
