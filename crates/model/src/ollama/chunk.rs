//! Reads the stream of the Ollama API: one document on each line, calls whole, the last one marked
//! `done`.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ProviderState;
use crate::ModelError;
use crate::http::{Assembly, Decoder, Ending};

/// Reads one reply.
#[derive(Default)]
pub(super) struct OllamaDecoder {
    thinking: String,
}

impl Decoder for OllamaDecoder {
    fn document(&mut self, document: &[u8], reply: &mut Assembly) -> Result<(), ModelError> {
        let line: Line = crate::http::parse(document)?;
        if let Some(error) = line.error {
            return Err(ModelError::from_document(error.get()));
        }
        if let Some(message) = line.message {
            self.message(message, reply);
        }
        if line.prompt_eval_count.is_some() || line.eval_count.is_some() {
            let usage = reply.usage();
            usage.input = line.prompt_eval_count.unwrap_or(usage.input);
            usage.output = line.eval_count.unwrap_or(usage.output);
        }
        if line.done == Some(true) {
            self.finish(line.done_reason.as_deref(), reply);
        }
        Ok(())
    }
}

impl OllamaDecoder {
    fn message(&mut self, message: WireMessage, reply: &mut Assembly) {
        if let Some(thinking) = message.thinking {
            self.thinking.push_str(&thinking);
            reply.add_reasoning(thinking);
        }
        reply.add_text(message.content.unwrap_or_default());
        for function in message.tool_calls.into_iter().flatten().filter_map(|call| call.function) {
            let number = reply.begin_call();
            let name = function.name.as_deref().unwrap_or_default();
            reply.extend_call(number, name, &read_arguments(function.arguments.as_deref()));
        }
    }

    fn finish(&mut self, reason: Option<&str>, reply: &mut Assembly) {
        let thinking = std::mem::take(&mut self.thinking);
        if !thinking.is_empty() {
            // A text always serialises.
            reply.set_provider_state(
                serde_json::to_string(&ProviderState { thinking }).unwrap_or_default(),
            );
        }
        reply.record_ending(if reason == Some("length") {
            Ending::OutputLimit
        } else {
            Ending::Complete
        });
        reply.record_end_mark();
    }
}

/// Returns the text of the arguments. They come as an object; some proxies wrap it in a string.
fn read_arguments(arguments: Option<&RawValue>) -> String {
    let Some(arguments) = arguments else {
        return "{}".to_owned();
    };
    serde_json::from_str(arguments.get()).unwrap_or_else(|_| arguments.get().to_owned())
}

/// Is one streamed document. Unknown fields are ignored.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    message: Option<WireMessage>,
    #[serde(default)]
    done: Option<bool>,
    #[serde(default)]
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: Option<u64>,
    #[serde(default)]
    eval_count: Option<u64>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct WireMessage {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<WireCall>>,
}

#[derive(Debug, Deserialize)]
struct WireCall {
    #[serde(default)]
    function: Option<Function>,
}

#[derive(Debug, Deserialize)]
struct Function {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}
