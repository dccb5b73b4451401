//! Holds the reply in the format of Anthropic.

use lango_model::Wire;
use lango_protocol::Usage;
use lango_scripted::Framing;

use super::{ARGUMENTS, Speech, figures, texts};

/// Returns the reply in the format of this API.
pub(super) fn speech() -> Speech {
    Speech {
        wire: Wire::Anthropic,
        framing: Framing::Events,
        path: "/v1/messages",
        headers: &["x-api-key: s3cret", "anthropic-version: 2023-06-01"],
        later_usage: Some(r#"{"type":"message_delta","delta":{},"usage":{"output_tokens":3}}"#),
        refusals: &[r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#],
        call_marks: &[r#""index":3"#, r#""index":4"#],
        call: |n| {
            vec![
                format!(
                    r#"{{"type":"content_block_start","index":{n},"content_block":{{"type":"tool_use","id":"c{n}","name":"f{n}","input":{{}}}}}}"#
                ),
                format!(
                    r#"{{"type":"content_block_delta","index":{n},"delta":{{"type":"input_json_delta","partial_json":"{{}}"}}}}"#
                ),
            ]
        },
        documents: texts(&[
            r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":70,"cache_read_input_tokens":40,"cache_creation_input_tokens":10,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm, "}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"gewiß"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"ZGF0YQ"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Héllo "}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"🌍"}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"fs_read","input":{}}}"#,
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"options\":{\"depth\":2,\"tags\":[\"日本\","}}"#,
            r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"fs_stat","input":{}}}"#,
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"\ud83e\udd80\"]},\"path\":\"ä\"}"}}"#,
            r#"{"type":"content_block_stop","index":3}"#,
            r#"{"type":"content_block_stop","index":4}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":30,"output_tokens_details":{"thinking_tokens":8}}}"#,
            r#"{"type":"message_stop"}"#,
        ]),
        finish: 20,
        reason: (r#""stop_reason":"tool_use""#, r#""stop_reason":"max_tokens""#),
        usage: vec![
            (
                r#""usage":{"input_tokens":70,"cache_read_input_tokens":40,"cache_creation_input_tokens":10,"output_tokens":1}"#,
                r#""usage":null"#,
            ),
            (
                r#""usage":{"output_tokens":30,"output_tokens_details":{"thinking_tokens":8}}"#,
                r#""usage":null"#,
            ),
        ],
        usage_document: r#"{"type":"message_delta","delta":{"stop_reason":null},"usage":{"input_tokens":70,"cache_read_input_tokens":40,"cache_creation_input_tokens":10,"output_tokens":30,"output_tokens_details":{"thinking_tokens":8}}}"#,
        error: r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        idle: vec![
            r#"{"type":"ping"}"#,
            r#"{"type":"something_new","index":9,"delta":{"type":"text_delta","text":"no"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"something_new"}}"#,
            r#"{"type":"content_block_start","index":77,"content_block":{"type":"server_tool_use","id":"s","name":"web","input":{}}}"#,
            "{}",
        ],
        whole: format!(
            r#"{{"id":"m","type":"message","role":"assistant","content":[{{"type":"thinking","thinking":"hm, gewiß","signature":"c2ln"}},{{"type":"redacted_thinking","data":"ZGF0YQ"}},{{"type":"text","text":"Héllo 🌍"}},{{"type":"tool_use","id":"toolu_1","name":"fs_read","input":{ARGUMENTS}}},{{"type":"tool_use","id":"toolu_2","name":"fs_stat","input":{{}}}}],"stop_reason":"tool_use","usage":{{"input_tokens":70,"cache_read_input_tokens":40,"cache_creation_input_tokens":10,"output_tokens":30,"output_tokens_details":{{"thinking_tokens":8}}}}}}"#
        ),
        provider_state: Some(
            r#"[{"type":"thinking","thinking":"hm, gewiß","signature":"c2ln"},{"type":"redacted_thinking","data":"ZGF0YQ"}]"#,
        ),
        figures: Usage { cache_write: 10, ..figures() },
    }
}
