//! What comes out of the client for what a server sends.

use std::time::Duration;

use futures_util::StreamExt;
use lango_model::openai::{OpenAi, OpenAiConfig};
use lango_model::scripted::{Script, ScriptedServer};
use lango_model::{Message, Model, ModelError, ModelEvent, ModelRequest};

use crate::raw_server;

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

const BODY: &str = concat!(
    ": keep-alive\r\n\r\n",
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"Héllo \"}}],\"x\":1}\r\n\r\n",
    "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"🌍\"}}]}\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"fs_read\",\"arguments\":\"{\\\"path\\\":\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"ä\\\"}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"fs_stat\",\"arguments\":\"{}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,\"prompt_tokens_details\":{\"cached_tokens\":40}}}\n\n",
    "data: [DONE]\n\n",
);

fn model(base_url: String) -> OpenAi {
    OpenAi::new(OpenAiConfig {
        base_url,
        api_key: None,
        model: "test".into(),
        idle_timeout: Duration::from_millis(400),
        max_output_tokens: None,
        temperature: None,
    })
    .unwrap()
}

fn request() -> ModelRequest {
    ModelRequest {
        instruction: "You are operator, x".into(),
        context: Vec::new(),
        messages: vec![Message::User { text: "hello".into() }],
        tools: Vec::new(),
    }
}

#[derive(Debug, Default, PartialEq)]
struct Heard {
    text: String,
    reasoning: String,
    calls: Vec<(String, String)>,
    input_tokens: u64,
    error: Option<ModelError>,
}

async fn hear(base_url: String) -> Heard {
    let mut heard = Heard::default();
    let mut stream = match model(base_url).stream(request()).await {
        Ok(stream) => stream,
        Err(error) => return Heard { error: Some(error), ..heard },
    };
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Text(text)) => heard.text.push_str(&text),
            Ok(ModelEvent::Reasoning(text)) => heard.reasoning.push_str(&text),
            Ok(ModelEvent::Call(call)) => heard.calls.push((call.name, call.arguments)),
            Ok(ModelEvent::Usage(usage)) => heard.input_tokens = usage.input,
            Err(error) => heard.error = Some(error),
        }
    }
    heard
}

fn whole() -> Heard {
    Heard {
        text: "Héllo 🌍".into(),
        reasoning: "hm".into(),
        calls: vec![("fs_read".into(), "{\"path\":\"ä\"}".into()), ("fs_stat".into(), "{}".into())],
        input_tokens: 100,
        error: None,
    }
}

#[tokio::test]
async fn a_stream_cut_into_chunks_at_every_byte_says_the_same() {
    let bytes = BODY.as_bytes();
    for at in (0..bytes.len()).step_by(7) {
        let chunks = vec![bytes[..at].to_vec(), bytes[at..].to_vec()];
        assert_eq!(hear(raw_server::serve(HEAD, chunks).await).await, whole(), "cut at {at}");
    }
    let single = bytes.iter().map(|byte| vec![*byte]).collect();
    assert_eq!(hear(raw_server::serve(HEAD, single).await).await, whole());
}

#[tokio::test]
async fn a_stream_that_ends_anywhere_before_its_end_mark_never_gives_a_call() {
    let finish = BODY.find("\"finish_reason\":\"tool_calls\"}").unwrap();
    for at in (0..finish).step_by(11) {
        let chunks = vec![BODY.as_bytes()[..at].to_vec()];
        let heard = hear(raw_server::serve(HEAD, chunks).await).await;
        assert!(heard.calls.is_empty(), "cut at {at}: {heard:?}");
        assert!(matches!(heard.error, Some(ModelError::Cut { .. })), "cut at {at}: {heard:?}");
    }
}

#[tokio::test]
async fn a_missing_done_mark_is_forgiven_after_the_finish_reason() {
    let body = BODY.replace("data: [DONE]\n\n", "");
    assert_eq!(hear(raw_server::serve(HEAD, vec![body.into_bytes()]).await).await, whole());
}

#[tokio::test]
async fn the_output_limit_in_a_call_is_an_error_and_not_half_a_call() {
    let body = BODY.replace("\"finish_reason\":\"tool_calls\"", "\"finish_reason\":\"length\"");
    let heard = hear(raw_server::serve(HEAD, vec![body.into_bytes()]).await).await;
    assert_eq!((heard.calls.len(), heard.error), (0, Some(ModelError::OutputLimit)));
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let json = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    let body = r#"{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
    let heard = hear(raw_server::serve(json, vec![body.into()]).await).await;
    assert_eq!((heard.text.as_str(), heard.input_tokens, heard.error), ("hi", 3, None));
}

async fn scripted(reply: &str) -> Heard {
    let script = Script::parse("test", &format!("[[reply]]\n{reply}")).unwrap();
    let server = ScriptedServer::start(script).await.unwrap();
    hear(server.base_url()).await
}

#[tokio::test]
async fn the_scripted_model_speaks_and_fails_as_told() {
    let calls = "call = [{ name = \"fs_read\", arguments = { path = \"a\" } }]";
    let heard = scripted(&format!("agent = \"operator\"\nsay = \"to {{user}}\"\n{calls}")).await;
    assert_eq!(heard.text, "to hello");
    assert_eq!(heard.calls, [("fs_read".to_owned(), "{\"path\":\"a\"}".to_owned())]);

    let heard = scripted(&format!("{calls}\nfault = \"cut\"")).await;
    assert!(matches!(heard.error, Some(ModelError::Cut { .. })), "{heard:?}");
    assert!(heard.calls.is_empty());

    for (fault, expected) in [
        ("fault = \"silence\"", "sent nothing"),
        ("say = \"abc\"\nfault = \"stall\"", "sent nothing"),
        ("say = \"abc\"\nfault = \"no-end\"", "broke off"),
        ("say = \"abc\"\nfault = \"garbage\"", "not understood"),
        ("say = \"abc\"\nfault = \"error-event\"", "overloaded"),
        ("fault = \"status\"\nstatus = 401", "refused the key"),
    ] {
        let heard = scripted(fault).await;
        let error = heard.error.clone().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(expected), "{fault}: {heard:?}");
    }
}

#[tokio::test]
async fn nobody_listening_is_said_with_the_address_and_the_next_step() {
    let error = hear("http://user:secret@127.0.0.1:9/v1".into()).await.error.unwrap().to_string();
    assert!(error.contains("127.0.0.1:9") && error.contains("lango doctor"), "{error}");
    assert!(!error.contains("secret"), "{error}");
}
