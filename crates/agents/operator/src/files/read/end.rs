//! Reads the last lines of a large file, without what is before them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::ReadResult;
use crate::files::content::{SNIFFED_BYTES, describe_binary, is_binary};

/// Is the end of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileEnd {
    Lines { bytes: Vec<u8>, lines: u64, is_cut: bool },
    Binary { size: u64, kind: &'static str },
}

impl FileEnd {
    pub(super) fn into_result(self, path: String) -> ReadResult {
        match self {
            Self::Binary { size, kind } => ReadResult::Binary { path, size, kind },
            Self::Lines { bytes, lines, is_cut } => {
                let text = String::from_utf8_lossy(&bytes);
                // A line that was cut may begin within a character.
                let is_whole = !is_cut || !text.starts_with('\u{fffd}');
                let text = if is_whole { &text } else { text.trim_start_matches('\u{fffd}') };
                let replaced_bytes = text.contains('\u{fffd}');
                ReadResult::End { path, text: text.to_owned(), lines, replaced_bytes, is_cut }
            }
        }
    }
}

/// Reads at most `max_bytes` at the end of a file, and returns as many of the last lines as were asked
/// for and fit.
pub(super) fn read_end(file: &File, size: u64, last: u64, max_bytes: usize) -> io::Result<FileEnd> {
    let mut head = vec![0; SNIFFED_BYTES];
    let read = file.read_at(&mut head, 0)?;
    if is_binary(&head[..read]) {
        return Ok(FileEnd::Binary { size, kind: describe_binary(&head[..read]) });
    }
    let start = size.saturating_sub(max_bytes as u64);
    let mut bytes = vec![0; usize::try_from(size - start).unwrap_or(max_bytes)];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], start + filled as u64)? {
            // It became shorter meanwhile.
            0 => break,
            read => filled += read,
        }
    }
    bytes.truncate(filled);
    Ok(cut_lines(bytes, last, start == 0))
}

/// Returns the last lines of some bytes, which are the whole file or only its end.
fn cut_lines(mut bytes: Vec<u8>, last: u64, is_whole: bool) -> FileEnd {
    let ends = bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    // The end of the last line begins no other one.
    let begins = ends.map(|(at, _)| at + 1).filter(|begin| *begin < bytes.len());
    let mut begins: Vec<usize> = begins.take(usize::try_from(last).unwrap_or(usize::MAX)).collect();
    let mut is_cut = false;
    if (begins.len() as u64) < last {
        // Not all lines that were asked for are here. Of those that are, the first may not be whole.
        is_cut = !is_whole;
        if is_whole || begins.is_empty() {
            begins.push(0);
        }
    }
    let begin = begins.last().copied().unwrap_or(0);
    let lines = if bytes.is_empty() { 0 } else { begins.len() as u64 };
    bytes.drain(..begin);
    FileEnd::Lines { bytes, lines, is_cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str, last: u64, is_whole: bool) -> (String, u64, bool) {
        match cut_lines(text.as_bytes().to_vec(), last, is_whole) {
            FileEnd::Lines { bytes, lines, is_cut } => {
                (String::from_utf8(bytes).unwrap(), lines, is_cut)
            }
            binary @ FileEnd::Binary { .. } => panic!("{binary:?}"),
        }
    }

    #[test]
    fn the_last_lines_are_cut_off() {
        for (text, last, expected, lines) in [
            ("a\nb\nc\n", 2, "b\nc\n", 2),
            ("a\nb\nc", 2, "b\nc", 2),
            ("a\nb\nc\n", 3, "a\nb\nc\n", 3),
            ("a\nb\nc\n", 9, "a\nb\nc\n", 3),
            ("a\n\n", 1, "\n", 1),
            ("", 2, "", 0),
        ] {
            assert_eq!(
                end(text, last, true),
                (expected.to_owned(), lines, false),
                "{text:?} {last}"
            );
        }
    }

    #[test]
    fn a_line_that_is_not_whole_is_left_out_unless_it_is_the_only_one() {
        assert_eq!(end("rest of a\nb\nc\n", 9, false), ("b\nc\n".to_owned(), 2, true));
        assert_eq!(end("rest of a\nb\nc\n", 2, false), ("b\nc\n".to_owned(), 2, false));
        assert_eq!(end("rest of a", 9, false), ("rest of a".to_owned(), 1, true));
    }
}
