//! Holds the reply in the format of Gemini.

use lango_model::Wire;
use lango_scripted::Framing;

use super::{ARGUMENTS, Speech, figures, texts};

/// Returns the reply in the format of this API.
pub(super) fn speech() -> Speech {
    let calls = format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"functionCall":{{"id":"x1","name":"fs_read","args":{ARGUMENTS}}},"thoughtSignature":"c2ln"}},{{"functionCall":{{"name":"fs_stat"}}}}]}},"index":0}}],"usageMetadata":{{"promptTokenCount":110}}}}"#
    );
    Speech {
        wire: Wire::Gemini,
        framing: Framing::Events,
        path: "/models/model:streamGenerateContent?alt=sse",
        headers: &["x-goog-api-key: s3cret"],
        later_usage: Some(r#"{"usageMetadata":{"promptTokenCount":110}}"#),
        refusals: &[
            r#"{"candidates":[{"finishReason":"SAFETY"}]}"#,
            r#"{"candidates":[{"finishReason":"SPII"}]}"#,
            r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#,
        ],
        call_marks: &["functionCall"],
        call: |n| {
            vec![format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"f{n}","args":{{}}}}}}]}}}}]}}"#
            )]
        },
        documents: texts(&[
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hm, ","thought":true}]},"index":0}],"modelVersion":"g"}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"gewiß","thought":true},{"text":"Héllo "}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"🌍"}]}}]}"#,
            &calls,
            r#"{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"dGV4dA"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":110,"toolUsePromptTokenCount":10,"candidatesTokenCount":22,"thoughtsTokenCount":8,"cachedContentTokenCount":40,"totalTokenCount":150}}"#,
        ]),
        finish: 4,
        reason: (r#""finishReason":"STOP""#, r#""finishReason":"MAX_TOKENS""#),
        usage: vec![
            (r#""usageMetadata":{"promptTokenCount":110}"#, r#""usageMetadata":null"#),
            (
                r#""usageMetadata":{"promptTokenCount":110,"toolUsePromptTokenCount":10,"candidatesTokenCount":22,"thoughtsTokenCount":8,"cachedContentTokenCount":40,"totalTokenCount":150}"#,
                r#""usageMetadata":null"#,
            ),
        ],
        usage_document: r#"{"usageMetadata":{"promptTokenCount":110,"toolUsePromptTokenCount":10,"candidatesTokenCount":22,"thoughtsTokenCount":8,"cachedContentTokenCount":40}}"#,
        error: r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
        idle: vec![
            r#"{"candidates":[]}"#,
            r#"{"candidates":null,"promptFeedback":{"safetyRatings":[]}}"#,
            r#"{"candidates":[{"index":0}]}"#,
            r#"{"candidates":[{"content":{}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{}]}}]}"#,
            "{}",
        ],
        whole: format!(
            r#"[{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":"hm, gewiß","thought":true}},{{"text":"Héllo "}}]}}}}]}},
            {{"candidates":[{{"content":{{"parts":[{{"text":"🌍","thoughtSignature":"dGV4dA"}},{{"functionCall":{{"id":"x1","name":"fs_read","args":{ARGUMENTS}}},"thoughtSignature":"c2ln"}},{{"functionCall":{{"name":"fs_stat","args":{{}}}}}}]}},"finishReason":"STOP"}}],"usageMetadata":{{"promptTokenCount":110,"toolUsePromptTokenCount":10,"candidatesTokenCount":22,"thoughtsTokenCount":8,"cachedContentTokenCount":40}}}}]"#
        ),
        provider_state: Some(r#"{"text":"dGV4dA","calls":[{"id":"x1","signature":"c2ln"},{}]}"#),
        figures: figures(),
    }
}
