//! Holds the same reply in the format of each API: some reasoning, some text, two calls.

mod anthropic;
mod gemini;
mod ollama;
mod openai;

use lango_model::Wire;
use lango_protocol::Usage;
use lango_scripted::Framing;

use crate::hearing::ReceivedReply;

const ARGUMENTS: &str = r#"{"options":{"depth":2,"tags":["日本","🦀"]},"path":"ä"}"#;

/// Represents a reply in the format of one API.
#[derive(Debug, Clone)]
pub(crate) struct Speech {
    pub(crate) wire: Wire,
    /// The separation of its documents.
    pub(crate) framing: Framing,
    /// The path for a model called `model`, below the base URL.
    pub(crate) path: &'static str,
    /// Headers of the wire's own in a request with the key `s3cret`.
    pub(crate) headers: &'static [&'static str],
    /// A document with figures that comes after others and leaves some of them out.
    pub(crate) later_usage: Option<&'static str>,
    /// Documents that say that the provider refuses to answer.
    pub(crate) refusals: &'static [&'static str],
    /// Texts that only documents with calls contain.
    pub(crate) call_marks: &'static [&'static str],
    /// Documents with the call of a given number.
    pub(crate) call: fn(usize) -> Vec<String>,
    /// Its documents in their order, the end mark included.
    pub(crate) documents: Vec<String>,
    /// The document after which the model had finished.
    pub(crate) finish: usize,
    /// The finish reason, and the one for a reached output limit.
    pub(crate) reason: (&'static str, &'static str),
    /// The token counts, and the same field without them.
    pub(crate) usage: Vec<(&'static str, &'static str)>,
    /// A document with all the figures and nothing else.
    pub(crate) usage_document: &'static str,
    /// A document that says that the provider is overloaded.
    pub(crate) error: &'static str,
    /// Documents that mean nothing.
    pub(crate) idle: Vec<&'static str>,
    /// The whole in one document, from a server that does not stream.
    pub(crate) whole: String,
    /// The provider state.
    pub(crate) provider_state: Option<&'static str>,
    figures: Usage,
}

/// Says how documents are put on the wire.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) line_end: &'static str,
    /// A line after each document, where a blank one belongs.
    pub(crate) between: bool,
    /// Comments, names of events and ids around each document.
    pub(crate) adorned: bool,
}

pub(crate) const PLAIN: Form = Form { line_end: "\n", between: true, adorned: false };

impl Speech {
    pub(crate) fn of(wire: Wire) -> Self {
        match wire {
            Wire::OpenAi => openai::speech(),
            Wire::Anthropic => anthropic::speech(),
            Wire::Gemini => gemini::speech(),
            Wire::Ollama => ollama::speech(),
        }
    }

    pub(crate) fn all() -> [Self; Wire::ALL.len()] {
        Wire::ALL.map(Self::of)
    }

    pub(crate) fn content_type(&self) -> &'static str {
        self.framing.content_type()
    }

    /// Returns the reply that the client has to return.
    pub(crate) fn meaning(&self) -> ReceivedReply {
        ReceivedReply {
            text: "Héllo 🌍".into(),
            reasoning: "hm, gewiß".into(),
            calls: vec![("fs_read".into(), ARGUMENTS.into()), ("fs_stat".into(), "{}".into())],
            usage: Some(self.figures),
            provider_state: self.provider_state.map(str::to_owned),
            error: None,
        }
    }

    pub(crate) fn with(&self, documents: Vec<String>) -> Self {
        Self { documents, ..self.clone() }
    }

    /// Returns the reply with one text in place of another, which must be there.
    pub(crate) fn replaced(&self, from: &str, to: &str) -> Self {
        let there = self.documents.iter().any(|document| document.contains(from));
        assert!(there, "{from} is nowhere");
        self.with(self.documents.iter().map(|document| document.replace(from, to)).collect())
    }

    /// Returns the reply without any token counts.
    pub(crate) fn without_usage(&self) -> Self {
        let begin = self.clone();
        self.usage.iter().fold(begin, |speech, (there, _)| speech.replaced(there, "\"x\":1"))
    }

    pub(crate) fn body(&self) -> String {
        self.rendered(PLAIN)
    }

    pub(crate) fn rendered(&self, form: Form) -> String {
        let events = self.framing == Framing::Events;
        let mut body = String::new();
        let mut line = |text: &str| {
            body.push_str(text);
            body.push_str(form.line_end);
        };
        for document in &self.documents {
            match (events, form.adorned) {
                (true, true) => {
                    for text in [": keep-alive", "", "event: never_heard_of", "id: 7", "retry: 3"] {
                        line(text);
                    }
                }
                (false, true) => line("  "),
                _ => {}
            }
            line(&if events { format!("data: {document}") } else { document.clone() });
            if form.between {
                line("");
            }
        }
        body
    }

    /// Returns the length of the body at which the reply is finished.
    pub(crate) fn finished_at(&self) -> usize {
        let until = self.with(self.documents[..=self.finish].to_vec());
        until.body().trim_end().len()
    }
}

fn texts(documents: &[&str]) -> Vec<String> {
    documents.iter().map(|&document| document.to_owned()).collect()
}

fn figures() -> Usage {
    Usage { input: 120, output: 30, cached: 40, cache_write: 0, reasoning: 8 }
}
