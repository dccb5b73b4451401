//! The same reply in the words of each wire: some reasoning, some text, two calls.

use lango_model::Wire;
use lango_protocol::Usage;

use crate::hearing::Heard;

const ARGUMENTS: &str = r#"{"options":{"depth":2,"tags":["日本","🦀"]},"path":"ä"}"#;

/// A reply as one wire says it.
#[derive(Debug, Clone)]
pub(crate) struct Speech {
    pub(crate) wire: Wire,
    /// Its documents in their order, the end mark included.
    pub(crate) documents: Vec<String>,
    /// The document after which the model had finished.
    pub(crate) finish: usize,
    /// How the finish is written, and how it would be if the output limit had been reached.
    pub(crate) reason: (&'static str, &'static str),
    /// Where figures are, and the same with nothing in it.
    pub(crate) usage: Vec<(&'static str, &'static str)>,
    /// A document with all the figures and nothing else.
    pub(crate) usage_document: &'static str,
    /// A document that says that the provider is overloaded.
    pub(crate) error: &'static str,
    /// Documents that mean nothing.
    pub(crate) idle: Vec<&'static str>,
    /// The whole in one document, from a server that does not stream.
    pub(crate) whole: String,
    /// What the provider wants to see again.
    pub(crate) keepsake: Option<&'static str>,
    figures: Usage,
}

