use serde_json::{Value, json};

use super::*;
use crate::http::{Wire, sample};
use crate::{ModelId, ReplyOptions, UserMessage};

const THOUGHTS: &str = r#"[{"type":"thinking","thinking":"hm","signature":"s1"},
    {"type":"redacted_thinking","data":"d"}]"#;

fn endpoint() -> Endpoint {
    sample::endpoint(Wire::Anthropic, "claude")
}

fn sent(request: &ModelRequest) -> Value {
    sample::value(&serialize_body(&endpoint(), request).unwrap())
}

/// Returns the messages without the markers.
fn messages(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(strip),
            Value::Object(fields) => {
                fields.remove("cache_control");
                fields.values_mut().for_each(strip);
            }
            _ => {}
        }
    }
    strip(&mut value);
    value["messages"].take()
}

#[test]
fn a_turn_is_what_the_api_takes() {
    let [_, request] = sample::two_calls_of_a_turn("claude", THOUGHTS);
    let value = sent(&request);
    let Message::Exchange { calls, .. } = &request.messages[5] else { panic!() };
    let Message::Exchange { calls: later, .. } = &request.messages[6] else { panic!() };
    let (a, b, c) = (calls[0].id.as_str(), calls[1].id.as_str(), later[0].id.as_str());
    let thoughts = [
        json!({"type":"thinking","thinking":"hm","signature":"s1"}),
        json!({"type":"redacted_thinking","data":"d"}),
    ];
    let looking = json!({"type":"text","text":"Looking."});
    let second = "<context source=\"workspace\">\nhere\n</context>\n\nsecond";
    assert_eq!(
        messages(value.clone()),
        json!([
            {"role":"user","content":[{"type":"text","text":"first"}]},
            {"role":"assistant","content":[
                {"type":"text","text":"answer"}, {"type":"text","text":"[vault] done"}]},
            {"role":"user","content":[{"type":"text","text":"and"}, {"type":"text","text":second}]},
            {"role":"assistant","content":[thoughts[0], thoughts[1], looking,
                {"type":"tool_use","id":a,"name":"fs_read","input":{"path":"ä"}},
                {"type":"tool_use","id":b,"name":"fs_stat","input":{}}]},
            {"role":"user","content":[
                {"type":"tool_result","tool_use_id":a,"content":"text"},
                {"type":"tool_result","tool_use_id":b}]},
            {"role":"assistant","content":[thoughts[0], thoughts[1], looking,
                {"type":"tool_use","id":c,"name":"fs_stat","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":c,"content":"more"}]},
        ])
    );
    assert_eq!(value["system"][0]["text"], "You are operator, …");
    assert_eq!(value["tools"][0]["input_schema"]["type"], "object");
    assert_eq!((&value["stream"], &value["max_tokens"]), (&json!(true), &json!(8_192)));
    assert!(value.get("temperature").is_none());
}

#[test]
fn four_blocks_are_marked_and_no_thought_is() {
    let [_, request] = sample::two_calls_of_a_turn("claude", THOUGHTS);
    let bytes = serialize_body(&endpoint(), &request).unwrap();
    assert_eq!(String::from_utf8_lossy(&bytes).matches("cache_control").count(), 4);
    let value = sample::value(&bytes);
    let ephemeral = json!({"type":"ephemeral"});
    for marked in [
        &value["tools"][1],
        &value["system"][0],
        // The last block before the newest user message is in the same message here.
        &value["messages"][2]["content"][0],
        &value["messages"][6]["content"][0],
    ] {
        assert_eq!(marked["cache_control"], ephemeral, "{marked}");
    }
}

#[test]
fn what_comes_before_the_newest_user_message_stays_the_same_apart_from_markers() {
    let requests = sample::two_calls_of_a_turn("claude", THOUGHTS);
    let marker = r#","cache_control":{"type":"ephemeral"}"#;
    let [first, second] = requests.map(|request| {
        sample::before_newest_user(&serialize_body(&endpoint(), &request).unwrap(), marker)
    });
    assert!(first.contains("[vault] done"));
    assert_eq!(first, second);
}

