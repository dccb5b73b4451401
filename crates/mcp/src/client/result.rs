//! Renders a server's result for a model: as limited text without control characters.

use lango_protocol::CallReport;
use lango_text::render_json_markdown;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

/// Limits the size of a result.
const MAX_RESULT_BYTES: usize = 512 * 1024;

/// Returns the text of a result; the caller checks whether it is an error.
pub(crate) fn render_result(result: &CallToolResult) -> String {
    let mut parts: Vec<String> = result.content.iter().map(render_block).collect();
    if parts.is_empty()
        && let Some(value) = &result.structured_content
    {
        parts.push(value.to_string());
    }
    if parts.is_empty() {
        parts.push("(no content)".to_owned());
    }
    bound_text(parts.join("\n"))
}

/// Reports a result to a person: structured data as data, text as a quote of the server.
pub(crate) fn report_of(subject: &str, result: &CallToolResult) -> CallReport {
    let text = bound_text(result.content.iter().map(render_block).collect::<Vec<_>>().join("\n"));
    let says = CallReport::new(format!("{subject} says:"));
    let shown = |report: CallReport, value: &Value| match render_json_markdown(value) {
        Some(lines) => report.markdown(lines).data(value),
        None => report.quoted(value.as_str().unwrap_or_default()).data(value),
    };
    match (serde_json::from_str::<Value>(&text), &result.structured_content) {
        (Ok(value @ (Value::Object(_) | Value::Array(_))), _) => shown(says, &value),
        (Ok(value @ (Value::Number(_) | Value::Bool(_))), _) => {
            CallReport::new(format!("{subject} says: {value}")).data(&value)
        }
        (Ok(Value::Null), None) => CallReport::new(format!("{subject} gave nothing back.")),
        (_, Some(data)) if text.trim().is_empty() => shown(says, data),
        (_, None) if text.trim().is_empty() => {
            CallReport::new(format!("{subject} gave no answer in words."))
        }
        (_, Some(data)) => says.quoted(text).data(data),
        (Ok(Value::String(text)), None) => says.quoted(text),
        (_, None) => says.quoted(text),
    }
}

/// Renders one block as text. Other content is named with its size.
pub(crate) fn render_block(block: &ContentBlock) -> String {
    let size = |data: &str| data.len().saturating_mul(3).div_ceil(4).div_ceil(1024);
    match block {
        ContentBlock::Text(text) => clean_text(&text.text),
        ContentBlock::Image(image) => {
            format!(
                "[an image ({}, {} kB), not shown]",
                clean_text(&image.mime_type),
                size(&image.data)
            )
        }
        ContentBlock::Audio(audio) => {
            format!(
                "[a sound ({}, {} kB), not shown]",
                clean_text(&audio.mime_type),
                size(&audio.data)
            )
        }
        ContentBlock::Resource(embedded) => render_resource(&embedded.resource),
        ContentBlock::ResourceLink(link) => {
            format!("[a resource: {} ({})]", clean_text(&link.name), clean_text(&link.uri))
        }
        _ => "[something that is not known here]".to_owned(),
    }
}

/// Renders the content of a resource as text.
pub(crate) fn render_resource(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => {
            format!("[{}]\n{}", clean_text(uri), clean_text(text))
        }
        ResourceContents::BlobResourceContents { uri, blob, .. } => {
            let kilobytes = blob.len().saturating_mul(3).div_ceil(4).div_ceil(1024);
            format!("[{}: {kilobytes} kB that are not text, not shown]", clean_text(uri))
        }
        _ => "[something that is not known here]".to_owned(),
    }
}

fn bound_text(mut text: String) -> String {
    if text.len() > MAX_RESULT_BYTES {
        let whole = text.len();
        text.truncate(text.floor_char_boundary(MAX_RESULT_BYTES));
        text.push_str(&format!("\n[cut: {whole} bytes in all]"));
    }
    text
}

/// Replaces control and direction characters, except line breaks and tabs.
pub(crate) fn clean_text(text: &str) -> String {
    let hides = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    text.replace("\r\n", "\n").chars().map(|c| if hides(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(json: &str) -> CallToolResult {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn every_kind_of_content_has_words() {
        let all = result(
            r#"{"content":[{"type":"text","text":"a\u001b[2Kb\r\nc"},
            {"type":"image","data":"AAAA","mimeType":"image/png"},
            {"type":"resource_link","uri":"file:///x","name":"x"},
            {"type":"resource","resource":{"uri":"u:1","text":"inside"}}]}"#,
        );
        let text = render_result(&all);
        assert!(text.starts_with("a\u{fffd}[2Kb\nc\n[an image (image/png, 1 kB)"), "{text}");
        assert!(text.contains("[a resource: x (file:///x)]") && text.contains("[u:1]\ninside"));
        let structured = result(r#"{"content":[],"structuredContent":{"n":1}}"#);
        assert_eq!(render_result(&structured), r#"{"n":1}"#);
    }

    #[test]
    fn an_answer_is_reported_as_data_or_as_the_servers_words() {
        let report = |json: &str| report_of("`t`", &result(json));
        let rows = report(r#"{"content":[{"type":"text","text":"{\"a\":1}"}]}"#);
        assert_eq!(rows.summary, "`t` says:");
        assert_eq!(rows.details.as_ref().unwrap().text(), "a: 1");
        assert_eq!(rows.data, Some(serde_json::json!({ "a": 1 })));
        let number = report(r#"{"content":[{"type":"text","text":"42"}]}"#);
        assert_eq!(number.summary, "`t` says: 42");
        let empty = report(r#"{"content":[]}"#);
        assert_eq!(empty.summary, "`t` gave no answer in words.");
        let words = report(r#"{"content":[{"type":"text","text":"hello"}]}"#);
        assert_eq!(words, CallReport::new("`t` says:").quoted("hello"));
        let structured = report(r#"{"content":[],"structuredContent":{"n":1}}"#);
        assert_eq!(structured.data, Some(serde_json::json!({ "n": 1 })));
    }

    #[test]
    fn a_long_answer_is_cut_between_characters() {
        let text = bound_text("ä".repeat(MAX_RESULT_BYTES));
        assert!(text.len() < MAX_RESULT_BYTES + 100 && text.ends_with("bytes in all]"));
    }
}
