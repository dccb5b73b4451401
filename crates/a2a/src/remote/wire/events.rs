//! Parses server-sent events from a stream of bytes.

/// The event exceeds the size limit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EventTooLong;

/// Collects bytes and returns the data of complete events.
#[derive(Debug)]
pub(crate) struct EventParser {
    limit: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
}

impl EventParser {
    /// Creates a parser for events of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        let (line, data) = (Vec::new(), Vec::new());
        Self { limit, line, data, has_data: false, after_return: false }
    }

    /// Takes a piece and appends the data of the events that it completes to `whole`.
    pub(crate) fn push(
        &mut self,
        piece: &[u8],
        whole: &mut Vec<Vec<u8>>,
    ) -> Result<(), EventTooLong> {
        for &byte in piece {
            let ends = byte == b'\n' || byte == b'\r';
            // The second half of a CRLF.
            if byte == b'\n' && std::mem::take(&mut self.after_return) {
                continue;
            }
            self.after_return = byte == b'\r';
            if ends {
                self.end_line(whole);
            } else {
                self.line.push(byte);
                if self.line.len() + self.data.len() > self.limit {
                    return Err(EventTooLong);
                }
            }
        }
        Ok(())
    }

    fn end_line(&mut self, whole: &mut Vec<Vec<u8>>) {
        if self.line.is_empty() {
            let data = std::mem::take(&mut self.data);
            if std::mem::take(&mut self.has_data) {
                whole.push(data);
            }
            return;
        }
        if let Some(rest) = self.line.strip_prefix(b"data:") {
            let rest = rest.strip_prefix(b" ").unwrap_or(rest);
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(rest);
            self.has_data = true;
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = EventParser::new(100);
        let mut whole = Vec::new();
        for piece in pieces {
            events.push(piece, &mut whole).unwrap();
        }
        whole.into_iter().map(|data| String::from_utf8(data).unwrap()).collect()
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text = b": hello\r\nid: 1\ndata: {\"a\":\r\ndata:1}\r\n\r\ndata: b\n\n\nevent: x\n\ndata: half";
        let expected = ["{\"a\":\n1}", "b"];
        assert_eq!(events(&[text]), expected);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(events(&bytes), expected);
    }

    #[test]
    fn an_event_without_end_is_noticed() {
        let mut events = EventParser::new(10);
        assert_eq!(events.push(b"data: 1234567", &mut Vec::new()), Err(EventTooLong));
        let mut events = EventParser::new(10);
        let lines = b"data: 123\ndata: 456\ndata: 789\n";
        assert_eq!(events.push(lines, &mut Vec::new()), Err(EventTooLong));
    }
}
