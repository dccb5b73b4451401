//! Separates the documents of a stream.
//!
//! Works on bytes, so that a chunk may end in the middle of a character or of a line. Of
//! server-sent events each `data:` line is one document, as all model providers use them; comments,
//! event names and ids are skipped. `\n`, `\r\n` and `\r` all end a line.

/// Says how the documents of a stream are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One document on each line.
    Lines,
}

/// Collects bytes and gives out complete documents.
#[derive(Debug)]
pub(super) struct Frames {
    framing: Framing,
    pending: Vec<u8>,
    /// The start of the current line.
    start: usize,
    /// The end of the part that is known to have no line end: a long line is not searched again
    /// with each chunk.
    searched: usize,
}

impl Frames {
    pub(super) fn new(framing: Framing) -> Self {
        Self { framing, pending: Vec::new(), start: 0, searched: 0 }
    }

    /// Adds what came from the network.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.pending.drain(..self.start);
            self.searched = self.searched.saturating_sub(self.start);
            self.start = 0;
        }
        self.pending.extend_from_slice(bytes);
    }

    /// Returns the next complete document.
    pub(super) fn next_document(&mut self) -> Option<&[u8]> {
        loop {
            let from = self.searched.max(self.start);
            let found = self.pending[from..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let Some(found) = found else {
                self.searched = self.pending.len();
                return None;
            };
            let line = self.start..from + found;
            self.start = line.end + 1;
            if let Some(document) = self.framing.document_in(&self.pending[line.clone()]) {
                let range = line.start + document.start..line.start + document.end;
                return Some(&self.pending[range]);
            }
        }
    }

    /// Returns the rest when the connection has closed: a last line may lack its end.
    pub(super) fn last_document(&mut self) -> Option<&[u8]> {
        let from = self.start;
        self.start = self.pending.len();
        let document = self.framing.document_in(&self.pending[from..])?;
        Some(&self.pending[from + document.start..from + document.end])
    }

    /// Returns the bytes that wait for the rest of their line.
    pub(super) fn pending_bytes(&self) -> usize {
        self.pending.len() - self.start
    }
}

impl Framing {
    /// Returns the range of the document in a line.
    fn document_in(self, line: &[u8]) -> Option<std::ops::Range<usize>> {
        let value = match self {
            Self::Events => {
                let value = line.strip_prefix(b"data:")?;
                value.strip_prefix(b" ").unwrap_or(value)
            }
            Self::Lines => line.trim_ascii_start(),
        };
        (!value.is_empty()).then(|| line.len() - value.len()..line.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collect(chunks: &[&[u8]]) -> Vec<String> {
        let mut frames = Frames::new(Framing::Events);
        let mut found = Vec::new();
        for chunk in chunks {
            frames.push(chunk);
            while let Some(document) = frames.next_document() {
                found.push(String::from_utf8(document.to_vec()).unwrap());
            }
        }
        found.extend(frames.last_document().map(|p| String::from_utf8(p.to_vec()).unwrap()));
        found
    }

    const BODY: &str = ": hello\r\nevent: x\r\ndata: {\"a\":\"é🌍\"}\r\n\r\ndata:{\"b\":1}\n\n\
                        data: {\"c\":2}\ndata: {\"d\":3}\n\ndata: [DONE]";

    #[test]
    fn every_way_to_cut_the_body_in_two_gives_the_same_documents() {
        let whole = collect(&[BODY.as_bytes()]);
        assert_eq!(whole, [r#"{"a":"é🌍"}"#, r#"{"b":1}"#, r#"{"c":2}"#, r#"{"d":3}"#, "[DONE]"]);
        for at in 0..=BODY.len() {
            let (left, right) = BODY.as_bytes().split_at(at);
            assert_eq!(collect(&[left, right]), whole, "cut at {at}");
        }
    }

    /// Without the `searched` mark this would read about ten thousand million bytes.
    #[test]
    fn a_long_line_in_small_chunks_is_searched_once() {
        let mut frames = Frames::new(Framing::Events);
        frames.push(b"data: ");
        let mut seen = 0;
        for _ in 0..20_000 {
            frames.push(&[b'x'; 50]);
            assert_eq!(frames.next_document(), None);
            seen += 50;
            assert_eq!(frames.searched, frames.pending.len());
        }
        frames.push(b"\ndata: next\n");
        assert_eq!(frames.next_document().map(<[u8]>::len), Some(seen));
        assert_eq!(frames.next_document(), Some(&b"next"[..]));
        assert_eq!(frames.next_document(), None);
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_documents(cuts in prop::collection::vec(0..BODY.len(), 0..9)) {
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
