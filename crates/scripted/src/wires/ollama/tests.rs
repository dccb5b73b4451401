use serde_json::{Value, json};

use super::parse::parse;
use super::render::render;
use crate::fixture::WireSample;
use crate::script::Script;
use crate::signature::Signatures;
use crate::speech::Speech;
use crate::variant::WireVariant;

pub(super) const SAMPLE: WireSample = WireSample {
    headers: "",
    body: r#"{"model":"m","messages":[{"role":"user","content":"{user}"}]}"#,
    end: r#""done":true"#,
    unreadable: r#"{"error":"json: cannot unmarshal"#,
    rate_limited: r#"{"error":"slow down"}"#,
    too_long: "exceeded max context length",
    statuses: [400, 429, 401, 404, 400, 422, 503],
};

fn script(reply: &str) -> Script {
    Script::parse("x", &format!("[[reply]]\n{reply}")).unwrap()
}

fn refusal(messages: &Value) -> String {
    let body = json!({"model": "m", "messages": messages, "think": true, "unheard_of": 1});
    parse(body.to_string().as_bytes(), &script("think = \"hm\"")).err().unwrap_or_default()
}

#[test]
fn histories_that_ollama_refuses_are_refused() {
    let user = json!({"role": "user", "content": "u", "images": ["YQ=="]});
    let call = |arguments: Value| {
        json!({"role": "assistant", "content": "",
            "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]})
    };
    let result = json!({"role": "tool", "tool_name": "f", "content": "r"});
    assert_eq!(refusal(&json!([user, call(json!({})), result])), "");
    assert_eq!(refusal(&json!([user, {"role": "assistant", "content": "", "thinking": "hm"}])), "");
    let cases = [
        (json!([user, result]), "without its call"),
        (json!([user, call(json!({})), result, result]), "without its call"),
        (json!([user, call(json!({})), user, result]), "without its call"),
        (json!([user, call(json!("{}")), result]), "cannot unmarshal"),
        (json!([{"role": "developer", "content": "x"}]), "invalid role"),
        (json!([{"role": "user", "content": ["x"]}]), "cannot unmarshal"),
        (
            json!([user, {"role": "assistant", "content": "a", "thinking": "ho"}]),
            "this server said",
        ),
        (json!([{"role": "user", "content": "x", "images": ["data:image/png"]}]), "base64"),
    ];
    for (messages, expected) in cases {
        let reason = refusal(&messages);
        assert!(reason.contains(expected), "{expected} in {reason:?} for {messages}");
    }
}

#[test]
fn a_tool_is_read_as_go_reads_it() {
    let with = |parameters: Value| {
        let tools =
            json!([{"type": "function", "function": {"name": "f", "parameters": parameters}}]);
        let body = json!({"model": "m", "messages": [], "tools": tools});
        parse(body.to_string().as_bytes(), &script("say = \"a\"")).is_ok()
    };
    assert!(with(json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}})));
    assert!(!with(json!({"type": ["object"]})));
    assert!(!with(json!({"type": "object", "properties": {"a": true}})));
}

fn lines(reply: &str) -> Vec<Value> {
    let script = script(reply);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "u"}]}).to_string();
    let conversation = parse(body.as_bytes(), &script).unwrap();
    let (variant, signatures) = (WireVariant::default(), Signatures::default());
    let speech = Speech::new(&script.replies[0], &conversation, &variant, &signatures);
    let rendering = render(&speech);
    let lines = rendering.content.iter().chain(&rendering.ending);
    lines.map(|line| serde_json::from_slice(line.strip_suffix(b"\n").unwrap()).unwrap()).collect()
}

#[test]
fn a_reply_is_a_list_of_lines() {
    let reply = "think = \"hm\"\nsay = \"Hello there, world\"\nusage = { input = 9, output = 8 }\n\
                 [[reply.call]]\nname = \"f\"\narguments = { a = 1 }";
    let lines = lines(reply);
    assert_eq!(lines[0]["message"]["thinking"], "hm");
    let text: String =
        lines.iter().map(|line| line["message"]["content"].as_str().unwrap()).collect();
    assert_eq!(text, "Hello there, world");
    let call = &lines[lines.len() - 2]["message"]["tool_calls"][0]["function"];
    assert_eq!((&call["name"], &call["arguments"]), (&json!("f"), &json!({"a": 1})));
    let end = lines.last().unwrap();
    assert_eq!((&end["done"], &end["done_reason"]), (&json!(true), &json!("stop")));
    assert_eq!((&end["prompt_eval_count"], &end["eval_count"]), (&json!(9), &json!(8)));
    assert!(lines[..lines.len() - 1].iter().all(|line| line["done"] == false));
}

#[test]
fn arguments_that_are_no_object_are_an_error_in_the_stream() {
    let lines = lines("[[reply.call]]\nname = \"f\"\nraw = '{\"a\"'");
    assert!(lines[0]["error"].as_str().unwrap().starts_with("error parsing tool call"));
    assert_eq!(lines.len(), 1);
}
