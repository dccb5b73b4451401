use lango_model::Wire;
use serde_json::{Value, json};

use super::parse::parse;
use super::render::{render, whole};
use crate::fixture::WireSample;
use crate::script::Script;
use crate::signature::Signatures;
use crate::speech::{Rendering, Speech};
use crate::variant::WireVariant;

pub(super) const SAMPLE: WireSample = WireSample {
    headers: "x-goog-api-key: key\r\n",
    body: r#"{"contents":[{"role":"user","parts":[{"text":"{user}"}]}]}"#,
    end: "finishReason",
    unreadable: r#""status":"INVALID_ARGUMENT""#,
    rate_limited: r#""status":"RESOURCE_EXHAUSTED""#,
    too_long: "exceeds the maximum number of tokens",
    statuses: [400, 429, 400, 404, 400, 200, 503],
};

fn content(role: &str, parts: &[Value]) -> Value {
    json!({"role": role, "parts": parts})
}

fn user() -> Value {
    content("user", &[json!({"text": "u"})])
}

fn call(name: &str) -> Value {
    json!({"functionCall": {"name": name, "args": {}}})
}

fn response(name: &str) -> Value {
    json!({"functionResponse": {"name": name, "response": {"result": "r"}}})
}

fn refusal(model: &str, body: &Value, signatures: &Signatures) -> Option<String> {
    parse(body.to_string().as_bytes(), model, signatures).err()
}

fn says(contents: &Value) -> String {
    refusal("m", &json!({"contents": contents}), &Signatures::default()).unwrap_or_default()
}

#[test]
fn a_request_is_read_as_scripts_see_it() {
    let body = json!({
        "systemInstruction": {"parts": [{"text": "You are vault, x"}]},
        "contents": [
            user(),
            content("model", &[json!({"text": "hm"}), call("f"), call("g")]),
            content("user", &[response("f"), response("g")]),
        ],
        "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {}}]}],
        "generationConfig": {"temperature": 1.5, "maxOutputTokens": 5},
    })
    .to_string();
    let conversation = parse(body.as_bytes(), "m", &Signatures::default()).unwrap();
    assert_eq!(conversation.agent(), Some("vault"));
    assert_eq!(conversation.newest_user(), "u");
    assert_eq!(conversation.results().collect::<Vec<_>>(), ["r", "r"]);
    assert_eq!(conversation.calls(), ["f", "g"]);
    assert!(conversation.offers("f"));
}

#[test]
fn histories_that_google_refuses_are_refused() {
    assert_eq!(
        says(&json!([user(), content("model", &[call("f")]), content("user", &[response("f")])])),
        ""
    );
    let count = "number of function response parts";
    let cases = [
        (json!([]), "contents is not specified"),
        (json!([{"role": "assistant", "parts": [{"text": "a"}]}]), "valid role"),
        (json!([content("user", &[])]), "must not be empty"),
        (json!([content("user", &[json!({})])]), "oneof"),
        (
            json!([content(
                "user",
                &[json!({"text": "a", "inlineData": {"mimeType": "image/png",
            "data": "YQ=="}})]
            )]),
            "oneof",
        ),
        (json!([content("user", &[json!({"text": ""})])]), "text parameter"),
        (
            json!([content(
                "user",
                &[json!({"inlineData": {"mimeType": "image/gif",
                "data": "YQ=="}})]
            )]),
            "MIME type",
        ),
        (json!([user(), content("model", &[call("f")])]), count),
        (json!([user(), content("model", &[call("f")]), user()]), count),
        (
            json!([
                user(),
                content("model", &[call("f")]),
                content("user", &[response("f"), response("f")])
            ]),
            count,
        ),
        (json!([content("user", &[response("f")])]), count),
        (
            json!([
                user(),
                content("model", &[call("f"), call("g")]),
                content("user", &[response("g"), response("f")])
            ]),
            "same order",
        ),
        (
            json!([content("model", &[call("f")]), content("user", &[response("f")])]),
            "immediately after a user turn",
        ),
        (
            json!([
                user(),
                content("model", &[json!({"text": "a"})]),
                content("model", &[call("f")]),
                content("user", &[response("f")])
            ]),
            "immediately after a user turn",
        ),
        (
            json!([user(), content("model", &[call("f g")]), content("user", &[response("f g")])]),
            "Invalid function name",
        ),
        (json!([content("user", &[json!({"text": "a", "cache_control": {}})])]), "Unknown name"),
        (
            json!([user(), content("model", &[json!({"text": "a", "thoughtSignature": "eA=="})])]),
            "Invalid thought signature",
        ),
    ];
    for (contents, expected) in cases {
        let reason = says(&contents);
        assert!(reason.contains(expected), "{expected} in {reason:?} for {contents}");
    }
}

