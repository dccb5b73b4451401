use serde_json::{Value, json};

use super::*;
use crate::http::{Wire, sample};
use crate::{ModelId, ReplyOptions as Wanted, UserMessage};

const PROVIDER_STATE: &str = r#"{"thinking":"hm"}"#;

fn endpoint() -> Endpoint {
    sample::endpoint(Wire::Ollama, "qwen3")
}

fn sent(request: &ModelRequest) -> Value {
    sample::value(&serialize_body(&endpoint(), request).unwrap())
}

#[test]
fn a_turn_is_what_the_server_takes() {
    let [_, request] = sample::two_calls_of_a_turn("qwen3", PROVIDER_STATE);
    let value = sent(&request);
    let second = "<context source=\"workspace\">\nhere\n</context>\n\nsecond";
    assert_eq!(
        value["messages"],
        json!([
            {"role":"system","content":"You are operator, …"},
            {"role":"user","content":"first"},
            {"role":"assistant","content":"answer \n"},
            {"role":"assistant","content":"[vault] done"},
            {"role":"user","content":"and"},
            {"role":"user","content":second},
            {"role":"assistant","content":"Looking. \n","thinking":"hm","tool_calls":[
                {"function":{"name":"fs_read","arguments":{"path":"ä"}}},
                {"function":{"name":"fs_stat","arguments":{}}}]},
            {"role":"tool","tool_name":"fs_read","content":"text"},
            {"role":"tool","tool_name":"fs_stat","content":""},
            {"role":"assistant","content":"Looking. \n","thinking":"hm","tool_calls":[
                {"function":{"name":"fs_stat","arguments":{}}}]},
            {"role":"tool","tool_name":"fs_stat","content":"more"},
        ])
    );
    assert_eq!(value["tools"][0]["type"], "function");
    assert_eq!(value["tools"][0]["function"]["parameters"]["type"], "object");
    assert_eq!(value["stream"], true);
    assert!(value.get("options").is_none());
}

#[test]
fn what_comes_before_the_newest_user_message_stays_the_same() {
    let [first, second] = sample::two_calls_of_a_turn("qwen3", PROVIDER_STATE).map(|request| {
        sample::before_newest_user(&serialize_body(&endpoint(), &request).unwrap(), "\u{0}")
    });
    assert!(first.contains("[vault] done"));
    assert_eq!(first, second);
}

#[test]
fn thoughts_go_back_to_their_own_model_only() {
    let [mut request, _] = sample::two_calls_of_a_turn("another", PROVIDER_STATE);
    assert!(!sent(&request).to_string().contains("thinking"));
    let Message::Exchange { provider_state: Some(kept), .. } = &mut request.messages[5] else {
        panic!()
    };
    kept.from = ModelId::new("another", "qwen3");
    assert!(!sent(&request).to_string().contains("thinking"));
}

#[test]
fn images_are_shown_or_told() {
    let images = vec![sample::image("image/png")];
    let mut request =
        sample::request(vec![Message::User(UserMessage { images, ..UserMessage::new("look") })]);
    request.context.clear();
    let message = sent(&request)["messages"][1].take();
    assert_eq!(message, json!({"role":"user","content":"look","images":["cGl4ZWxz"]}));
    let mut blind = endpoint();
    blind.facts.images = Some(false);
    let told = sample::value(&serialize_body(&blind, &request).unwrap())["messages"][1].take();
    let words = "look\n[an image (image/png, 1 kB) that this model cannot see]";
    assert_eq!(told, json!({"role":"user","content":words}));
}

#[test]
fn names_and_arguments_that_would_be_refused_are_not_sent() {
    let calls = vec![sample::call("a b", "[1]", "no such tool")];
    let request = sample::request(vec![Message::user("u"), sample::exchange("x", "", calls)]);
    let messages = sent(&request)["messages"].take();
    let call = json!({"function":{"name":"not_a_tool","arguments":{}}});
    assert_eq!(messages[2]["tool_calls"][0], call);
    assert_eq!(messages[3]["tool_name"], "not_a_tool");
}

#[test]
fn the_context_is_asked_for_only_where_it_is_known() {
    let mut endpoint = endpoint();
    let mut request = sample::request(vec![Message::user("u")]);
    request.options = Wanted { max_output_tokens: Some(9), temperature: Some(0.5) };
    let mut options = |window| {
        endpoint.facts.window = window;
        sample::value(&serialize_body(&endpoint, &request).unwrap())["options"].take()
    };
    assert_eq!(options(None), json!({"num_predict":9,"temperature":0.5}));
    assert_eq!(options(Some(8_192))["num_ctx"], 8_192);
    assert_eq!(options(Some(262_144))["num_ctx"], 32_768);
}
