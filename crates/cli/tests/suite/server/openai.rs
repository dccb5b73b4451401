//! `/v1` as any client meets it.

use serde_json::{Value, json};

use super::{ECHO, Server, user};
use crate::fixture::{Lango, TO_OPERATOR, calling};

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_plain_text_with_the_work_in_a_field_of_its_own() {
    let stat = ("fs_stat", "{ path = \"README.md\" }");
    let lango = Lango::playing(&[TO_OPERATOR, &calling("operator", &[stat])]).await;
    let server = Server::start(&lango, &[]).await;
    let answer = server.say("how large is it?").await;
    let told = answer.json();
    assert_eq!(told["object"], "chat.completion", "{told}");
    assert_eq!(told["model"], "lango");
    let choice = &told["choices"][0];
    assert_eq!(choice["finish_reason"], "stop");
    assert_eq!(choice["message"]["role"], "assistant");
    assert!(choice["message"].get("tool_calls").is_none(), "{told}");
    assert!(told["usage"]["prompt_tokens"].as_u64().unwrap() > 0);
    let lango_field = &told["lango"];
    assert_eq!(lango_field["agent"], "operator");
    assert_eq!(lango_field["outcome"], "done");
    assert_eq!(lango_field["session"], answer.session());
    let steps = [
        json!({ "type": "transfer", "from": "lango-orchestrator", "agent": "operator",
                "status": "answered" }),
        json!({ "type": "tool", "agent": "operator", "tool": "fs_stat", "status": "ok" }),
    ];
    assert_eq!(lango_field["steps"], json!(steps));
    // Neither arguments nor results are among it.
    assert!(!lango_field.to_string().contains("README"), "{told}");
    assert_eq!(lango.complaints(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_has_steps_as_they_come_and_ends_with_figures_and_a_mark() {
    let stat = ("fs_stat", "{ path = \"README.md\" }");
    let lango = Lango::playing(&[TO_OPERATOR, &calling("operator", &[stat])]).await;
    let server = Server::start(&lango, &[]).await;
    let body = json!({ "model": "lango", "stream": true, "messages": [user("how large?")],
                       "stream_options": { "include_usage": true } });
    let answer = server.owner("POST", "/v1/chat/completions").json(&body).send().await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").unwrap().starts_with("text/event-stream"));
    let mut events = answer.events();
    assert_eq!(events.pop().unwrap(), "[DONE]");
    let usage = events.pop().unwrap();
    assert_eq!(usage["choices"], json!([]));
    assert!(usage["usage"]["total_tokens"].as_u64().unwrap() > 0);
    assert_eq!(events[0]["choices"][0]["delta"]["role"], "assistant");
    let statuses: Vec<&str> =
        events.iter().filter_map(|event| event["lango"]["step"]["status"].as_str()).collect();
    assert_eq!(statuses, ["started", "started", "ok", "answered"]);
    let last = events.last().unwrap();
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    assert_eq!(last["lango"]["outcome"], "done");
    assert!(events.iter().all(|event| event["usage"].is_null()), "{events:?}");
    let ids: std::collections::BTreeSet<&str> =
        events.iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 1);
    assert!(answer.streamed().contains("README.md"), "{}", answer.streamed());
    // Without the wish for figures there are none.
    let body = json!({ "model": "lango", "stream": true, "messages": [user("again?")] });
    let plain = server.owner("POST", "/v1/chat/completions").json(&body).send().await;
    assert!(!plain.body.contains("\"usage\""), "{}", plain.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn words_that_turn_out_void_are_never_shown() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
times = 1
say = "These words break off in the middle of nowhere"
fault = "cut"

[[reply]]
agent = "lango-orchestrator"
results = 0
times = 1
say = "I will look into it."
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "Plan.", return = true } }]

[[reply]]
agent = "planner"
say = "This is for the orchestrator alone."

[[reply]]
agent = "lango-orchestrator"
say = "This stands."
"#;
    let lango = Lango::playing(&[script]).await;
    let server = Server::start(&lango, &[]).await;
    let body = json!({ "model": "lango", "stream": true, "messages": [user("go")] });
    let answer = server.owner("POST", "/v1/chat/completions").json(&body).send().await;
    assert_eq!(answer.streamed(), "This stands.");
    for void in ["These words", "I will look", "for the orchestrator"] {
        assert!(!answer.body.contains(void), "{void}: {}", answer.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_the_shape_and_the_status_that_clients_know() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    let cases: [(&str, u16, Option<&str>, Option<&str>); 8] = [
        ("{", 400, Some("body"), None),
        (r#"{"model":"lango"}"#, 400, Some("messages"), Some("missing_required_parameter")),
        (r#"{"model":"gpt-5","messages":[]}"#, 404, Some("model"), Some("model_not_found")),
        (r#"{"model":7,"messages":[]}"#, 400, Some("model"), Some("invalid_type")),
        (r#"{"model":"lango","messages":[]}"#, 400, Some("messages"), None),
        (
            r#"{"model":"lango","messages":[{"role":"user","content":"x"}],"stream":"yes"}"#,
            400,
            Some("stream"),
            Some("invalid_type"),
        ),
        (
            r#"{"model":"lango","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.org/x.png"}}]}]}"#,
            400,
            Some("messages[0].content[0].image_url"),
            Some("invalid_image_url"),
        ),
        (
            r#"{"model":"lango","messages":[{"role":"user","content":"x"}],"tools":[{}],"tool_choice":"required"}"#,
            400,
            Some("tool_choice"),
            Some("unsupported_parameter"),
        ),
    ];
    for (body, status, param, code) in cases {
        let answer = server.owner("POST", "/v1/chat/completions").body(body).send().await;
        assert_eq!(answer.status, status, "{body} {answer:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["param"].as_str(), param, "{body} {error}");
        assert_eq!(error["code"].as_str(), code, "{body} {error}");
        assert_eq!(error["type"], "invalid_request_error", "{body} {error}");
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{error}");
    }
    let unknown = server.owner("GET", "/v1/models/gpt-5").send().await;
    assert_eq!(unknown.json()["error"]["code"], "model_not_found", "{unknown:?}");
    let known = server.owner("GET", "/v1/models/lango").send().await;
    assert_eq!(known.json()["id"], "lango");
    assert_eq!(server.owner("GET", "/v1/chat/completions").send().await.status, 405);
    let nowhere = server.owner("POST", "/v1/embeddings").send().await;
    assert_eq!(
        (nowhere.status, nowhere.json()["error"]["code"].as_str()),
        (404, Some("not_found"))
    );
    // Nothing of it began a turn.
    assert_eq!(super::turns(&lango).await, (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_failed_is_an_error_that_clients_do_not_repeat() {
    let script = r#"
[[reply]]
user = "provider"
error = "auth"

[[reply]]
agent = "lango-orchestrator"
user = "question"
say = "[ASK] Which file do you mean?"

[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "planner", task = "x" } }]

[[reply]]
agent = "planner"
say = "[REJECT] not mine"

[[reply]]
agent = "lango-orchestrator"
say = "No agent takes it."
"#;
    let lango = Lango::playing(&[script]).await;
    let server = Server::start(&lango, &[]).await;
    let failed = server.say("provider").await;
    assert_eq!(failed.status, 502, "{failed:?}");
    assert_eq!(failed.header("x-should-retry"), Some("false"));
    assert_eq!(failed.json()["error"]["code"], "provider_failed");
    let body = json!({ "model": "lango", "stream": true, "messages": [user("provider")] });
    let streamed = server.owner("POST", "/v1/chat/completions").json(&body).send().await;
    let events = streamed.events();
    assert_eq!(events[events.len() - 2]["error"]["code"], "provider_failed", "{events:?}");
    assert_eq!(events[events.len() - 1], "[DONE]");
    // A question is an answer.
    let asked = server.say("question").await;
    assert_eq!(asked.text(), "Which file do you mean?");
    assert_eq!(asked.json()["lango"]["outcome"], "needs_input");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_is_not_told_what_is_set_up_here() {
    let lango = Lango::playing(&["[[reply]]\nerror = \"auth\"\n"]).await;
    let token = super::add_caller(&lango, &["stranger"]).await;
    let server = Server::start(&lango, &[]).await;
    let body = json!({ "model": "lango", "messages": [user("x")] });
    let failed = server.of(&token, "POST", "/v1/chat/completions").json(&body).send().await;
    assert_eq!(failed.status, 502);
    for inside in ["lango config", "api.openai", "platform.openai", "key", "127.0.0.1"] {
        assert!(!failed.body.contains(inside), "{inside}: {}", failed.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_reach_the_model() {
    let script = "[[reply]]\nimages = 1\nsay = \"I see it.\"\n";
    let lango = Lango::playing(&[script]).await;
    let server = Server::start(&lango, &[]).await;
    let content = json!([
        { "type": "text", "text": "What is this?" },
        { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{RED}") } },
    ]);
    let answer = server.chat(&json!([{ "role": "user", "content": content }])).send().await;
    assert_eq!(answer.text(), "I see it.");
    let said: Value = answer.json();
    assert_eq!(said["lango"]["outcome"], "done");
}

/// One red point.
const RED: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
