//! Separates the documents of a stream.
//!
//! Of server-sent events each line of data is one document, as all model providers use them; the
//! rest of an event is skipped, and so is its end.

use lango_egress::{LineDecoder, SseField, StreamTooLong};

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
    lines: LineDecoder,
}

impl Frames {
    pub(super) fn new(framing: Framing, max_document_bytes: usize) -> Self {
        Self { framing, lines: LineDecoder::new(max_document_bytes) }
    }

    /// Adds what came from the network.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
    }

    /// Gives the next complete document to `read`, and returns its result.
    pub(super) fn next_document<T>(
        &mut self,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StreamTooLong> {
        while let Some(line) = self.lines.next_line()? {
            if let Some(document) = self.framing.document_in(line) {
                return Ok(Some(read(document)));
            }
        }
        Ok(None)
    }

    /// Returns the rest when the connection has closed: a last line may lack its end.
    pub(super) fn last_document(&mut self) -> Option<&[u8]> {
        self.framing.document_in(self.lines.last_line()?)
    }
}

impl Framing {
    /// Returns the document in a line.
    fn document_in(self, line: &[u8]) -> Option<&[u8]> {
        let document = match self {
            Self::Events => match SseField::parse(line)? {
                SseField::Data(value) => value,
                _ => return None,
            },
            Self::Lines => line.trim_ascii_start(),
        };
        (!document.is_empty()).then_some(document)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collect(chunks: &[&[u8]]) -> Vec<String> {
        let mut frames = Frames::new(Framing::Events, 4096);
        let mut found = Vec::new();
        for chunk in chunks {
            frames.push(chunk);
            let read = |document: &[u8]| String::from_utf8(document.to_vec()).unwrap();
            while let Some(document) = frames.next_document(read).unwrap() {
                found.push(document);
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

    #[test]
    fn each_line_is_a_document_where_it_says_so() {
        let mut frames = Frames::new(Framing::Lines, 20);
        frames.push(b"  {\"a\":1}\r\n\n{\"b\":2}\n{\"c\"");
        let mut next = || frames.next_document(<[u8]>::to_vec).unwrap();
        assert_eq!(next().as_deref(), Some(&b"{\"a\":1}"[..]));
        assert_eq!(next().as_deref(), Some(&b"{\"b\":2}"[..]));
        assert_eq!(next(), None);
        assert_eq!(frames.last_document(), Some(&b"{\"c\""[..]));
        frames.push(&[b'x'; 21]);
        assert!(frames.next_document(<[u8]>::len).is_err());
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
