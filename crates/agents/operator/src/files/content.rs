//! Determines from its bytes what kind of content a file has.

/// Limits how many bytes at the start of a file decide whether it is text.
pub(super) const SNIFFED_BYTES: usize = 8 * 1024;

/// Tells whether a file that starts with `head` is not text.
pub(super) fn is_binary(head: &[u8]) -> bool {
    head[..head.len().min(SNIFFED_BYTES)].contains(&0) || head.starts_with(b"%PDF-")
}

/// Describes in a few words what a binary file is.
pub(super) fn describe_binary(head: &[u8]) -> &'static str {
    const SIGNATURES: [(&[u8], &str); 12] = [
        (b"\x89PNG\r\n", "PNG image"),
        (b"\xff\xd8\xff", "JPEG image"),
        (b"GIF8", "GIF image"),
        (b"%PDF-", "PDF document"),
        (b"PK\x03\x04", "ZIP archive (or a document made of one)"),
        (b"\x1f\x8b", "gzip data"),
        (b"\x28\xb5\x2f\xfd", "zstd data"),
        (b"\x7fELF", "ELF program or library"),
        (b"SQLite format 3\0", "SQLite database"),
        (b"\0asm", "WebAssembly module"),
        (b"\xff\xfe", "UTF-16 text"),
        (b"\xfe\xff", "UTF-16 text"),
    ];
    SIGNATURES
        .iter()
        .find(|(start, _)| head.starts_with(start))
        .map_or("binary data", |(_, description)| description)
}

/// Returns the number of lines; a last line without a line end counts.
pub(super) fn count_lines(content: &[u8]) -> u64 {
    let ends = content.split(|byte| *byte == b'\n').count() as u64;
    if content.is_empty() || content.ends_with(b"\n") { ends - 1 } else { ends }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_with_and_without_a_last_end() {
        for (content, lines) in
            [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\r\nb\r\n", 2), ("\n\n", 2)]
        {
            assert_eq!(count_lines(content.as_bytes()), lines, "{content:?}");
        }
    }

    #[test]
    fn text_and_binary_are_told_apart() {
        assert!(!is_binary(b"plain\xe4\xf6 text"));
        assert!(is_binary(b"a\0b") && is_binary(b"%PDF-1.7\n"));
        assert_eq!(describe_binary(b"\x89PNG\r\n\x1a\n"), "PNG image");
        assert_eq!(describe_binary(b"a\0b"), "binary data");
    }
}
