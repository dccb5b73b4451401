use serde_json::{Value, json};

use super::*;
use crate::http::{Wire, sample};
use crate::{ReplyOptions, UserMessage};

const PROVIDER_STATE: &str = r#"{"reasoning_content":"hm"}"#;

fn endpoint() -> Endpoint {
    sample::endpoint(Wire::OpenAi, "gpt")
}

fn sent(request: &ModelRequest) -> Value {
    sample::value(&serialize_body(&endpoint(), request).unwrap())
}

#[test]
fn a_request_keeps_instruction_context_and_pairs_apart() {
    let [_, request] = sample::two_calls_of_a_turn("gpt", PROVIDER_STATE);
    let Message::Exchange { calls, .. } = &request.messages[5] else { panic!() };
    let Message::Exchange { calls: later, .. } = &request.messages[6] else { panic!() };
    let (a, b, c) = (calls[0].id.as_str(), calls[1].id.as_str(), later[0].id.as_str());
    let call = |id: &str, name: &str, arguments: &str| json!({"id":id,"type":"function","function":{"name":name,"arguments":arguments}});
    let second = "<context source=\"workspace\">\nhere\n</context>\n\nsecond";
    let value = sent(&request);
    assert_eq!(
        value["messages"],
        json!([
            {"role":"system","content":"You are operator, …"},
            {"role":"user","content":"first"},
            {"role":"assistant","content":"answer \n"},
            {"role":"assistant","content":"done","name":"vault"},
            {"role":"user","content":"and"},
            {"role":"user","content":second},
            {"role":"assistant","content":"Looking. \n","reasoning_content":"hm","tool_calls":[
                call(a, "fs_read", r#"{"path":"ä"}"#), call(b, "fs_stat", "{}")]},
            {"role":"tool","tool_call_id":a,"content":"text"},
            {"role":"tool","tool_call_id":b,"content":""},
            {"role":"assistant","content":"Looking. \n","reasoning_content":"hm","tool_calls":[
                call(c, "fs_stat", "{}")]},
            {"role":"tool","tool_call_id":c,"content":"more"},
        ])
    );
    assert_eq!(value["tools"][0]["function"]["parameters"]["type"], "object");
    assert_eq!(value["stream_options"], json!({"include_usage":true}));
    assert!(value.get("temperature").is_none());
}

#[test]
fn what_comes_before_the_newest_user_message_stays_the_same() {
    let [first, second] = sample::two_calls_of_a_turn("gpt", PROVIDER_STATE).map(|request| {
        sample::before_newest_user(&serialize_body(&endpoint(), &request).unwrap(), "\u{0}")
    });
    assert!(first.contains("vault"));
    assert_eq!(first, second);
}

#[test]
fn reasoning_goes_back_to_its_own_model_only() {
    let [mut request, _] = sample::two_calls_of_a_turn("another", PROVIDER_STATE);
    assert!(!sent(&request).to_string().contains("reasoning_content"));
    let Message::Exchange { provider_state: Some(kept), .. } = &mut request.messages[5] else {
        panic!()
    };
    kept.from = ModelId::new("another", "gpt");
    assert!(!sent(&request).to_string().contains("reasoning_content"));
}

#[test]
fn images_are_shown_or_told() {
    let images = vec![sample::image("image/png")];
    let mut request =
        sample::request(vec![Message::User(UserMessage { images, ..UserMessage::new("look") })]);
    request.context.clear();
    let url = json!({"url":"data:image/png;base64,cGl4ZWxz"});
    let parts = json!([{"type":"text","text":"look"}, {"type":"image_url","image_url":url}]);
    assert_eq!(sent(&request)["messages"][1]["content"], parts);
    request.messages = vec![Message::User(UserMessage {
        images: vec![sample::image("image/png")],
        ..UserMessage::new(" ")
    })];
    assert_eq!(sent(&request)["messages"][1]["content"].as_array().unwrap().len(), 1);
    let mut blind = endpoint();
    blind.facts.images = Some(false);
    let told = String::from_utf8(serialize_body(&blind, &request).unwrap()).unwrap();
    assert!(told.contains("cannot see") && !told.contains("cGl4ZWxz"), "{told}");
}

#[test]
fn what_a_server_would_refuse_is_not_sent() {
    let calls = vec![sample::call("a b", "{broken", "no such tool")];
    let exchange = Message::Exchange { text: String::new(), calls, provider_state: None };
    let mut request = sample::request(vec![Message::user("u"), exchange]);
    request.tools.clear();
    request.options = ReplyOptions { max_output_tokens: Some(9), temperature: Some(0.5) };
    let value = sent(&request);
    let message = &value["messages"][2];
    assert_eq!(message["content"], Value::Null);
    let function = json!({"name":"not_a_tool","arguments":"{}"});
    assert_eq!(message["tool_calls"][0]["function"], function);
    assert!(value.get("tools").is_none());
    assert_eq!((&value["max_completion_tokens"], &value["temperature"]), (&json!(9), &json!(0.5)));
}
