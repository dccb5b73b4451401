//! How each provider says no.

mod cases;

use bytes::Bytes;
use hyper::StatusCode;
use lango_model::Wire;
use serde::Serialize;

use super::script::ErrorCase;

/// A request that is not answered.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

/// What a refusal says, before it is put into the words of a wire.
#[derive(Default)]
struct Words<'a> {
    message: &'a str,
    /// OpenAI's and Anthropic's type, where the status alone does not say it.
    kind: Option<&'a str>,
    /// OpenAI's code.
    code: Option<&'a str>,
    /// OpenAI's name of the parameter.
    param: Option<&'a str>,
    /// Google's details.
    details: Vec<serde_json::Value>,
}

#[derive(Serialize)]
struct OpenAiBody<'a> {
    error: OpenAiError<'a>,
}

#[derive(Serialize)]
struct OpenAiError<'a> {
    message: &'a str,
    r#type: &'a str,
    param: Option<&'a str>,
    code: Option<&'a str>,
}

#[derive(Serialize)]
struct AnthropicBody<'a> {
    r#type: &'static str,
    error: AnthropicError<'a>,
    request_id: &'static str,
}

#[derive(Serialize)]
struct AnthropicError<'a> {
    r#type: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct GeminiBody<'a> {
    error: GeminiError<'a>,
}

#[derive(Serialize)]
struct GeminiError<'a> {
    code: u16,
    message: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<serde_json::Value>,
}

#[derive(Serialize)]
struct OllamaBody<'a> {
    error: &'a str,
}

impl Refusal {
    /// A refusal with a status and the provider's shape of body.
    pub(super) fn new(wire: Wire, status: u16, message: &str) -> Self {
        Self::in_words(wire, status, Words { message, ..Words::default() })
    }

    /// What the provider answers in this case. `None`: it does not refuse, but answers nothing.
    pub(super) fn of_case(wire: Wire, case: ErrorCase, model: &str) -> Option<Self> {
        match wire {
            Wire::OpenAi => Some(cases::openai(case, model)),
            Wire::Anthropic => Some(cases::anthropic(case, model)),
            Wire::Gemini => cases::gemini(case, model),
            Wire::Ollama => Some(cases::ollama(case, model)),
        }
    }

    fn in_words(wire: Wire, status: u16, words: Words<'_>) -> Self {
        let body = match wire {
            Wire::OpenAi => serde_json::to_vec(&OpenAiBody {
                error: OpenAiError {
                    message: words.message,
                    r#type: words.kind.unwrap_or(openai_type(status)),
                    param: words.param,
                    code: words.code,
                },
            }),
            Wire::Anthropic => serde_json::to_vec(&AnthropicBody {
                r#type: "error",
                error: AnthropicError {
                    r#type: words.kind.unwrap_or(anthropic_type(status)),
                    message: words.message,
                },
                request_id: "req_scripted",
            }),
            Wire::Gemini => serde_json::to_vec(&GeminiBody {
                error: GeminiError {
                    code: status,
                    message: words.message,
                    status: gemini_status(status),
                    details: words.details,
                },
            }),
            Wire::Ollama => serde_json::to_vec(&OllamaBody { error: words.message }),
        };
        // The bodies are plain data with text keys: they always serialise.
        let body = body.unwrap_or_default().into();
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, body }
    }
}

/// An error in the middle of a stream.
pub(super) fn event(wire: Wire) -> Bytes {
    const OPENAI: &[u8] = b"data: {\"error\":{\"message\":\"The server is overloaded\",\
        \"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n";
    const ANTHROPIC: &[u8] = b"event: error\ndata: {\"type\":\"error\",\
        \"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    const GEMINI: &[u8] = b"data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded. \
        Please try again later.\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n";
    const OLLAMA: &[u8] = b"{\"error\":\"an error was encountered while running the model: \
        unexpected EOF\"}\n";
    Bytes::from_static(match wire {
        Wire::OpenAi => OPENAI,
        Wire::Anthropic => ANTHROPIC,
        Wire::Gemini => GEMINI,
        Wire::Ollama => OLLAMA,
    })
}

/// Something in the middle of a stream that is not the protocol.
pub(super) fn garbage(wire: Wire) -> Bytes {
    Bytes::from_static(match wire {
        Wire::OpenAi => b"data: {\"choices\": <html>\n\n",
        Wire::Anthropic => b"event: content_block_delta\ndata: {\"type\": <html>\n\n",
        Wire::Gemini => b"data: {\"candidates\": <html>\r\n\r\n",
        Wire::Ollama => b"{\"message\": <html>\n",
    })
}

fn openai_type(status: u16) -> &'static str {
    match status {
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

fn anthropic_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn gemini_status(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const WIRES: [Wire; 4] = [Wire::OpenAi, Wire::Anthropic, Wire::Gemini, Wire::Ollama];

    fn body(refusal: &Refusal) -> Value {
        serde_json::from_slice(&refusal.body).unwrap()
    }

    #[test]
    fn each_provider_says_no_in_its_own_shape() {
        let shown = WIRES.map(|wire| body(&Refusal::new(wire, 429, "slow down")));
        assert_eq!(shown[0]["error"]["type"], "rate_limit_error");
        assert_eq!(shown[1]["error"]["type"], "rate_limit_error");
        assert_eq!(shown[1]["type"], "error");
        assert_eq!(shown[2]["error"]["status"], "RESOURCE_EXHAUSTED");
        assert_eq!(shown[3]["error"], "slow down");
    }

    #[test]
    fn every_case_has_an_answer_on_every_wire() {
        use ErrorCase::{
            Auth, ContentRefused, ContextTooLong, NoTools, Overloaded, Quota, UnknownModel,
        };
        let expected = [
            (ContextTooLong, [400, 400, 400, 400]),
            (Quota, [429, 400, 429, 429]),
            (Auth, [401, 401, 400, 401]),
            (UnknownModel, [404, 404, 404, 404]),
            (NoTools, [400, 400, 400, 400]),
            (ContentRefused, [400, 400, 200, 422]),
            (Overloaded, [503, 529, 503, 503]),
        ];
        for (case, statuses) in expected {
            for (wire, status) in WIRES.into_iter().zip(statuses) {
                let refusal = Refusal::of_case(wire, case, "m");
                let found = refusal.map_or(200, |refusal| refusal.status.as_u16());
                assert_eq!(found, status, "{case:?} {wire:?}");
            }
        }
    }

    #[test]
    fn errors_inside_a_stream_are_documents_of_their_wire() {
        for wire in WIRES {
            let text = String::from_utf8(event(wire).to_vec()).unwrap();
            let json = &text[text.find('{').unwrap()..];
            assert!(serde_json::from_str::<Value>(json.trim_end()).is_ok(), "{text}");
            let text = String::from_utf8(garbage(wire).to_vec()).unwrap();
            let json = &text[text.find('{').unwrap()..];
            assert!(serde_json::from_str::<Value>(json.trim_end()).is_err(), "{text}");
        }
    }
}
