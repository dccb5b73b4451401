//! Cuts a stream of bytes into lines.

use std::ops::Range;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Says that a line or an event is longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a line or an event of more than {max_bytes} bytes")]
pub struct StreamTooLong {
    /// The limit.
    pub max_bytes: usize,
}

/// Collects bytes and lends out complete lines, without their ends. `\n`, `\r\n` and `\r` all end a
/// line; a mark of the byte order before the first one is skipped.
///
/// It works on bytes, so that a piece may end in the middle of a character or of a line end.
#[derive(Debug)]
pub struct LineDecoder {
    max_bytes: usize,
    pending: Vec<u8>,
    /// The start of the current line.
    start: usize,
    /// The end of the part that is known to have no line end: a long line is not searched again
    /// with each piece.
    searched: usize,
    /// True after a `\r`, whose `\n` may not have come yet.
    after_return: bool,
    at_first_line: bool,
}

impl LineDecoder {
    /// Makes a decoder for lines of at most `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            pending: Vec::new(),
            start: 0,
            searched: 0,
            after_return: false,
            at_first_line: true,
        }
    }

    /// Adds what came from the network. Take all lines out of it before the next piece: then no
    /// more is held than one line within the limit, and this piece.
    pub fn push(&mut self, piece: &[u8]) {
        if self.start > 0 {
            self.pending.drain(..self.start);
            self.searched = self.searched.saturating_sub(self.start);
            self.start = 0;
        }
        self.pending.extend_from_slice(piece);
    }

    /// Returns the next complete line.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, StreamTooLong> {
        let range = self.next_range()?;
        Ok(range.map(|range| &self.pending[range]))
    }

    /// Returns the rest when the stream has ended: a last line may lack its end.
    pub fn last_line(&mut self) -> Option<&[u8]> {
        self.skip_line_feed();
        let line = self.without_mark(self.start..self.pending.len());
        self.start = self.pending.len();
        (!line.is_empty()).then(|| &self.pending[line])
    }

    /// Returns the bytes that wait for the end of their line.
    pub(super) fn pending_bytes(&self) -> usize {
        self.pending.len() - self.start
    }

    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    fn next_range(&mut self) -> Result<Option<Range<usize>>, StreamTooLong> {
        self.skip_line_feed();
        let from = self.searched.max(self.start);
        let found = memchr::memchr2(b'\n', b'\r', &self.pending[from..]);
        let end = found.map_or(self.pending.len(), |found| from + found);
        if end - self.start > self.max_bytes {
            return Err(StreamTooLong { max_bytes: self.max_bytes });
        }
        if found.is_none() {
            self.searched = end;
            return Ok(None);
        }
        let line = self.without_mark(self.start..end);
        self.after_return = self.pending[end] == b'\r';
        self.start = end + 1;
        Ok(Some(line))
    }

    /// Skips the second half of a `\r\n`.
    fn skip_line_feed(&mut self) {
        if self.after_return && self.start < self.pending.len() {
            self.after_return = false;
            if self.pending[self.start] == b'\n' {
                self.start += 1;
            }
        }
    }

    fn without_mark(&mut self, line: Range<usize>) -> Range<usize> {
        let is_first = std::mem::take(&mut self.at_first_line);
        if is_first && self.pending[line.clone()].starts_with(BYTE_ORDER_MARK) {
            return line.start + BYTE_ORDER_MARK.len()..line.end;
        }
        line
    }
}

/// Represents a line of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SseField<'a> {
    /// A line of its data.
    Data(&'a [u8]),
    /// Its name.
    Event(&'a [u8]),
    /// Its id.
    Id(&'a [u8]),
    /// The milliseconds to wait before a new connection.
    Retry(u64),
}

impl<'a> SseField<'a> {
    /// Reads a line. Comments, unknown fields and values that the standard does not allow are
    /// `None`.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => Some(Self::Data(value)),
            b"event" => Some(Self::Event(value)),
            b"id" => (!value.contains(&0)).then_some(Self::Id(value)),
            // Without this check a sign would be accepted.
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                // A number that is too large or empty is ignored, as the standard wants it.
                Some(Self::Retry(std::str::from_utf8(value).ok()?.parse().ok()?))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the `searched` mark this would read about ten thousand million bytes.
    #[test]
    fn a_long_line_in_small_pieces_is_searched_once() {
        let mut lines = LineDecoder::new(2_000_000);
        lines.push(b"data: ");
        for _ in 0..20_000 {
            lines.push(&[b'x'; 50]);
            assert_eq!(lines.next_line(), Ok(None));
            assert_eq!(lines.searched, lines.pending.len());
        }
        lines.push(b"\ndata: next\n");
        assert_eq!(lines.next_line().unwrap().map(<[u8]>::len), Some(6 + 20_000 * 50));
        assert_eq!(lines.next_line(), Ok(Some(&b"data: next"[..])));
        assert_eq!(lines.next_line(), Ok(None));
    }
}
