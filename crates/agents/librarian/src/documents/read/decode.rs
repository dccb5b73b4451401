//! Decodes bytes to text. Binary data is recognised, and guesses are noted.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::unreadable::UnreadableReason;

/// Limits the control characters in a thousand bytes of text.
const MAX_CONTROL_PER_THOUSAND: usize = 10;

/// Limits the bytes outside of ASCII in a hundred bytes of a Western European text.
const MAX_NON_ASCII_PERCENT: usize = 30;

/// Represents a text with a remark about its decoding.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DecodedText {
    pub(crate) text: String,
    pub(crate) note: Option<String>,
}

/// Tells whether these first bytes of a file cannot be text.
pub(crate) fn is_binary(start: &[u8]) -> bool {
    if Encoding::for_bom(start).is_some_and(|(encoding, _)| encoding != UTF_8) {
        return false;
    }
    start.contains(&0)
        || count_control_characters(start) * 1_000 > start.len() * MAX_CONTROL_PER_THOUSAND
}

/// Reads bytes as text. `label` is the encoding that a server or a page claims.
pub(crate) fn decode_text(
    bytes: Vec<u8>,
    label: Option<&str>,
) -> Result<DecodedText, UnreadableReason> {
    if let Some((encoding, _)) = Encoding::for_bom(&bytes) {
        let (text, _, replaced) = encoding.decode(&bytes);
        if replaced && (encoding == UTF_16LE || encoding == UTF_16BE) && bytes.len() % 2 == 1 {
            return Err(UnreadableReason::corrupt("half a character at its end"));
        }
        let note = replaced.then(|| format!("not all of it was valid {}", encoding.name()));
        return replace_nul(text.into_owned(), note);
    }
    if is_binary(&bytes) {
        return Err(UnreadableReason::Binary);
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok(DecodedText { text, note: None }),
        Err(error) => error.into_bytes(),
    };
    let claimed = label.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    if let Some(encoding) = claimed.filter(|encoding| *encoding != UTF_8) {
        let (text, _, replaced) = encoding.decode(&bytes);
        let note = replaced.then(|| format!("not all of it was valid {}", encoding.name()));
        return replace_nul(text.into_owned(), note);
    }
    let Utf8Fit { multibyte, invalid } = measure_utf8_fit(&bytes);
    if multibyte > invalid {
        let note = format!("{invalid} places were not valid UTF-8 and were replaced");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        return Ok(DecodedText { text, note: Some(note) });
    }
    if is_plausibly_western(&bytes) {
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(&bytes);
        let note = "it is not UTF-8 and was read as Windows-1252".to_owned();
        return Ok(DecodedText { text: text.into_owned(), note: Some(note) });
    }
    Err(UnreadableReason::Encoding)
}

/// Replaces NUL in a text that came from UTF-16 or a multi-byte encoding: PostgreSQL would reject
/// it.
fn replace_nul(text: String, note: Option<String>) -> Result<DecodedText, UnreadableReason> {
    if count_control_characters(text.as_bytes()) * 1_000 > text.len() * MAX_CONTROL_PER_THOUSAND {
        return Err(UnreadableReason::Binary);
    }
    let text = if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text };
    Ok(DecodedText { text, note })
}

fn count_control_characters(bytes: &[u8]) -> usize {
    let is_odd = |byte: &&u8| {
        (**byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b)) || **byte == 0x7f
    };
    bytes.iter().filter(is_odd).count()
}

/// Counts how far bytes are UTF-8: multi-byte characters, and invalid sequences.
struct Utf8Fit {
    multibyte: usize,
    invalid: usize,
}

fn measure_utf8_fit(bytes: &[u8]) -> Utf8Fit {
    let mut fit = Utf8Fit { multibyte: 0, invalid: 0 };
    for chunk in bytes.utf8_chunks() {
        fit.multibyte += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        fit.invalid += usize::from(!chunk.invalid().is_empty());
    }
    fit
}

/// Tells whether bytes may be Windows-1252: mostly ASCII, and no byte that the encoding leaves
/// unassigned.
fn is_plausibly_western(bytes: &[u8]) -> bool {
    let high = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    if high * 100 > bytes.len() * MAX_NON_ASCII_PERCENT {
        return false;
    }
    // Assigned in neither Latin-1 nor Windows-1252.
    !bytes.iter().any(|byte| matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<DecodedText, UnreadableReason> {
        decode_text(bytes.to_vec(), None)
    }

    #[test]
    fn utf_8_is_taken_as_it_is_with_or_without_a_mark() {
        assert_eq!(read("héllo €".as_bytes()).unwrap().text, "héllo €");
        let marked = read(b"\xef\xbb\xbfh\xc3\xa9llo").unwrap();
        assert_eq!((marked.text.as_str(), marked.note), ("héllo", None));
    }

    #[test]
    fn utf_16_needs_its_mark() {
        let mut bytes = vec![0xff, 0xfe];
        bytes.extend("Grüße\n".encode_utf16().flat_map(u16::to_le_bytes));
        assert_eq!(read(&bytes).unwrap().text, "Grüße\n");
        let mut bytes = vec![0xfe, 0xff];
        bytes.extend("Grüße\n".encode_utf16().flat_map(u16::to_be_bytes));
        assert_eq!(read(&bytes).unwrap().text, "Grüße\n");
        assert_eq!(read(&bytes[2..]), Err(UnreadableReason::Binary));
        bytes.push(7);
        assert!(matches!(read(&bytes), Err(UnreadableReason::Corrupt { .. })));
    }

    #[test]
    fn a_western_text_is_read_and_that_is_said() {
        let decoded = read(b"Der K\xf6nig sagte: \x84Gr\xfc\xdfe\x93").unwrap();
        assert_eq!(decoded.text, "Der König sagte: „Grüße“");
        assert!(decoded.note.unwrap().contains("Windows-1252"));
    }

    #[test]
    fn a_few_bad_bytes_in_utf_8_are_replaced_and_that_is_said() {
        let mut bytes = "schöne Grüße aus Köln ".repeat(3).into_bytes();
        bytes.push(0xc3);
        bytes.extend(b" end");
        let decoded = read(&bytes).unwrap();
        assert!(decoded.text.contains("Köln \u{fffd} end"), "{}", decoded.text);
        assert_eq!(decoded.note.unwrap(), "1 places were not valid UTF-8 and were replaced");
    }

    #[test]
    fn an_encoding_that_cannot_be_told_is_refused_unless_it_is_named() {
        let (koi8, _, _) = Encoding::for_label(b"koi8-r").unwrap().encode("съешь ещё этих булок");
        assert_eq!(read(&koi8), Err(UnreadableReason::Encoding));
        let named = decode_text(koi8.into_owned(), Some("KOI8-R")).unwrap();
        assert_eq!((named.text.as_str(), named.note), ("съешь ещё этих булок", None));
    }

    #[test]
    fn what_is_binary_is_recognised() {
        assert_eq!(read(b"# looks\0like text"), Err(UnreadableReason::Binary));
        let noise: Vec<u8> = (0..=u8::MAX).map(|byte| byte.wrapping_mul(197) | 1).collect();
        assert_eq!(read(&noise), Err(UnreadableReason::Binary));
        assert!(!is_binary("\x1b[1mcoloured\x1b[0m\r\n\tindented".as_bytes()));
    }
}
