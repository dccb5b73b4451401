//! Holds the reply in the format of Ollama.

use lango_model::Wire;
use lango_protocol::Usage;
use lango_scripted::Framing;

use super::{ARGUMENTS, Speech, texts};

/// Returns the reply in the format of this API.
pub(super) fn speech() -> Speech {
    let calls = format!(
        r#"{{"model":"m","message":{{"role":"assistant","content":"","tool_calls":[{{"id":"call_1","function":{{"index":0,"name":"fs_read","arguments":{ARGUMENTS}}}}}]}},"done":false}}"#
    );
    Speech {
        wire: Wire::Ollama,
        framing: Framing::Lines,
        path: "/api/chat",
        headers: &["authorization: Bearer s3cret"],
        later_usage: Some(r#"{"done":false,"eval_count":30}"#),
        refusals: &[],
        call_marks: &[r#""tool_calls":["#],
        call: |n| {
            vec![format!(
                r#"{{"message":{{"tool_calls":[{{"function":{{"name":"f{n}","arguments":{{}}}}}}]}},"done":false}}"#
            )]
        },
        documents: texts(&[
            r#"{"model":"m","created_at":"2025-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"hm, "},"done":false}"#,
            r#"{"model":"m","message":{"role":"assistant","content":"","thinking":"gewiß"},"done":false}"#,
            r#"{"model":"m","message":{"role":"assistant","content":"Héllo "},"done":false}"#,
            r#"{"model":"m","message":{"role":"assistant","content":"🌍"},"done":false}"#,
            &calls,
            r#"{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"fs_stat","arguments":{}}}]},"done":false}"#,
            r#"{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":5,"prompt_eval_count":120,"eval_count":30}"#,
        ]),
        finish: 6,
        reason: (r#""done_reason":"stop""#, r#""done_reason":"length""#),
        usage: vec![(
            r#""prompt_eval_count":120,"eval_count":30"#,
            r#""prompt_eval_count":null,"eval_count":null"#,
        )],
        usage_document: r#"{"message":{"role":"assistant","content":""},"done":false,"prompt_eval_count":120,"eval_count":30}"#,
        error: r#"{"error":"an error was encountered: the server is overloaded"}"#,
        idle: vec![
            r#"{"message":null,"done":false}"#,
            r#"{"done":null}"#,
            r#"{"message":{}}"#,
            "{}",
        ],
        whole: format!(
            r#"{{"model":"m","message":{{"role":"assistant","content":"Héllo 🌍","thinking":"hm, gewiß","tool_calls":[{{"function":{{"name":"fs_read","arguments":{ARGUMENTS}}}}},{{"function":{{"name":"fs_stat","arguments":{{}}}}}}]}},"done":true,"done_reason":"stop","prompt_eval_count":120,"eval_count":30}}"#
        ),
        provider_state: Some(r#"{"thinking":"hm, gewiß"}"#),
        figures: Usage { input: 120, output: 30, ..Usage::default() },
    }
}
