//! Finds the format of a file by its media type, its name and its first bytes.

use super::document::DocumentKind;
use super::unreadable::UnreadableReason;

/// Lists the file extensions of source code and configuration.
const CODE_EXTENSIONS: &[&str] = &[
    "asm", "awk", "bash", "bat", "bazel", "c", "cc", "cfg", "clj", "cmake", "conf", "cpp", "cs",
    "css", "cu", "cxx", "d", "dart", "el", "elm", "erl", "ex", "exs", "f90", "fish", "fs", "go",
    "gradle", "graphql", "groovy", "h", "hcl", "hpp", "hs", "hxx", "ini", "java", "jl", "js",
    "json", "jsonl", "jsx", "kt", "kts", "less", "lisp", "lua", "m", "mjs", "ml", "mli", "mm",
    "nim", "nix", "pas", "php", "pl", "pm", "proto", "ps1", "py", "pyi", "r", "rb", "rkt", "rs",
    "s", "sass", "scala", "scm", "scss", "sh", "sol", "sql", "svelte", "swift", "tcl", "tf",
    "toml", "ts", "tsx", "v", "vb", "vim", "vue", "xml", "yaml", "yml", "zig", "zsh",
];

/// Lists file names without an extension that are code.
const CODE_NAMES: &[&str] =
    &["makefile", "dockerfile", "rakefile", "gemfile", "justfile", "cmakelists.txt"];

/// Returns the format to read the bytes as.
pub(crate) fn detect_kind(
    name: &str,
    content_type: Option<&str>,
    start: &[u8],
) -> Result<DocumentKind, UnreadableReason> {
    // These first bytes decide, whatever the name is.
    if start.starts_with(b"%PDF-") {
        return Ok(DocumentKind::Pdf);
    }
    let by_name = kind_by_name(name);
    if start.starts_with(b"PK\x03\x04") {
        return match by_name {
            Some(DocumentKind::Docx) => Ok(DocumentKind::Docx),
            _ if is_docx_type(content_type) => Ok(DocumentKind::Docx),
            _ => Err(UnreadableReason::Unsupported { format: archive_message(name) }),
        };
    }
    if start.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        // Word writes this if a password is set, and wrote it before 2007.
        return Err(match by_name {
            Some(DocumentKind::Docx) => UnreadableReason::Encrypted,
            _ => UnreadableReason::Unsupported { format: "an old Office format".to_owned() },
        });
    }
    let kind = match content_type {
        Some(given) => kind_by_media_type(given, by_name)?,
        None => by_name.unwrap_or(DocumentKind::Text),
    };
    match kind {
        // The header may be a little further in.
        DocumentKind::Pdf if !contains_bytes(start, b"%PDF-") => {
            Err(UnreadableReason::corrupt("it does not begin as a PDF"))
        }
        DocumentKind::Docx => Err(UnreadableReason::corrupt("it does not begin as a DOCX")),
        DocumentKind::Text if content_type.is_none() && looks_like_html(start) => {
            Ok(DocumentKind::Html)
        }
        kind => Ok(kind),
    }
}

fn kind_by_name(name: &str) -> Option<DocumentKind> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    if CODE_NAMES.contains(&name.as_str()) {
        return Some(DocumentKind::Code);
    }
    let (_, ending) = name.rsplit_once('.')?;
    match ending {
        "md" | "markdown" | "mdx" | "mkd" => Some(DocumentKind::Markdown),
        "html" | "htm" | "xhtml" => Some(DocumentKind::Html),
        "pdf" => Some(DocumentKind::Pdf),
        "docx" => Some(DocumentKind::Docx),
        "txt" | "text" | "log" | "csv" | "tsv" | "rst" | "adoc" | "org" | "tex" => {
            Some(DocumentKind::Text)
        }
        ending if CODE_EXTENSIONS.contains(&ending) => Some(DocumentKind::Code),
        _ => None,
    }
}

fn kind_by_media_type(
    given: &str,
    named: Option<DocumentKind>,
) -> Result<DocumentKind, UnreadableReason> {
    let essence = given.split(';').next().unwrap_or(given).trim().to_ascii_lowercase();
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" => Ok(DocumentKind::Html),
        "text/markdown" | "text/x-markdown" => Ok(DocumentKind::Markdown),
        "application/pdf" => Ok(DocumentKind::Pdf),
        // Servers that do not know Markdown or a language call it plain.
        "text/plain" => Ok(match named {
            Some(kind @ (DocumentKind::Markdown | DocumentKind::Code)) => kind,
            _ => DocumentKind::Text,
        }),
        _ if is_docx_type(Some(given)) => Ok(DocumentKind::Docx),
        "" | "application/octet-stream" => Ok(named.unwrap_or(DocumentKind::Text)),
        text if text.starts_with("text/") => Ok(named.unwrap_or(DocumentKind::Text)),
        "application/json" | "application/xml" | "application/javascript" => Ok(DocumentKind::Code),
        other => Err(UnreadableReason::Unsupported { format: other.to_owned() }),
    }
}

fn is_docx_type(given: Option<&str>) -> bool {
    given.is_some_and(|given| given.contains("wordprocessingml.document"))
}

fn archive_message(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((_, ending)) if ending.len() <= 8 => format!("a .{ending} archive"),
        _ => "an archive".to_owned(),
    }
}

fn looks_like_html(start: &[u8]) -> bool {
    let begin = start.trim_ascii_start();
    let has =
        |tag: &[u8]| begin.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
    has(b"<!doctype html") || has(b"<html")
}

fn contains_bytes(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_is_shows_in_its_bytes_then_its_type_then_its_name() {
        let kind = |name: &str, given: Option<&str>, start: &[u8]| detect_kind(name, given, start);
        assert_eq!(kind("a.md", None, b"%PDF-1.7"), Ok(DocumentKind::Pdf));
        assert_eq!(kind("a.md", None, b"# A"), Ok(DocumentKind::Markdown));
        assert_eq!(kind("a", Some("text/html; charset=utf-8"), b""), Ok(DocumentKind::Html));
        assert_eq!(kind("a.md", Some("text/plain"), b""), Ok(DocumentKind::Markdown));
        assert_eq!(kind("Makefile", None, b"all:"), Ok(DocumentKind::Code));
        assert_eq!(kind("notes", None, b"hello"), Ok(DocumentKind::Text));
        assert_eq!(kind("page", None, b"\n<!DOCTYPE html>"), Ok(DocumentKind::Html));
        assert_eq!(kind("a.docx", None, b"PK\x03\x04"), Ok(DocumentKind::Docx));
    }

    #[test]
    fn what_is_not_read_says_why() {
        let why = |name: &str, given: Option<&str>, start: &[u8]| {
            detect_kind(name, given, start).unwrap_err()
        };
        assert!(matches!(why("a.zip", None, b"PK\x03\x04"), UnreadableReason::Unsupported { .. }));
        assert!(matches!(why("a.pdf", None, b"hello"), UnreadableReason::Corrupt { .. }));
        assert!(matches!(why("a.docx", None, b"hello"), UnreadableReason::Corrupt { .. }));
        let office = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
        assert_eq!(why("a.docx", None, office), UnreadableReason::Encrypted);
        assert!(matches!(why("a.doc", None, office), UnreadableReason::Unsupported { .. }));
        assert!(matches!(why("a", Some("image/png"), b""), UnreadableReason::Unsupported { .. }));
    }
}
