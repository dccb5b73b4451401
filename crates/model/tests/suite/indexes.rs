//! Tests pieces of calls that are numbered badly or not at all.

use lango_model::{ModelFault, Wire};

use crate::hearing::{ReceivedReply, receive_body};
use crate::speech::Speech;

async fn openai(pieces: &[&str]) -> ReceivedReply {
    let speech = &Speech::of(Wire::OpenAi);
    let mut documents: Vec<_> = pieces
        .iter()
        .map(|piece| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{piece}]}}}}]}}"#))
        .collect();
    documents.extend_from_slice(&speech.documents[speech.finish..]);
    receive_body(speech, speech.with(documents).body()).await
}

async fn anthropic(documents: &[&str]) -> ReceivedReply {
    let speech = &Speech::of(Wire::Anthropic);
    let mut documents: Vec<_> = documents.iter().map(|&document| document.to_owned()).collect();
    documents.extend_from_slice(&speech.documents[speech.finish..]);
    receive_body(speech, speech.with(documents).body()).await
}

fn expected() -> [(String, String); 2] {
    [("a".into(), r#"{"x":1}"#.into()), ("b".into(), "{}".into())]
}

#[tokio::test]
async fn calls_of_an_openai_server_are_told_apart_by_what_there_is() {
    let numbered_alike = [
        r#"{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}"#,
        r#"{"index":0,"function":{"arguments":":1}"}}"#,
        r#"{"index":0,"id":"2","function":{"name":"b","arguments":"{}"}}"#,
    ];
    let without_numbers = [
        r#"{"id":"1","function":{"name":"a","arguments":"{\"x\""}}"#,
        r#"{"function":{"arguments":":1}"}}"#,
        r#"{"id":"2","function":{"name":"b","arguments":"{}"}}"#,
    ];
    let without_ids = [
        r#"{"index":0,"function":{"name":"a","arguments":"{\"x\""}}"#,
        r#"{"index":5,"id":"","function":{"name":"b","arguments":"{}"}}"#,
        r#"{"index":0,"function":{"arguments":":1}"}}"#,
    ];
    for pieces in [numbered_alike, without_numbers, without_ids] {
        let received = openai(&pieces).await;
        assert_eq!(
            (received.calls.as_slice(), received.error),
            (&expected()[..], None),
            "{pieces:?}"
        );
    }
}

#[tokio::test]
async fn blocks_of_an_anthropic_server_may_be_numbered_alike_or_not_at_all() {
    let alike = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hi"}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"a"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":":1}"}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"b","input":{}}}"#,
    ];
    let unnumbered = alike.map(|document| document.replace(r#""index":0,"#, ""));
    for documents in [alike, unnumbered.each_ref().map(String::as_str)] {
        let received = anthropic(&documents).await;
        assert_eq!(
            (received.calls.as_slice(), received.error),
            (&expected()[..], None),
            "{documents:?}"
        );
        assert_eq!(received.text, "hi");
    }
}

#[tokio::test]
async fn an_input_that_comes_with_its_block_counts_if_no_pieces_follow() {
    let received = anthropic(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"a","input":{"x":1}}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","name":"b","input":{"y":1}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
    ])
    .await;
    assert_eq!(received.calls, expected());
}

#[tokio::test]
async fn a_piece_of_a_call_that_never_began_is_not_left_out() {
    let received = anthropic(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"a","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1}"}}"#,
    ])
    .await;
    assert_eq!((received.calls.len(), received.fault()), (0, Some(ModelFault::Malformed)));
}
