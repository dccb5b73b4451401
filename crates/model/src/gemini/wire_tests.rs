use serde_json::{Value, json};

use super::*;
use crate::http::{Wire, sample};
use crate::{ModelId, ReplyOptions, UserMessage};

const PROVIDER_STATE: &str = r#"{"text":"st","calls":[{"id":"i1","signature":"s1"},{"id":"i2"}]}"#;

fn sent_to(model: &str, request: &ModelRequest) -> Value {
    let endpoint = sample::endpoint(Wire::Gemini, model);
    sample::value(&serialize_body(&endpoint, request).unwrap())
}

#[test]
fn a_turn_is_what_the_api_takes() {
    let [_, request] = sample::two_calls_of_a_turn("gemini-3-pro", PROVIDER_STATE);
    let value = sent_to("gemini-3-pro", &request);
    let looking = json!({"text":"Looking. \n","thoughtSignature":"st"});
    let second = "<context source=\"workspace\">\nhere\n</context>\n\nsecond";
    let call = |id: &str, name: &str, args: Value| json!({"id":id,"name":name,"args":args});
    let response = |id: &str, name: &str, output: &str| json!({"functionResponse":{"id":id,"name":name,"response":{"output":output}}});
    assert_eq!(
        value["contents"],
        json!([
            {"role":"user","parts":[{"text":"first"}]},
            {"role":"model","parts":[{"text":"answer \n"}, {"text":"[vault] done"}]},
            {"role":"user","parts":[{"text":"and"}, {"text":second}]},
            {"role":"model","parts":[looking,
                {"functionCall":call("i1", "fs_read", json!({"path":"ä"})),"thoughtSignature":"s1"},
                {"functionCall":call("i2", "fs_stat", json!({}))}]},
            {"role":"user","parts":[response("i1", "fs_read", "text"), response("i2", "fs_stat", "")]},
            {"role":"model","parts":[looking,
                {"functionCall":call("i1", "fs_stat", json!({})),"thoughtSignature":"s1"}]},
            {"role":"user","parts":[response("i1", "fs_stat", "more")]},
        ])
    );
    assert_eq!(value["systemInstruction"], json!({"parts":[{"text":"You are operator, …"}]}));
    let declarations = &value["tools"][0]["functionDeclarations"];
    assert_eq!(declarations[1]["name"], "fs_stat");
    assert_eq!(declarations[1]["parametersJsonSchema"]["type"], "object");
    assert!(value.get("generationConfig").is_none());
}

#[test]
fn what_comes_before_the_newest_user_message_stays_the_same() {
    let endpoint = sample::endpoint(Wire::Gemini, "gemini-3-pro");
    let [first, second] =
        sample::two_calls_of_a_turn("gemini-3-pro", PROVIDER_STATE).map(|request| {
            sample::before_newest_user(&serialize_body(&endpoint, &request).unwrap(), "\u{0}")
        });
    assert!(first.contains("[vault] done"));
    assert_eq!(first, second);
}

#[test]
fn signatures_and_ids_go_back_to_their_own_model_only() {
    let [mut request, _] = sample::two_calls_of_a_turn("another", PROVIDER_STATE);
    let text = sent_to("gemini-2.5-pro", &request).to_string();
    assert!(!text.contains("ignature") && !text.contains("\"id\""), "{text}");
    let Message::Exchange { provider_state: Some(kept), .. } = &mut request.messages[5] else {
        panic!()
    };
    kept.from = ModelId::new("another", "gemini-2.5-pro");
    assert!(!sent_to("gemini-2.5-pro", &request).to_string().contains("ignature"));
}

#[test]
fn the_first_foreign_call_of_a_step_has_the_documented_stand_in_for_a_signature() {
    let calls = || vec![sample::call("f", "{}", "r"), sample::call("g", "{}", "r")];
    let request = sample::request(vec![
        Message::user("first"),
        sample::exchange("another", PROVIDER_STATE, calls()),
        Message::user("second"),
        sample::exchange("another", PROVIDER_STATE, calls()),
    ]);
    for model in ["gemini-3-pro-preview", "models/gemini-3.1-flash", "gemini-flash-latest"] {
        let value = sent_to(model, &request);
        assert_eq!(sample::texts(&value, "thoughtSignature"), [FOREIGN_SIGNATURE; 2], "{model}");
        for step in [1, 3] {
            let parts = &value["contents"][step]["parts"];
            assert_eq!(parts[1]["thoughtSignature"], FOREIGN_SIGNATURE, "{model} {parts}");
        }
    }
    for model in ["gemini-2.5-flash", "gemma-3-27b-it", "gemini-exp"] {
        let signatures = sample::texts(&sent_to(model, &request), "thoughtSignature");
        assert!(signatures.is_empty(), "{model}");
    }
}

#[test]
fn no_part_is_empty_and_a_user_speaks_first_and_last() {
    let mut request = sample::request(vec![
        sample::says(None, ""),
        sample::says(None, "hello"),
        Message::user(" "),
        sample::says(None, "bye"),
    ]);
    request.context.clear();
    request.instruction = "".into();
    request.tools.clear();
    request.options = ReplyOptions { max_output_tokens: Some(9), temperature: Some(0.5) };
    assert_eq!(
        sent_to("gemini-3-pro", &request),
        json!({
            "contents": [
                {"role":"user","parts":[{"text":OPENING_TEXT}]},
                {"role":"model","parts":[{"text":"hello"}, {"text":"bye"}]},
                {"role":"user","parts":[{"text":CONTINUE_TEXT}]},
            ],
            "generationConfig": {"maxOutputTokens":9,"temperature":0.5},
        })
    );
}

#[test]
fn images_are_shown_or_told() {
    let images = vec![sample::image("image/png"), sample::image("image/bmp")];
    let request =
        sample::request(vec![Message::User(UserMessage { images, ..UserMessage::new("look") })]);
    let parts = sent_to("gemini-3-pro", &request)["contents"][0]["parts"].take();
    assert_eq!(parts[1], json!({"inlineData":{"mimeType":"image/png","data":"cGl4ZWxz"}}));
    assert!(parts[2]["text"].as_str().unwrap().contains("image/bmp"));
    let mut blind = sample::endpoint(Wire::Gemini, "gemma");
    blind.facts.images = Some(false);
    let told = String::from_utf8(serialize_body(&blind, &request).unwrap()).unwrap();
    assert!(told.contains("cannot see") && !told.contains("cGl4ZWxz"), "{told}");
}

#[test]
fn names_and_arguments_that_would_be_refused_are_not_sent() {
    let calls = vec![sample::call("a b", "{broken", "no such tool")];
    let request = sample::request(vec![Message::user("u"), sample::exchange("x", "{}", calls)]);
    let contents = sent_to("gemini-2.5-pro", &request)["contents"].take();
    assert_eq!(contents[1]["parts"][1], json!({"functionCall":{"name":"not_a_tool","args":{}}}));
    assert_eq!(contents[2]["parts"][0]["functionResponse"]["name"], "not_a_tool");
}