/// How documents are put on the wire.
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
            Wire::OpenAi => openai(),
            Wire::Anthropic => anthropic(),
            Wire::Gemini => gemini(),
            Wire::Ollama => ollama(),
        }
    }

    pub(crate) fn all() -> [Self; 4] {
        [Wire::OpenAi, Wire::Anthropic, Wire::Gemini, Wire::Ollama].map(Self::of)
    }

    pub(crate) fn content_type(&self) -> &'static str {
        match self.wire {
            Wire::Ollama => "application/x-ndjson",
            _ => "text/event-stream",
        }
    }

    /// What must be heard of it.
    pub(crate) fn meaning(&self) -> Heard {
        Heard {
            text: "Héllo 🌍".into(),
            reasoning: "hm, gewiß".into(),
            calls: vec![("fs_read".into(), ARGUMENTS.into()), ("fs_stat".into(), "{}".into())],
            usage: Some(self.figures),
            keepsake: self.keepsake.map(str::to_owned),
            error: None,
        }
    }

    pub(crate) fn with(&self, documents: Vec<String>) -> Self {
        Self { documents, ..self.clone() }
    }

    /// With one text in place of another, which must be there.
    pub(crate) fn replaced(&self, from: &str, to: &str) -> Self {
        let there = self.documents.iter().any(|document| document.contains(from));
        assert!(there, "{from} is nowhere");
        self.with(self.documents.iter().map(|document| document.replace(from, to)).collect())
    }

    /// Without any figures.
    pub(crate) fn without_usage(&self) -> Self {
        let begin = self.clone();
        self.usage.iter().fold(begin, |speech, (there, _)| speech.replaced(there, "\"x\":1"))
    }

    pub(crate) fn body(&self) -> String {
        self.rendered(PLAIN)
    }

    pub(crate) fn rendered(&self, form: Form) -> String {
        let events = self.wire != Wire::Ollama;
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

    /// Up to where the body must have come for the reply to be finished.
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

fn openai() -> Speech {
    let usage = r#""usage":{"prompt_tokens":120,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":8}}"#;
    let last = format!(r#"{{"choices":[],{usage}}}"#);
    Speech {
        wire: Wire::OpenAi,
        documents: texts(&[
            r#"{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"hm, "}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"gewiß"}}]}"#,
            r#"{"choices":[{"delta":{"content":"Héllo "}}]}"#,
            r#"{"choices":[{"delta":{"content":"🌍","tool_calls":null}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"fs_read","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"fs_stat","arguments":"{"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"options\":{\"depth\":2,\"tags\":[\"日本\","}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"\"\ud83e\udd80\"]},\"path\":\"ä\"}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":null}"#,
            &last,
            "[DONE]",
        ]),
        finish: 9,
        reason: (r#""finish_reason":"tool_calls""#, r#""finish_reason":"length""#),
        usage: vec![(
            r#""usage":{"prompt_tokens":120,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":8}}"#,
            r#""usage":null"#,
        )],
        usage_document: r#"{"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":8}}}"#,
        error: r#"{"error":{"message":"The server is overloaded","type":"server_error"}}"#,
        idle: vec![r#"{"choices":[]}"#, r#"{"choices":null}"#, "{}", r#"{"choices":[{}]}"#],
        whole: format!(
            r#"{{"choices":[{{"message":{{"role":"assistant","content":"Héllo 🌍","reasoning_content":"hm, gewiß","tool_calls":[{{"id":"a","type":"function","function":{{"name":"fs_read","arguments":{}}}}},{{"id":"b","type":"function","function":{{"name":"fs_stat","arguments":"{{}}"}}}}]}},"finish_reason":"tool_calls"}}],{usage}}}"#,
            serde_json::to_string(ARGUMENTS).unwrap()
        ),
        keepsake: Some(r#"{"reasoning_content":"hm, gewiß"}"#),
        figures: figures(),
    }
}

fn anthropic() -> Speech {
    Speech {
        wire: Wire::Anthropic,
        documents: texts(&[
            r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":70,"cache_read_input_tokens":40,"cache_creation_input_tokens":10,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm, "}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"gewiß"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"ZGF0YQ"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Héllo "}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"🌍"}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"fs_read","input":{}}}"#,
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"options\":{\"depth\":2,\"tags\":[\"日本\","}}"#,
            r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"fs_stat","input":{}}}"#,
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"\ud83e\udd80\"]},\"path\":\"ä\"}"}}"#,
            r#"{"type":"content_block_stop","index":3}"#,
            r#"{"type":"content_block_stop","index":4}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":30,"output_tokens_details":{"thinking_tokens":8}}}"#,
            r#"{"type":"message_stop"}"#,
        ]),
        finish: 20,
        reason: (r#""stop_reason":"tool_use""#, r#""stop_reason":"max_tokens""#),
        usage: vec![
            (
                r#""usage":{"input_tokens":70,"cache_read_input_tokens":40,"cache_creation_input_tokens":10,"output_tokens":1}"#,
                r#""usage":null"#,
            ),
            (
                r#""usage":{"output_tokens":30,"output_tokens_details":{"thinking_tokens":8}}"#,
                r#""usage":null"#,
            ),
        ],
        usage_document: r#"{"type":"message_delta","delta":{"stop_reason":null},"usage":{"input_tokens":70,"cache_read_input_tokens":40,"cache_creation_input_tokens":10,"output_tokens":30,"output_tokens_details":{"thinking_tokens":8}}}"#,
        error: r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        idle: vec![
            r#"{"type":"ping"}"#,
            r#"{"type":"something_new","index":9,"delta":{"type":"text_delta","text":"no"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"something_new"}}"#,
            r#"{"type":"content_block_start","index":77,"content_block":{"type":"server_tool_use","id":"s","name":"web","input":{}}}"#,
            "{}",
        ],
        whole: format!(
            r#"{{"id":"m","type":"message","role":"assistant","content":[{{"type":"thinking","thinking":"hm, gewiß","signature":"c2ln"}},{{"type":"redacted_thinking","data":"ZGF0YQ"}},{{"type":"text","text":"Héllo 🌍"}},{{"type":"tool_use","id":"toolu_1","name":"fs_read","input":{ARGUMENTS}}},{{"type":"tool_use","id":"toolu_2","name":"fs_stat","input":{{}}}}],"stop_reason":"tool_use","usage":{{"input_tokens":70,"cache_read_input_tokens":40,"cache_creation_input_tokens":10,"output_tokens":30,"output_tokens_details":{{"thinking_tokens":8}}}}}}"#
        ),
        keepsake: Some(
            r#"[{"type":"thinking","thinking":"hm, gewiß","signature":"c2ln"},{"type":"redacted_thinking","data":"ZGF0YQ"}]"#,
        ),
        figures: Usage { cache_write: 10, ..figures() },
    }
}

