//! Holds a request as scripts see it, whichever API it came over.

use std::borrow::Cow;

use lango_model::Wire;

/// Holds one request. Each API's parser makes it, and refuses what its provider refuses.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    pub(super) wire: Wire,
    pub(super) model: Cow<'a, str>,
    pub(super) system: Cow<'a, str>,
    pub(super) messages: Vec<ScriptMessage<'a>>,
    /// Names of the tools that may be called.
    pub(super) tools: Vec<Cow<'a, str>>,
    /// The length of the request.
    pub(super) bytes: usize,
}

/// Is one message. Where an API puts results, or several messages of the user, into one message, it
/// is split, so that scripts see the same over every API.
#[derive(Debug)]
pub(super) struct ScriptMessage<'a> {
    pub(super) role: Role,
    pub(super) text: Cow<'a, str>,
    pub(super) images: usize,
    /// Names of the tools that are called.
    pub(super) calls: Vec<Cow<'a, str>>,
}

/// The role of a message's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    /// A result.
    Tool,
}

impl<'a> ScriptMessage<'a> {
    pub(super) fn new(role: Role, text: Cow<'a, str>) -> Self {
        Self { role, text, images: 0, calls: Vec::new() }
    }
}

impl<'a> Conversation<'a> {
    /// Adds a text of the user: to the message that has only images so far, or as a new one.
    pub(super) fn push_user_text(&mut self, text: Cow<'a, str>, begins: bool) {
        match self.messages.last_mut() {
            Some(last) if !begins && last.role == Role::User && last.text.is_empty() => {
                last.text = text;
            }
            _ => self.messages.push(ScriptMessage::new(Role::User, text)),
        }
    }

    /// Adds an image of the user. One that `leads` belongs to the text after it.
    pub(super) fn push_user_image(&mut self, begins: bool, leads: bool) {
        let joins = |last: &ScriptMessage<'_>| {
            !begins && last.role == Role::User && (!leads || last.text.is_empty())
        };
        match self.messages.last_mut() {
            Some(last) if joins(last) => last.images += 1,
            _ => {
                let empty = ScriptMessage::new(Role::User, Cow::Borrowed(""));
                self.messages.push(ScriptMessage { images: 1, ..empty });
            }
        }
    }

    /// Joins images after the last text to it.
    pub(super) fn settle_images(&mut self) {
        if let [.., text, images] = self.messages.as_mut_slice()
            && text.role == Role::User
            && images.role == Role::User
            && images.text.is_empty()
        {
            text.images += images.images;
            self.messages.pop();
        }
    }

    /// Returns the name in `You are NAME, …`.
    pub(super) fn agent(&self) -> Option<&str> {
        let rest = self.system.strip_prefix("You are ")?;
        rest.split([',', '.', '\n', ' ']).next()
    }

    fn newest_user_at(&self) -> Option<usize> {
        self.messages.iter().rposition(|message| message.role == Role::User)
    }

    pub(super) fn newest_user(&self) -> &str {
        self.newest_user_at().map_or("", |at| &*self.messages[at].text)
    }

    /// Returns the number of images of the newest user message.
    pub(super) fn images(&self) -> usize {
        self.newest_user_at().map_or(0, |at| self.messages[at].images)
    }

    fn since_newest_user(&self) -> &[ScriptMessage<'a>] {
        &self.messages[self.newest_user_at().unwrap_or(0)..]
    }

    /// Returns the results since the newest user message, oldest first.
    pub(super) fn results(&self) -> impl DoubleEndedIterator<Item = &str> {
        let results = self.since_newest_user().iter().filter(|message| message.role == Role::Tool);
        results.map(|message| &*message.text)
    }

    /// Returns the tools that were called since the newest user message.
    pub(super) fn calls(&self) -> Vec<&str> {
        let calls = self.since_newest_user().iter().flat_map(|message| &message.calls);
        calls.map(|name| &**name).collect()
    }

    pub(super) fn mentions(&self, part: &str) -> bool {
        self.messages.iter().any(|message| message.text.contains(part))
    }

    pub(super) fn offers(&self, tool: &str) -> bool {
        self.tools.iter().any(|offered| offered == tool)
    }
}

/// Puts the texts of one message together; a single one is not copied.
pub(super) fn join<'a>(texts: impl IntoIterator<Item = Cow<'a, str>>) -> Cow<'a, str> {
    let mut whole = Cow::Borrowed("");
    for text in texts {
        if whole.is_empty() {
            whole = text;
        } else {
            whole.to_mut().push_str(&text);
        }
    }
    whole
}
