//! Splits the text of an agent into the parts of an answer: text, data and files.

use a2a::Part;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// Returns the parts of a text: a fenced block of JSON becomes data, a link that is alone on its
/// line and named like a file becomes that file, and everything else stays text. An empty text
/// becomes one empty text part.
pub(crate) fn parse_parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    let mut rest = text;
    // After a fence without an end, the search stops: a later fence has no end either.
    let mut may_end = true;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        if may_end && line.trim() == "```json" {
            let block = split_at_fence(rest);
            may_end = block.is_some();
            if let Some((inside, after)) = block
                && let Ok(data) = serde_json::from_str::<serde_json::Value>(inside)
            {
                flush_text(&mut words, &mut parts);
                parts.push(Part::data(data).with_media_type("application/json"));
                rest = after;
                continue;
            }
        }
        if let Some(file) = parse_file_link(line.trim()) {
            flush_text(&mut words, &mut parts);
            parts.push(file);
            continue;
        }
        words.push(line);
    }
    if parts.is_empty() {
        // The text is kept exactly, including trailing blanks: the streamed chunks add up to it.
        return vec![Part::text(text)];
    }
    flush_text(&mut words, &mut parts);
    parts
}

/// Tells whether an answer consists of text only.
pub(crate) fn is_text(parts: &[Part]) -> bool {
    parts.iter().all(|part| part.as_text().is_some())
}

fn flush_text(words: &mut Vec<&str>, parts: &mut Vec<Part>) {
    let text = words.join("\n");
    words.clear();
    if !text.trim().is_empty() {
        parts.push(Part::text(text.trim_matches('\n')));
    }
}

/// Returns the text up to the closing fence, and the text after it.
fn split_at_fence(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == "```" {
            return Some((&text[..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// Parses a line that is nothing but `[name.ext](address)`.
fn parse_file_link(line: &str) -> Option<Part> {
    let (name, address) = line.strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    if !is_file_name(name) || address.contains(char::is_whitespace) {
        return None;
    }
    if let Some(data) = address.strip_prefix("data:") {
        let (media_type, encoded) = data.split_once(";base64,")?;
        let bytes = BASE64.decode(encoded).ok()?;
        let media_type = if media_type.is_empty() { guess_media_type(name) } else { media_type };
        return Some(Part::raw(bytes).with_filename(name).with_media_type(media_type));
    }
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    is_web.then(|| Part::url(address).with_filename(name).with_media_type(guess_media_type(name)))
}

fn is_file_name(name: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ');
    let extension = name.rsplit_once('.').map(|(stem, extension)| (stem.trim(), extension));
    name.len() <= 255
        && name.chars().all(allowed)
        && extension.is_some_and(|(stem, extension)| {
            !stem.is_empty()
                && (1..=8).contains(&extension.len())
                && extension.chars().all(|c| c.is_ascii_alphanumeric())
        })
}

fn guess_media_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use a2a::PartContent;
    use serde_json::json;

    use super::*;

    #[test]
    fn words_stay_words() {
        for text in
            ["Hello.", "a\n\nb ", "see [the page](https://example.org)", "[x](javascript:1)"]
        {
            assert_eq!(parse_parts(text), vec![Part::text(text)], "{text}");
        }
        assert_eq!(parse_parts("```json\nnot json\n```").len(), 1);
        assert!(is_text(&parse_parts("[link](https://example.org/)")));
    }

    #[test]
    fn fences_without_an_end_are_looked_for_once() {
        let text = "```json\n".repeat(100_000);
        let begun = std::time::Instant::now();
        assert_eq!(parse_parts(&text), vec![Part::text(text.as_str())]);
        assert!(begun.elapsed() < std::time::Duration::from_secs(5));
        // A block that is not JSON has an end: the next one is still found.
        assert_eq!(parse_parts("```json\nno\n```\n```json\n1\n```\n").len(), 2);
    }

    #[test]
    fn data_and_files_are_taken_out_in_order() {
        let text = "Here it is:\n\n```json\n{\"key\": \"value\", \"count\": 42}\n```\nand\n\
                    [output.txt](https://example.com/output.txt)\n\
                    [output.txt](data:text/plain;base64,aGVsbG8=)\n";
        let parts = parse_parts(text);
        assert_eq!(parts.len(), 5);
        assert_eq!(parts[0].as_text(), Some("Here it is:"));
        assert_eq!(parts[1].content, PartContent::Data(json!({ "key": "value", "count": 42 })));
        assert_eq!(parts[2].as_text(), Some("and"));
        assert_eq!(parts[3].content, PartContent::Url("https://example.com/output.txt".into()));
        assert_eq!(parts[3].filename.as_deref(), Some("output.txt"));
        assert_eq!(parts[3].media_type.as_deref(), Some("text/plain"));
        assert_eq!(parts[4].content, PartContent::Raw(b"hello".to_vec()));
    }
}
