//! Holds the reply in the format of OpenAI.

use lango_model::Wire;
use lango_scripted::Framing;

use super::{ARGUMENTS, Speech, figures, texts};

/// Returns the reply in the format of this API.
pub(super) fn speech() -> Speech {
    let usage = r#""usage":{"prompt_tokens":120,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":8}}"#;
    let last = format!(r#"{{"choices":[],{usage}}}"#);
    Speech {
        wire: Wire::OpenAi,
        framing: Framing::Events,
        path: "/chat/completions",
        headers: &["authorization: Bearer s3cret"],
        later_usage: None,
        refusals: &[r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#],
        call_marks: &[r#""tool_calls":["#],
        call: |n| {
            vec![format!(
                r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{n},"id":"c{n}","function":{{"name":"f{n}","arguments":"{{}}"}}}}]}}}}]}}"#
            )]
        },
        documents: texts(&[
            r#"{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"hm, "}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"gewiß"}}]}"#,
            r#"{"choices":[{"delta":{"content":"Héllo "}}]}"#,
            r#"{"choices":[{"delta":{"content":"🌍","tool_calls":null}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"fs_read","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"fs_stat","arguments":"{"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"options\":{\"depth\":2,\"tags\":[\"日本\","}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"\"\ud83e\udd80\"]},\"path\":\"ä\"}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":null}"#,
            &last,
            "[DONE]",
        ]),
        finish: 9,
        reason: (r#""finish_reason":"tool_calls""#, r#""finish_reason":"length""#),
        usage: vec![(
            r#""usage":{"prompt_tokens":120,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":8}}"#,
            r#""usage":null"#,
        )],
        usage_document: r#"{"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":8}}}"#,
        error: r#"{"error":{"message":"The server is overloaded","type":"server_error"}}"#,
        idle: vec![r#"{"choices":[]}"#, r#"{"choices":null}"#, "{}", r#"{"choices":[{}]}"#],
        whole: format!(
            r#"{{"choices":[{{"message":{{"role":"assistant","content":"Héllo 🌍","reasoning_content":"hm, gewiß","tool_calls":[{{"id":"a","type":"function","function":{{"name":"fs_read","arguments":{}}}}},{{"id":"b","type":"function","function":{{"name":"fs_stat","arguments":"{{}}"}}}}]}},"finish_reason":"tool_calls"}}],{usage}}}"#,
            serde_json::to_string(ARGUMENTS).unwrap()
        ),
        provider_state: Some(r#"{"reasoning_content":"hm, gewiß"}"#),
        figures: figures(),
    }
}
