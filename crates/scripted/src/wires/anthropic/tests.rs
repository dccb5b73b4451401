use lango_model::Wire;
use serde_json::{Value, json};

use super::parse::parse;
use super::render::render;
use crate::conversation::Conversation;
use crate::fixture::WireSample;
use crate::script::{Reply, Script};
use crate::signature::Signatures;
use crate::speech::Speech;
use crate::variant::{UsagePosition, WireVariant};

pub(super) const SAMPLE: WireSample = WireSample {
    headers: "x-api-key: key\r\nanthropic-version: 2023-06-01\r\n",
    body: r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"{user}"}]}"#,
    end: "message_stop",
    unreadable: r#"{"type":"error","error":{"type":"invalid_request_error""#,
    rate_limited: r#"{"type":"error","error":{"type":"rate_limit_error""#,
    too_long: "prompt is too long",
    statuses: [400, 400, 401, 404, 400, 400, 529],
};

fn request(messages: &Value) -> Value {
    json!({"model": "m", "max_tokens": 100, "messages": messages})
}

fn refusal(body: &Value) -> Option<String> {
    parse(body.to_string().as_bytes(), &Signatures::default()).err()
}

fn user() -> Value {
    json!({"role": "user", "content": "u"})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "f", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "r"})
}

fn message(role: &str, blocks: &[Value]) -> Value {
    json!({"role": role, "content": blocks})
}

#[test]
fn a_request_is_read_as_scripts_see_it() {
    let mut body = request(&json!([
        user(),
        message("assistant", &[json!({"type": "text", "text": "hm"}), call("a"), call("b")]),
        message("user", &[result("a"), result("b"), json!({"type": "text", "text": "next"})]),
        {"role": "user", "content": "newest"},
    ]));
    body["system"] = json!([{"type": "text", "text": "You are vault, x",
        "cache_control": {"type": "ephemeral"}}]);
    body["tools"] = json!([{"name": "f", "input_schema": {"type": "object"}}]);
    let text = body.to_string();
    let conversation: Conversation<'_> = parse(text.as_bytes(), &Signatures::default()).unwrap();
    assert_eq!(conversation.agent(), Some("vault"));
    assert_eq!(conversation.newest_user(), "newest");
    assert_eq!(conversation.messages.len(), 6);
    assert!(conversation.offers("f") && conversation.mentions("next"));
    assert_eq!(conversation.results().count(), 0);
}

#[test]
fn an_image_belongs_to_the_text_after_it_or_else_to_the_one_before() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png",
        "data": "YQ=="}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let newest = |blocks: &[Value]| {
        let body = request(&json!([message("user", blocks)])).to_string();
        let conversation = parse(body.as_bytes(), &Signatures::default()).unwrap();
        (conversation.newest_user().to_owned(), conversation.images())
    };
    assert_eq!(newest(&[image.clone(), text("a"), image.clone(), text("b")]), ("b".into(), 1));
    assert_eq!(newest(&[text("a"), image.clone(), image.clone()]), ("a".into(), 2));
    assert_eq!(newest(&[image.clone(), image.clone()]), (String::new(), 2));
    assert_eq!(newest(&[image, text("a"), text("b")]), ("b".into(), 0));
}

#[test]
fn histories_that_anthropic_refuses_are_refused() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let assistant = |blocks: &[Value]| message("assistant", blocks);
    let fine = json!([user(), assistant(&[call("a")]), message("user", &[result("a")])]);
    assert_eq!(refusal(&request(&fine)), None);
    let cases = [
        (json!([]), "at least one message"),
        (json!([{"role": "assistant", "content": "a"}]), "first message"),
        (json!([user(), assistant(&[call("a")])]), "without `tool_result`"),
        (json!([user(), assistant(&[call("a")]), user()]), "without `tool_result`"),
        (
            json!([user(), assistant(&[call("a")]), message("user", &[text("x"), result("a")])]),
            "without `tool_result`",
        ),
        (json!([message("user", &[result("a")])]), "unexpected `tool_use_id`"),
        (
            json!([user(), assistant(&[call("a")]), message("user", &[result("a"), result("a")])]),
            "single result",
        ),
        (
            json!([user(), assistant(&[call("a"), call("a")]), message("user", &[result("a")])]),
            "must be unique",
        ),
        (json!([user(), assistant(&[call("a b")]), message("user", &[result("a b")])]), "pattern"),
        (json!([message("user", &[text("")])]), "non-empty"),
        (json!([message("user", &[text(" \n")])]), "non-whitespace"),
        (json!([{"role": "user", "content": ""}]), "non-empty content"),
        (json!([user(), {"role": "assistant", "content": "a "}]), "trailing whitespace"),
        (json!([user(), assistant(&[result("a")])]), "cannot have"),
        (
            json!([
                user(),
                assistant(&[json!({"type": "thinking", "thinking": "t",
                "signature": "c2lnbmF0dXJl"})])
            ]),
            "Invalid `signature`",
        ),
        (json!([{"role": "user", "content": "u", "name": "vault"}]), "Extra inputs"),
    ];
    for (messages, expected) in cases {
        let reason = refusal(&request(&messages)).unwrap_or_default();
        assert!(reason.contains(expected), "{expected} in {reason:?} for {messages}");
    }
}

