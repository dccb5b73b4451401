//! Server-sent events, as far as model providers use them: each `data:` line is one document.
//!
//! Works on bytes, so that a chunk may end in the middle of a character or of a line. Comments,
//! event names and ids are skipped; `\n`, `\r\n` and `\r` all end a line.

/// Collects bytes and gives out complete `data:` payloads.
#[derive(Debug, Default)]
pub(crate) struct DataLines {
    pending: Vec<u8>,
    /// Where the current line begins.
    start: usize,
    /// Up to where it is known to have no end: a long line is not searched again with each chunk.
    searched: usize,
}

impl DataLines {
    /// Adds what came from the network.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.pending.drain(..self.start);
            self.searched = self.searched.saturating_sub(self.start);
            self.start = 0;
        }
        self.pending.extend_from_slice(bytes);
    }

    /// The next complete payload.
    pub(crate) fn next_payload(&mut self) -> Option<&[u8]> {
        loop {
            let from = self.searched.max(self.start);
            let found = self.pending[from..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let Some(found) = found else {
                self.searched = self.pending.len();
                return None;
            };
            let line = self.start..from + found;
            self.start = line.end + 1;
            if let Some(payload) = payload_of(&self.pending[line.clone()]) {
                let range = line.start + payload.start..line.start + payload.end;
                return Some(&self.pending[range]);
            }
        }
    }

    /// What is left when the connection has closed: a last line may lack its end.
    pub(crate) fn last_payload(&mut self) -> Option<&[u8]> {
        let from = self.start;
        self.start = self.pending.len();
        let payload = payload_of(&self.pending[from..])?;
        Some(&self.pending[from + payload.start..from + payload.end])
    }

    /// How much is waiting for the rest of its line.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending.len() - self.start
    }
}

/// Where the payload of a `data:` line lies in it.
fn payload_of(line: &[u8]) -> Option<std::ops::Range<usize>> {
    let value = line.strip_prefix(b"data:")?;
    let value = value.strip_prefix(b" ").unwrap_or(value);
    (!value.is_empty()).then(|| line.len() - value.len()..line.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collect(chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = DataLines::default();
        let mut found = Vec::new();
        for chunk in chunks {
            lines.push(chunk);
            while let Some(payload) = lines.next_payload() {
                found.push(String::from_utf8(payload.to_vec()).unwrap());
            }
        }
        found.extend(lines.last_payload().map(|p| String::from_utf8(p.to_vec()).unwrap()));
        found
    }

    const BODY: &str = ": hello\r\nevent: x\r\ndata: {\"a\":\"é🌍\"}\r\n\r\ndata:{\"b\":1}\n\n\
                        data: {\"c\":2}\ndata: {\"d\":3}\n\ndata: [DONE]";

    #[test]
    fn every_way_to_cut_the_body_in_two_gives_the_same_payloads() {
        let whole = collect(&[BODY.as_bytes()]);
        assert_eq!(whole, [r#"{"a":"é🌍"}"#, r#"{"b":1}"#, r#"{"c":2}"#, r#"{"d":3}"#, "[DONE]"]);
        for at in 0..=BODY.len() {
            let (left, right) = BODY.as_bytes().split_at(at);
            assert_eq!(collect(&[left, right]), whole, "cut at {at}");
        }
    }

    /// Without the mark of what was searched this looks at some ten thousand million bytes.
    #[test]
    fn a_long_line_in_small_chunks_is_searched_once() {
        let mut lines = DataLines::default();
        lines.push(b"data: ");
        let mut seen = 0;
        for _ in 0..20_000 {
            lines.push(&[b'x'; 50]);
            assert_eq!(lines.next_payload(), None);
            seen += 50;
            assert_eq!(lines.searched, lines.pending.len());
        }
        lines.push(b"\ndata: next\n");
        assert_eq!(lines.next_payload().map(<[u8]>::len), Some(seen));
        assert_eq!(lines.next_payload(), Some(&b"next"[..]));
        assert_eq!(lines.next_payload(), None);
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_payloads(cuts in prop::collection::vec(0..BODY.len(), 0..9)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts {
                chunks.push(&BODY.as_bytes()[from..cut]);
                from = cut;
            }
            chunks.push(&BODY.as_bytes()[from..]);
            prop_assert_eq!(collect(&chunks), collect(&[BODY.as_bytes()]));
        }
    }
}
