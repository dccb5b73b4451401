use serde_json::{Value, json};

use super::parse::parse;
use super::render::{render, whole};
use crate::fixture::WireSample;
use crate::script::Script;
use crate::signature::Signatures;
use crate::speech::Speech;
use crate::variant::{UsagePosition, WireVariant};

pub(super) const SAMPLE: WireSample = WireSample {
    headers: "authorization: Bearer key\r\n",
    body: r#"{"model":"m","messages":[{"role":"user","content":"{user}"}]}"#,
    end: "[DONE]",
    unreadable: r#""type":"invalid_request_error""#,
    rate_limited: r#""type":"rate_limit_error""#,
    too_long: "context_length_exceeded",
    statuses: [400, 429, 401, 404, 400, 400, 503],
};

fn script(reply: &str) -> Script {
    Script::parse("x", &format!("[[reply]]\n{reply}")).unwrap()
}

fn refusal(messages: &Value) -> String {
    let body = json!({"model": "m", "messages": messages}).to_string();
    parse(body.as_bytes(), &script("think = \"hm\"")).err().unwrap_or_default()
}

#[test]
fn a_request_is_read_as_scripts_see_it() {
    let body = json!({
        "model": "m",
        "messages": [
            {"role": "system", "content": "You are vault, x"},
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,YQ=="}},
            ]},
            {"role": "assistant", "content": "a\nb", "name": "operator"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_completion_tokens": 7,
    })
    .to_string();
    let conversation = parse(body.as_bytes(), &script("say = \"a\"")).unwrap();
    assert_eq!(conversation.agent(), Some("vault"));
    assert_eq!((conversation.newest_user(), conversation.images()), ("look", 1));
    assert!(conversation.offers("f") && conversation.mentions("a\nb"));
    assert!(!conversation.mentions("vault"));
}

#[test]
fn histories_that_no_provider_would_take_are_refused() {
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a",
        "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "r"});
    let user = json!({"role": "user", "content": "u"});
    assert_eq!(refusal(&json!([user, call, result])), "");
    assert_eq!(
        refusal(&json!([user, {"role": "assistant", "content": "a", "reasoning_content": "hm"}])),
        ""
    );
    let text = call.to_string();
    let with =
        |from: &str, to: &str| serde_json::from_str::<Value>(&text.replace(from, to)).unwrap();
    let cases = [
        (json!([]), "empty array"),
        (json!([user, call]), "did not have response messages"),
        (json!([user, call, user]), "did not have response messages"),
        (json!([user, result]), "must be a response"),
        (json!([user, call, result, result]), "must be a response"),
        (json!([{"role": "assistant", "content": ""}]), "says nothing"),
        (json!([user, with("\"f\"", "\"f g\""), result]), "name of a call"),
        (json!([user, with("{}\"", "{\""), result]), "not a JSON object"),
        (json!([user, with("\"type\":\"function\"", "\"type\":\"tool\""), result]), "type"),
        (
            json!([user, with("\"id\":", "\"index\":0,\"id\":"), result]),
            "Unknown parameter: 'index'",
        ),
        (json!([{"role": "user", "content": "u", "name": "a b"}]), ".name'"),
        (json!([{"role": "robot", "content": "u"}]), "unknown variant `robot`"),
        (
            json!([user, {"role": "assistant", "content": "a", "reasoning_content": "ho"}]),
            "not what this server said",
        ),
        (
            json!([{"role": "user", "content": [{"type": "image_url",
            "image_url": {"url": "data:image/png;base64,?"}}]}]),
            "base64",
        ),
        (
            json!([{"role": "user", "content": [{"type": "image_url",
            "image_url": {"url": "data:image/svg+xml;base64,YQ=="}}]}]),
            "unsupported image",
        ),
        (
            json!([{"role": "user", "content": [{"type": "text", "text": ""}]}]),
            "text content is empty",
        ),
    ];
    for (messages, expected) in cases {
        let reason = refusal(&messages);
        assert!(reason.contains(expected), "{expected} in {reason:?} for {messages}");
    }
}

#[test]
fn parameters_that_openai_refuses_are_refused() {
    let with = |name: &str, value: Value| {
        let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "u"}]});
        body[name] = value;
        let body = body.to_string();
        parse(body.as_bytes(), &script("say = \"a\"")).err().unwrap_or_default()
    };
    assert_eq!(with("temperature", json!(2)), "");
    assert!(with("temperature", json!(2.1)).contains("temperature"));
    assert_eq!(with("num_ctx", json!(1)), "Unknown parameter: 'num_ctx'.");
    let tools = |parameters: Value| json!([{"type": "function", "function": {"name": "f", "parameters": parameters}}]);
    assert!(with("tools", tools(json!({}))).contains("type: \"None\""));
    assert!(with("tools", tools(json!({"type": "array"}))).contains("type: \"array\""));
}

fn events(reply: &str, variant: &WireVariant) -> (Vec<Value>, Value) {
    let script = script(reply);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "u"}]}).to_string();
    let conversation = parse(body.as_bytes(), &script).unwrap();
    let signatures = Signatures::default();
    let speech = Speech::new(&script.replies[0], &conversation, variant, &signatures);
    let rendering = render(&speech);
    let events = rendering.content.iter().chain(&rendering.ending);
    let documents = events.filter_map(|event| {
        let data = event.strip_prefix(b"data: ").unwrap().strip_suffix(b"\n\n").unwrap();
        (data != b"[DONE]").then(|| serde_json::from_slice(data).unwrap())
    });
    (documents.collect(), serde_json::from_slice(&whole(&speech)).unwrap())
}

#[test]
fn a_reply_is_a_list_of_chunks() {
    let reply = "say = \"Hello {user}\"\nusage = { input = 9, cached = 4, output = 3 }\n\
                 copies = 2\n[[reply.call]]\nname = \"f\"\narguments = { a = 1 }";
    let (chunks, whole) = events(reply, &WireVariant::default());
    let text: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text, "Hello u");
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 0}});
    assert_eq!(chunks.last().unwrap()["usage"], usage);
    assert_eq!(whole["usage"], usage);
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["content"], "Hello u");
    assert_eq!(message["tool_calls"][1]["function"]["arguments"], r#"{"a":1}"#);
    assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn variants_change_numbers_and_the_place_of_figures() {
    let reply = "copies = 2\n[[reply.call]]\nname = \"f\"";
    let indices = |variant: &WireVariant| -> Vec<u64> {
        let (chunks, _) = events(reply, variant);
        let calls = chunks.iter().filter_map(|c| c["choices"][0]["delta"]["tool_calls"].as_array());
        calls.flatten().map(|call| call["index"].as_u64().unwrap()).collect()
    };
    assert_eq!(indices(&WireVariant::default()), [0, 0, 1, 1]);
    assert_eq!(
        indices(&WireVariant { duplicate_index: true, ..WireVariant::default() }),
        [0, 0, 0, 0]
    );
    let figures = |usage: UsagePosition| {
        let (chunks, whole) = events(reply, &WireVariant { usage, ..WireVariant::default() });
        let found = chunks.iter().position(|chunk| chunk.get("usage").is_some());
        (found.map(|at| at == 0), whole.get("usage").is_some())
    };
    assert_eq!(figures(UsagePosition::End), (Some(false), true));
    assert_eq!(figures(UsagePosition::Early), (Some(true), true));
    assert_eq!(figures(UsagePosition::None), (None, false));
}