#[test]
fn a_schema_with_words_that_google_does_not_know_is_refused() {
    let with = |schema: Value| {
        let tools = json!([{"functionDeclarations": [{"name": "f", "parameters": schema}]}]);
        let body = json!({"contents": [user()], "tools": tools});
        refusal("m", &body, &Signatures::default()).unwrap_or_default()
    };
    let fine = json!({"type": "OBJECT", "properties": {"a": {"type": "string", "nullable": true},
        "additionalProperties": {"type": "array", "items": {"type": "integer"}}}});
    assert_eq!(with(fine), "");
    assert!(
        with(json!({"type": "object", "additionalProperties": false})).contains("Unknown name")
    );
    let inner = json!({"type": "object", "properties": {"a": {"$ref": "#/a"}}});
    assert!(with(inner).contains("$ref"));
    assert!(with(json!({"type": ["object", "null"]})).contains("Invalid value"));
}

#[test]
fn signatures_go_back_to_the_call_they_came_with() {
    let signatures = Signatures::default();
    let history = |model: &str, name: &str, signature: Option<&str>| {
        let mut called = call(name);
        if let Some(signature) = signature {
            called["thoughtSignature"] = json!(signature);
        }
        let contents =
            json!([user(), content("model", &[called]), content("user", &[response(name)])]);
        refusal(model, &json!({"contents": contents}), &signatures).unwrap_or_default()
    };
    let signature = signatures.sign(Wire::Gemini, "f");
    assert_eq!(history("gemini-3-pro", "f", Some(&signature)), "");
    assert_eq!(history("gemini-3-pro", "f", Some("skip_thought_signature_validator")), "");
    assert!(history("gemini-3-pro", "g", Some(&signature)).contains("Invalid thought signature"));
    let foreign = signatures.sign(Wire::Anthropic, "f");
    assert!(history("gemini-2.5-pro", "f", Some(&foreign)).contains("Invalid thought signature"));
    assert!(history("gemini-3-pro", "f", None).contains("missing a thought_signature"));
    assert_eq!(history("gemini-2.5-pro", "f", None), "");
}

fn rendered(reply: &str, variant: &WireVariant) -> (Rendering, Value) {
    let script = Script::parse("x", &format!("[[reply]]\n{reply}")).unwrap();
    let body = json!({"contents": [user()]}).to_string();
    let signatures = Signatures::default();
    let conversation = parse(body.as_bytes(), "m", &signatures).unwrap();
    let speech = Speech::new(&script.replies[0], &conversation, variant, &signatures);
    (render(&speech), serde_json::from_slice(&whole(&speech)).unwrap())
}

#[test]
fn a_reply_is_a_list_of_chunks() {
    let reply = "think = \"hm\"\nsay = \"Hello there, world\"\nusage = { input = 9, cached = 4, \
                 output = 8, reasoning = 3 }\ncopies = 2\n[[reply.call]]\nname = \"f\"\n\
                 arguments = { a = 1 }";
    let (rendering, whole) = rendered(reply, &WireVariant::default());
    let chunks: Vec<Value> = rendering
        .content
        .iter()
        .chain(&rendering.ending)
        .map(|event| std::str::from_utf8(event).unwrap().strip_prefix("data: ").unwrap())
        .map(|data| serde_json::from_str(data.strip_suffix("\r\n\r\n").unwrap()).unwrap())
        .collect();
    assert_eq!(whole, Value::Array(chunks.clone()));
    let part = |index: usize| &chunks[index]["candidates"][0]["content"]["parts"][0];
    assert_eq!(part(0), &json!({"text": "hm", "thought": true}));
    let calls: Vec<_> =
        (0..chunks.len()).map(part).filter(|part| part.get("functionCall").is_some()).collect();
    assert_eq!(calls[0]["functionCall"], json!({"name": "f", "args": {"a": 1}}));
    assert!(calls[0].get("thoughtSignature").is_some());
    assert!(calls[1].get("thoughtSignature").is_none());
    let end = chunks.last().unwrap();
    assert_eq!(end["candidates"][0]["finishReason"], "STOP");
    let expected = json!({"promptTokenCount": 9, "candidatesTokenCount": 5, "totalTokenCount": 17,
        "cachedContentTokenCount": 4, "thoughtsTokenCount": 3});
    assert_eq!(end["usageMetadata"], expected);
}

#[test]
fn arguments_that_are_no_object_end_the_reply_as_malformed() {
    let (rendering, _) =
        rendered("[[reply.call]]\nname = \"f\"\nraw = '{\"a\"'", &WireVariant::default());
    assert!(rendering.content.is_empty());
    let end = std::str::from_utf8(&rendering.ending[0]).unwrap();
    assert!(end.contains("MALFORMED_FUNCTION_CALL"), "{end}");
}
