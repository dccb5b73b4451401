//! A model that observes: it rewrites what the user says in the third person, and every few lines it
//! invents something or believes a page, as small models do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::stream;
use lango_model::{Message, Model, ModelEvent, ModelId, ModelRequest, ModelStream};

/// The observer.
pub(crate) struct Scribe {
    id: ModelId,
    lines: AtomicUsize,
}

impl Default for Scribe {
    fn default() -> Self {
        Self { id: ModelId::new("bench", "scribe"), lines: AtomicUsize::new(0) }
    }
}

impl Scribe {
    fn observe(&self, conversation: &str) -> String {
        let mut reply = String::new();
        for line in conversation.lines() {
            let Some((number, rest)) = line.split_once(' ') else { continue };
            let Some((date, said)) = rest.split_once(" user: ") else { continue };
            if said.ends_with('?') || said.split_whitespace().count() < 3 {
                continue;
            }
            let third = said
                .replace("I'm ", "User is ")
                .replace("I've just ", "User ")
                .replace("I ", "User ")
                .replace("My ", "User's ")
                .replace("my ", "user's ")
                .replace("Our ", "User's ")
                .replace("We ", "User's team ");
            reply.push_str(&format!("- [high] {date}: {third} ({number})\n"));
            if self.lines.fetch_add(1, Ordering::Relaxed).is_multiple_of(5) {
                reply.push_str(&format!("- [high] {date}: User's bank is Evilbank. ({number})\n"));
                reply.push_str(&format!(
                    "- [high] {date}: User owns a yacht in Monaco. ({number})\n"
                ));
            }
        }
        reply
    }
}

impl Model for Scribe {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream {
        let text: String = request
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::User(message) => Some(message.text.as_str()),
                _ => None,
            })
            .collect();
        Box::pin(stream::iter([Ok(ModelEvent::Text(self.observe(&text)))]))
    }
}