fn gemini() -> Speech {
    let calls = format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"functionCall":{{"id":"x1","name":"fs_read","args":{ARGUMENTS}}},"thoughtSignature":"c2ln"}},{{"functionCall":{{"name":"fs_stat"}}}}]}},"index":0}}],"usageMetadata":{{"promptTokenCount":110}}}}"#
    );
    Speech {
        wire: Wire::Gemini,
        documents: texts(&[
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hm, ","thought":true}]},"index":0}],"modelVersion":"g"}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"gewiß","thought":true},{"text":"Héllo "}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"🌍"}]}}]}"#,
            &calls,
            r#"{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"dGV4dA"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":110,"toolUsePromptTokenCount":10,"candidatesTokenCount":22,"thoughtsTokenCount":8,"cachedContentTokenCount":40,"totalTokenCount":150}}"#,
        ]),
        finish: 4,
        reason: (r#""finishReason":"STOP""#, r#""finishReason":"MAX_TOKENS""#),
        usage: vec![
            (r#""usageMetadata":{"promptTokenCount":110}"#, r#""usageMetadata":null"#),
            (
                r#""usageMetadata":{"promptTokenCount":110,"toolUsePromptTokenCount":10,"candidatesTokenCount":22,"thoughtsTokenCount":8,"cachedContentTokenCount":40,"totalTokenCount":150}"#,
                r#""usageMetadata":null"#,
            ),
        ],
        usage_document: r#"{"usageMetadata":{"promptTokenCount":110,"toolUsePromptTokenCount":10,"candidatesTokenCount":22,"thoughtsTokenCount":8,"cachedContentTokenCount":40}}"#,
        error: r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
        idle: vec![
            r#"{"candidates":[]}"#,
            r#"{"candidates":null,"promptFeedback":{"safetyRatings":[]}}"#,
            r#"{"candidates":[{"index":0}]}"#,
            r#"{"candidates":[{"content":{}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{}]}}]}"#,
            "{}",
        ],
        whole: format!(
            r#"[{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":"hm, gewiß","thought":true}},{{"text":"Héllo "}}]}}}}]}},
            {{"candidates":[{{"content":{{"parts":[{{"text":"🌍","thoughtSignature":"dGV4dA"}},{{"functionCall":{{"id":"x1","name":"fs_read","args":{ARGUMENTS}}},"thoughtSignature":"c2ln"}},{{"functionCall":{{"name":"fs_stat","args":{{}}}}}}]}},"finishReason":"STOP"}}],"usageMetadata":{{"promptTokenCount":110,"toolUsePromptTokenCount":10,"candidatesTokenCount":22,"thoughtsTokenCount":8,"cachedContentTokenCount":40}}}}]"#
        ),
        keepsake: Some(r#"{"text":"dGV4dA","calls":[{"id":"x1","signature":"c2ln"},{}]}"#),
        figures: figures(),
    }
}

fn ollama() -> Speech {
    let calls = format!(
        r#"{{"model":"m","message":{{"role":"assistant","content":"","tool_calls":[{{"id":"call_1","function":{{"index":0,"name":"fs_read","arguments":{ARGUMENTS}}}}}]}},"done":false}}"#
    );
    Speech {
        wire: Wire::Ollama,
        documents: texts(&[
            r#"{"model":"m","created_at":"2025-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"hm, "},"done":false}"#,
            r#"{"model":"m","message":{"role":"assistant","content":"","thinking":"gewiß"},"done":false}"#,
            r#"{"model":"m","message":{"role":"assistant","content":"Héllo "},"done":false}"#,
            r#"{"model":"m","message":{"role":"assistant","content":"🌍"},"done":false}"#,
            &calls,
            r#"{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"fs_stat","arguments":{}}}]},"done":false}"#,
            r#"{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":5,"prompt_eval_count":120,"eval_count":30}"#,
        ]),
        finish: 6,
        reason: (r#""done_reason":"stop""#, r#""done_reason":"length""#),
        usage: vec![(
            r#""prompt_eval_count":120,"eval_count":30"#,
            r#""prompt_eval_count":null,"eval_count":null"#,
        )],
        usage_document: r#"{"message":{"role":"assistant","content":""},"done":false,"prompt_eval_count":120,"eval_count":30}"#,
        error: r#"{"error":"an error was encountered: the server is overloaded"}"#,
        idle: vec![
            r#"{"message":null,"done":false}"#,
            r#"{"done":null}"#,
            r#"{"message":{}}"#,
            "{}",
        ],
        whole: format!(
            r#"{{"model":"m","message":{{"role":"assistant","content":"Héllo 🌍","thinking":"hm, gewiß","tool_calls":[{{"function":{{"name":"fs_read","arguments":{ARGUMENTS}}}}},{{"function":{{"name":"fs_stat","arguments":{{}}}}}}]}},"done":true,"done_reason":"stop","prompt_eval_count":120,"eval_count":30}}"#
        ),
        keepsake: Some(r#"{"thinking":"hm, gewiß"}"#),
        figures: Usage { input: 120, output: 30, ..Usage::default() },
    }
}