#[test]
fn thoughts_go_back_to_their_own_model_only() {
    let [request, _] = sample::two_calls_of_a_turn("another", THOUGHTS);
    let text = sent(&request).to_string();
    assert!(!text.contains("thinking") && !text.contains("s1"), "{text}");
    // The same name with another provider is another model.
    let [mut request, _] = sample::two_calls_of_a_turn("claude", THOUGHTS);
    let Message::Exchange { provider_state: Some(kept), .. } = &mut request.messages[5] else {
        panic!()
    };
    kept.from = ModelId::new("another", "claude");
    assert!(!sent(&request).to_string().contains("thinking"));
}

#[test]
fn thoughts_come_first_where_two_replies_become_one_message() {
    let calls = vec![sample::call("f", "{}", "r")];
    let messages_of = vec![
        Message::user("u"),
        sample::says(None, "earlier"),
        sample::exchange("claude", THOUGHTS, calls),
    ];
    let value = messages(sent(&sample::request(messages_of)));
    let kinds = sample::texts(&value[1]["content"], "type");
    assert_eq!(kinds, ["thinking", "redacted_thinking", "text", "text", "tool_use"]);
}

#[test]
fn no_text_is_empty_and_a_user_speaks_first_and_last() {
    let request = sample::request(vec![
        sample::says(None, " \n"),
        sample::says(None, "hello \n"),
        sample::says(Some("vault"), " "),
        Message::user(" "),
        sample::says(Some("vault"), "bye\n"),
    ]);
    let mut request = request;
    request.context.clear();
    request.instruction = " ".into();
    let value = sent(&request);
    assert_eq!(
        messages(value.clone()),
        json!([
            {"role":"user","content":[{"type":"text","text":OPENING_TEXT}]},
            {"role":"assistant","content":[
                {"type":"text","text":"hello"}, {"type":"text","text":"[vault] bye"}]},
            {"role":"user","content":[{"type":"text","text":CONTINUE_TEXT}]},
        ])
    );
    assert!(value.get("system").is_none());
    request.messages.clear();
    assert_eq!(messages(sent(&request))[0]["content"][0]["text"], OPENING_TEXT);
}

#[test]
fn images_are_shown_or_told() {
    let images = vec![sample::image("image/png"), sample::image("image/bmp")];
    let request =
        sample::request(vec![Message::User(UserMessage { images, ..UserMessage::new("look") })]);
    let shown = messages(sent(&request));
    let source = json!({"type":"base64","media_type":"image/png","data":"cGl4ZWxz"});
    assert_eq!(shown[0]["content"][0], json!({"type":"image","source":source}));
    assert!(shown[0]["content"][1]["text"].as_str().unwrap().contains("image/bmp"));
    let mut blind = endpoint();
    blind.facts.images = Some(false);
    let told = sample::value(&serialize_body(&blind, &request).unwrap()).to_string();
    assert!(told.contains("cannot see") && !told.contains("cGl4ZWxz"), "{told}");
}

#[test]
fn names_and_arguments_that_would_be_refused_are_not_sent() {
    let calls = vec![sample::call("a b", "{broken", "no such tool")];
    let request = sample::request(vec![Message::user("u"), sample::exchange("x", "", calls)]);
    let block = &messages(sent(&request))[1]["content"][1];
    assert_eq!((&block["name"], &block["input"]), (&json!("not_a_tool"), &json!({})));
    let id = block["id"].as_str().unwrap();
    assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)), "{id}");
}

#[test]
fn limits_are_the_users_then_the_models_then_the_usual() {
    let mut endpoint = endpoint();
    let mut request = sample::request(vec![Message::user("u")]);
    let mut sent = |limit, known, temperature| {
        endpoint.facts.max_output = known;
        request.options = ReplyOptions { max_output_tokens: limit, temperature };
        let value = sample::value(&serialize_body(&endpoint, &request).unwrap());
        (value["max_tokens"].as_u64().unwrap(), value["temperature"].as_f64())
    };
    assert_eq!(sent(Some(50_000), Some(10), Some(1.5)), (50_000, Some(1.0)));
    assert_eq!(sent(None, Some(64_000), Some(0.5)), (32_000, Some(0.5)));
    assert_eq!(sent(None, Some(4_096), None), (4_096, None));
    assert_eq!(sent(None, None, None), (8_192, None));
}
