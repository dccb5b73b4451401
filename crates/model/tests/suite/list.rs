//! Tests the list of a server's models.

use lango_model::{ApiKey, ListedModel, ModelFault, Wire, list_models};

use crate::hearing::endpoint;
use crate::raw_server::{self, Response, Server};

fn json(body: impl Into<Vec<u8>>) -> Response {
    Response::new("application/json", body)
}

async fn server(body: &'static str) -> Server {
    raw_server::serve(move |_, _| json(body)).await
}

fn model(
    name: &str,
    window: impl Into<Option<u64>>,
    tools: impl Into<Option<bool>>,
    images: impl Into<Option<bool>>,
) -> ListedModel {
    let (window, tools, images) = (window.into(), tools.into(), images.into());
    ListedModel { name: name.into(), window, tools, images }
}

#[tokio::test]
async fn an_openai_server_says_the_names_and_each_its_own_more() {
    let mut server = server(
        r#"{"object":"list","data":[
            {"id":"gpt","object":"model","owned_by":"openai"},
            {"id":"a/router","context_length":131072,"supported_parameters":["tools","top_p"],
             "architecture":{"input_modalities":["text","image"]}},
            {"id":"b/router","context_length":null,"supported_parameters":[],
             "architecture":{"input_modalities":["text"]}},
            {"id":"vllm","max_model_len":32768},
            {"id":"llama.cpp","meta":{"n_ctx_train":8192}},
            {"no":"name"}]}"#,
    )
    .await;
    let mut endpoint = endpoint(Wire::OpenAi, &format!("{}/v1/", server.url));
    endpoint.api_key = Some(ApiKey::new("s3cret"));
    let models = list_models(&endpoint).await.unwrap();
    let expected = [
        model("gpt", None, None, None),
        model("a/router", 131_072, true, true),
        model("b/router", None, false, false),
        model("vllm", 32_768, None, None),
        model("llama.cpp", 8_192, None, None),
    ];
    assert_eq!(models, expected);
    let request = server.requests.recv().await.unwrap();
    assert!(request.starts_with("GET /v1/models HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Bearer s3cret\r\n"), "{request}");
}

#[tokio::test]
async fn a_list_without_anything_around_it_is_a_list() {
    let server = server(r#"[{"id":"a","context_length":4096}]"#).await;
    let models = list_models(&endpoint(Wire::OpenAi, &server.url)).await.unwrap();
    assert_eq!(models, [model("a", 4_096, None, None)]);
}

#[tokio::test]
async fn anthropic_and_gemini_say_what_they_have() {
    let mut anthropic = server(
        r#"{"data":[{"type":"model","id":"claude","display_name":"C","max_input_tokens":200000,
            "capabilities":{"image_input":{"supported":true}}},{"id":"old"}],"has_more":false}"#,
    )
    .await;
    let models = list_models(&endpoint(Wire::Anthropic, &anthropic.url)).await.unwrap();
    assert_eq!(models, [model("claude", 200_000, None, true), model("old", None, None, None)]);
    let request = anthropic.requests.recv().await.unwrap();
    assert!(request.starts_with("GET /v1/models?limit=1000 "), "{request}");
    assert!(request.contains("anthropic-version: 2023-06-01\r\n"), "{request}");

    let mut gemini = server(
        r#"{"models":[
            {"name":"models/gemini","inputTokenLimit":1048576,"outputTokenLimit":65536,
             "supportedGenerationMethods":["generateContent","countTokens"]},
            {"name":"models/embedding","supportedGenerationMethods":["embedContent"]}]}"#,
    )
    .await;
    let base_url = format!("{}/v1beta", gemini.url);
    let models = list_models(&endpoint(Wire::Gemini, &base_url)).await.unwrap();
    assert_eq!(models, [model("gemini", 1_048_576, None, None)]);
    let request = gemini.requests.recv().await.unwrap();
    assert!(request.starts_with("GET /v1beta/models?pageSize=1000 "), "{request}");
}

/// Lists sixty models, of which one has no details.
fn ollama(request: &str) -> Response {
    if request.starts_with("GET /api/tags ") {
        let models: Vec<_> =
            (0..60).map(|n| format!(r#"{{"name":"m{n}","model":"m{n}","size":1}}"#)).collect();
        return json(format!(r#"{{"models":[{}]}}"#, models.join(",")));
    }
    assert!(request.starts_with("POST /api/show "), "{request}");
    if request.ends_with(r#"{"model":"m7"}"#) {
        return Response { status: 500, ..json(r#"{"error":"broken"}"#) };
    }
    json(
        r#"{"capabilities":["completion","tools"],
            "model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}"#,
    )
}

#[tokio::test]
async fn ollama_is_asked_for_each_model_up_to_a_limit() {
    let mut server = raw_server::serve(|_, request| ollama(request)).await;
    let models = list_models(&endpoint(Wire::Ollama, &server.url)).await.unwrap();
    assert_eq!(models.len(), 60);
    for (number, listed) in models.iter().enumerate() {
        let name = format!("m{number}");
        let expected = if number == 7 || number >= 50 {
            model(&name, None, None, None)
        } else {
            model(&name, 40_960, true, false)
        };
        assert_eq!(listed, &expected);
    }
    let mut asked = 0;
    while server.requests.try_recv().is_ok() {
        asked += 1;
    }
    assert_eq!(asked, 51);
}

#[tokio::test]
async fn a_server_without_a_list_is_told_apart_from_a_missing_model() {
    let server = raw_server::serve(|_, _| Response { status: 404, ..json("not here") }).await;
    let error = list_models(&endpoint(Wire::OpenAi, &server.url)).await.unwrap_err();
    assert_eq!(error.fault, ModelFault::BadRequest);
    let server = raw_server::serve(|_, _| Response { status: 401, ..json("{}") }).await;
    let error = list_models(&endpoint(Wire::Gemini, &server.url)).await.unwrap_err();
    assert_eq!(error.fault, ModelFault::Authentication);
    let server = raw_server::serve(|_, _| json(r#"{"error":"rate limit"}"#)).await;
    let error = list_models(&endpoint(Wire::Ollama, &server.url)).await.unwrap_err();
    assert_eq!(error.fault, ModelFault::RateLimited);
    let server = raw_server::serve(|_, _| json(r#"{"data":[{"id":"a"#)).await;
    let error = list_models(&endpoint(Wire::OpenAi, &server.url)).await.unwrap_err();
    assert_eq!(error.fault, ModelFault::Malformed);
}

#[tokio::test]
async fn a_list_without_an_end_is_not_read_to_its_end() {
    let server = raw_server::serve(|_, _| {
        let chunk = vec![b' '; 1024 * 1024];
        Response { chunks: vec![chunk; 9], ..json("") }
    })
    .await;
    let error = list_models(&endpoint(Wire::OpenAi, &server.url)).await.unwrap_err();
    assert_eq!(error.fault, ModelFault::Malformed);
    assert!(error.reason.contains("longer than"), "{error}");
}