#[test]
fn options_that_anthropic_refuses_are_refused() {
    let with = |name: &str, value: Value| {
        let mut body = request(&json!([user()]));
        body[name] = value;
        refusal(&body).unwrap_or_default()
    };
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    assert_eq!(with("temperature", json!(1)), "");
    assert_eq!(with("temperature", json!(1.2)), "temperature: range: 0..1");
    assert_eq!(with("max_tokens", json!(null)), "max_tokens: Field required");
    assert_eq!(with("stream_options", json!({})), "stream_options: Extra inputs are not permitted");
    assert!(with("system", json!([marked, marked, marked, marked, marked])).contains("Found 5"));
    let tool = |schema: Value| json!([{"name": "f", "input_schema": schema}]);
    assert_eq!(with("tools", tool(json!({"type": "object"}))), "");
    assert!(with("tools", tool(json!({}))).contains("type"));
    assert!(with("tools", tool(json!({"type": "object", "anyOf": []}))).contains("anyOf"));
}

fn render_reply(reply: &str, variant: &WireVariant, signatures: &Signatures) -> Vec<Value> {
    let script = Script::parse("x", &format!("[[reply]]\n{reply}")).unwrap();
    let reply: &Reply = &script.replies[0];
    let body = request(&json!([user()])).to_string();
    let conversation = parse(body.as_bytes(), signatures).unwrap();
    let rendering = render(&Speech::new(reply, &conversation, variant, signatures));
    let events = rendering.content.iter().chain(&rendering.ending);
    let read = |event: &bytes::Bytes| {
        let text = std::str::from_utf8(event).unwrap();
        let (name, data) = text.strip_prefix("event: ").unwrap().split_once("\ndata: ").unwrap();
        let value: Value = serde_json::from_str(data.trim_end()).unwrap();
        assert_eq!(value["type"], name);
        value
    };
    events.map(read).collect()
}

#[test]
fn a_reply_is_a_message_of_blocks() {
    let signatures = Signatures::default();
    let reply = "think = \"hm\"\nsay = \"Hello there, world\"\nusage = { input = 9, cached = 4, \
                 output = 3 }\n[[reply.call]]\nname = \"f\"\narguments = { a = 1 }";
    let events = render_reply(reply, &WireVariant::default(), &signatures);
    let usage = &events[0]["message"]["usage"];
    assert_eq!((&usage["input_tokens"], &usage["cache_read_input_tokens"]), (&json!(5), &json!(4)));
    let kinds: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "content_block_delta")
        .map(|event| event["delta"]["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[..2], ["thinking_delta", "signature_delta"]);
    assert_eq!(kinds[kinds.len() - 3..], ["input_json_delta"; 3]);
    let signed = events.iter().find_map(|event| event["delta"]["signature"].as_str()).unwrap();
    assert!(signatures.recognises(Wire::Anthropic, "hm", signed));
    let json: String =
        events.iter().filter_map(|event| event["delta"]["partial_json"].as_str()).collect();
    assert_eq!(json, r#"{"a":1}"#);
    let end = &events[events.len() - 2];
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert_eq!(end["usage"]["output_tokens"], 3);
    assert_eq!(events.last().unwrap()["type"], "message_stop");
    assert_eq!(events.iter().filter(|event| event["type"] == "ping").count(), 1);
}

#[test]
fn figures_come_when_the_variant_says() {
    let usage = |usage: UsagePosition| {
        let variant = WireVariant { usage, ..WireVariant::default() };
        let events = render_reply("say = \"a\"", &variant, &Signatures::default());
        let end = events.iter().find(|event| event["type"] == "message_delta").unwrap();
        (events[0]["message"].get("usage").is_some(), end["usage"].is_object())
    };
    assert_eq!(usage(UsagePosition::End), (true, true));
    assert_eq!(usage(UsagePosition::Early), (true, false));
    assert_eq!(usage(UsagePosition::None), (false, false));
}

#[test]
fn a_thought_goes_back_only_as_it_was_signed() {
    let signatures = Signatures::default();
    let history = |thinking: &str, signature: &str| {
        let thought = json!({"type": "thinking", "thinking": thinking, "signature": signature});
        let messages = json!([
            user(),
            message("assistant", &[thought, call("a")]),
            message("user", &[result("a")])
        ]);
        parse(request(&messages).to_string().as_bytes(), &signatures).is_ok()
    };
    let signature = signatures.sign(Wire::Anthropic, "hm");
    assert!(history("hm", &signature));
    assert!(!history("ho", &signature));
    assert!(!history("hm", &signatures.sign(Wire::Gemini, "hm")));
    assert!(!history("hm", &Signatures::default().sign(Wire::Anthropic, "hm")));
}
