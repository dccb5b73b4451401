//! Tests servers that do not accept every field: they are asked again without it, and never with it
//! again.

use std::sync::Arc;

use lango_model::{ModelFault, ModelRequest, RemoteModel, ReplyOptions, Wire};
use lango_tool::{SafetyLevel, ToolDeclaration};

use crate::hearing::{endpoint, receive_request, request};
use crate::raw_server::{self, Response, Server};
use crate::speech::Speech;

#[derive(schemars::JsonSchema)]
struct Nothing {}

fn full_request() -> Arc<ModelRequest> {
    let mut request = ModelRequest::clone(&request());
    request.options = ReplyOptions { max_output_tokens: Some(99), temperature: Some(0.5) };
    request.tools =
        vec![ToolDeclaration::new::<Nothing>("nothing", "Does nothing.", SafetyLevel::Safe)];
    Arc::new(request)
}

/// Refuses every request that contains `part`, with this message.
async fn refusing_model(wire: Wire, part: &'static str, words: &'static str) -> Server {
    let speech = Speech::of(wire);
    raw_server::serve(move |_, request| {
        if request.contains(part) {
            let body = format!(r#"{{"error":{{"message":"{words}"}}}}"#);
            return Response { status: 400, ..Response::new("application/json", body) };
        }
        Response::new(speech.content_type(), speech.body())
    })
    .await
}

async fn adapts(wire: Wire, part: &'static str, words: &'static str, instead: &str) {
    let mut server = refusing_model(wire, part, words).await;
    let model = RemoteModel::new(endpoint(wire, &server.url)).unwrap();
    for expected in [&["no", "yes"][..], &["yes"]] {
        let received = receive_request(&model, full_request()).await;
        assert_eq!(received.error, None, "{part}");
        for taken in expected {
            let request = server.requests.recv().await.unwrap();
            assert_eq!(request.contains(part), *taken == "no", "{part}: {request}");
            assert!(*taken == "no" || request.contains(instead), "{instead}: {request}");
        }
        assert!(server.requests.is_empty(), "{part}: asked once more than needed");
    }
}

#[tokio::test]
async fn what_a_server_does_not_take_is_left_out_from_then_on() {
    let open_ai = Wire::OpenAi;
    adapts(open_ai, "max_completion_tokens", "unknown: max_completion_tokens", "\"max_tokens\":99")
        .await;
    adapts(open_ai, "stream_options", "stream_options is not allowed", "\"stream\":true").await;
    adapts(open_ai, "temperature", "'temperature' does not support 0.5", "\"stream\":true").await;
    adapts(Wire::Anthropic, "temperature", "temperature is deprecated", "\"stream\":true").await;
}

#[tokio::test]
async fn a_model_that_calls_tools_only_without_reasoning_is_asked_so() {
    let speech = Speech::of(Wire::OpenAi);
    let mut server = raw_server::serve(move |_, request| {
        if request.contains(r#""reasoning_effort":"none""#) {
            return Response::new(speech.content_type(), speech.body());
        }
        let words = "Function tools with reasoning_effort are not supported";
        let body = format!(r#"{{"error":{{"message":"{words}"}}}}"#);
        Response { status: 400, ..Response::new("application/json", body) }
    })
    .await;
    let model = RemoteModel::new(endpoint(Wire::OpenAi, &server.url)).unwrap();
    assert_eq!(receive_request(&model, full_request()).await.error, None);
    assert_eq!(receive_request(&model, full_request()).await.error, None);
    let mut requests = 0;
    while server.requests.try_recv().is_ok() {
        requests += 1;
    }
    assert_eq!(requests, 3);
}

#[tokio::test]
async fn a_server_that_takes_nothing_is_not_asked_for_ever() {
    let words = "temperature, stream_options, reasoning_effort and max_completion_tokens are bad";
    let mut server = refusing_model(Wire::OpenAi, "model", words).await;
    let model = RemoteModel::new(endpoint(Wire::OpenAi, &server.url)).unwrap();
    let received = receive_request(&model, full_request()).await;
    assert_eq!(received.fault(), Some(ModelFault::BadRequest));
    let mut requests = 0;
    while server.requests.try_recv().is_ok() {
        requests += 1;
    }
    assert_eq!(requests, 2, "the first thing it names is left out, and then it is believed");
}
