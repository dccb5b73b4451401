//! Keeps known secrets, and personal data where that is wanted, out of what goes to a model.
//!
//! Messages and results are scrubbed when they are recorded. A request is scrubbed once more, because
//! it also has what was recorded before a value was known, and what memories and documents say.

use std::borrow::Cow;
use std::sync::Arc;

use lango_model::{CallOutcome, Message, ModelRequest, RequestedCall};
use lango_redaction::{LeakScanner, LeakStream, Placeholders, PrivacyFilter, Scrubber};
use serde_json::Value;

/// What was replaced in one request, and what has to be done with the reply to it.
pub(super) struct RequestGuard {
    scanner: Arc<LeakScanner>,
    leaks: LeakStream,
    placeholders: Placeholders,
    /// The end of the text so far that may become a placeholder.
    held: String,
}

impl RequestGuard {
    /// Replaces known secrets and personal data in everything of a request that is not an instruction
    /// or a declaration.
    pub(super) fn apply(
        scrubber: &Scrubber,
        privacy: Option<&PrivacyFilter>,
        request: &mut ModelRequest,
    ) -> Self {
        let scanner = scrubber.scanner();
        if !scanner.is_empty() {
            for_each_text(request, &mut |text| replace(text, |text| scanner.scrub(text)));
        }
        let mut placeholders = Placeholders::default();
        if let Some(privacy) = privacy {
            for_each_text(request, &mut |text| {
                replace(text, |text| privacy.redact(text, &mut placeholders));
            });
        }
        let leaks = scanner.stream();
        Self { scanner, leaks, placeholders, held: String::new() }
    }

    /// Takes a piece of the reply, and returns the text that is clear by now.
    pub(super) fn push_text(&mut self, piece: &str) -> String {
        let text = self.leaks.push(piece);
        if self.placeholders.is_empty() {
            return text;
        }
        self.held.push_str(&text);
        let (ready, rest) = self.placeholders.split_open_end(&self.held);
        let (ready, rest) = (self.placeholders.restore(ready), rest.to_owned());
        self.held = rest;
        ready
    }

    /// Returns the text that was held back.
    pub(super) fn finish_text(&mut self) -> String {
        self.held.push_str(&self.leaks.finish());
        self.placeholders.restore(&std::mem::take(&mut self.held))
    }

    /// Forgets the text so far, because the reply is void or cut.
    pub(super) fn restart(&mut self) {
        self.leaks = self.scanner.stream();
        self.held.clear();
    }

    /// Replaces known secrets in a call that a model made, and puts personal data back: a secret is
    /// passed by a handle, never by a model.
    pub(super) fn clean_call(&self, call: &mut RequestedCall) {
        // A tool gets the texts that the arguments stand for, and those can be written in many ways:
        // `\u0067` is a letter.
        if !self.scanner.is_empty()
            && let Ok(mut arguments) = serde_json::from_str::<Value>(&call.arguments)
            && self.clean_value(&mut arguments)
        {
            call.arguments = arguments.to_string();
        }
        call.arguments = self.clean(&call.arguments);
        replace(&mut call.name, |name| self.scanner.scrub(name));
    }

    /// Replaces known secrets in all texts and names of a value. Returns whether there was one.
    fn clean_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.scanner.scrub(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(clean) => {
                    *text = clean;
                    true
                }
            },
            Value::Array(items) => {
                // All of them, not only the first that has one.
                let found =
                    items.iter_mut().filter_map(|item| self.clean_value(item).then_some(()));
                found.count() > 0
            }
            Value::Object(members) => {
                let mut found = false;
                let clean = std::mem::take(members).into_iter().map(|(name, mut member)| {
                    found |= self.clean_value(&mut member);
                    match self.scanner.scrub(&name) {
                        Cow::Borrowed(_) => (name, member),
                        Cow::Owned(clean) => {
                            found = true;
                            (clean, member)
                        }
                    }
                });
                *members = clean.collect();
                found
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// The same for a text.
    pub(super) fn clean(&self, text: &str) -> String {
        self.placeholders.restore(&self.scanner.scrub(text))
    }
}

/// Visits the texts of a request, the conversation first: what is found there keeps its number while
/// the context changes.
fn for_each_text(request: &mut ModelRequest, visit: &mut dyn FnMut(&mut String)) {
    for message in &mut request.messages {
        match message {
            Message::User(message) => {
                visit(&mut message.text);
                let others = [&mut message.attachment, &mut message.task];
                others.into_iter().flatten().for_each(&mut *visit);
            }
            Message::Assistant { text, .. } => visit(text),
            Message::Exchange { text, calls, .. } => {
                visit(text);
                for call in calls {
                    visit(&mut call.arguments);
                    visit(&mut call.result);
                    if let CallOutcome::Transfer { text, .. } = &mut call.outcome {
                        visit(text);
                    }
                }
            }
        }
    }
    request.earlier_calls.iter_mut().for_each(|call| visit(&mut call.arguments));
    request.context.iter_mut().for_each(|block| visit(&mut block.text));
}

fn replace(text: &mut String, by: impl for<'t> FnOnce(&'t str) -> Cow<'t, str>) {
    let clean = match by(text) {
        Cow::Borrowed(_) => return,
        Cow::Owned(clean) => clean,
    };
    *text = clean;
}
