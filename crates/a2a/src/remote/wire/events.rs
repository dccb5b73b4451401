//! Server-sent events, cut out of a stream of bytes.

/// What was sent is longer than an event may be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Collects bytes and gives out the data of whole events.
#[derive(Debug)]
pub(crate) struct Events {
    most: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
}

impl Events {
    /// Events of at most so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        let (line, data) = (Vec::new(), Vec::new());
        Self { most, line, data, has_data: false, after_return: false }
    }

    /// Takes a piece and adds the data of the events that it completes to `whole`.
    pub(crate) fn push(&mut self, piece: &[u8], whole: &mut Vec<Vec<u8>>) -> Result<(), TooLong> {
        for &byte in piece {
            let ends = byte == b'\n' || byte == b'\r';
            // The second half of one line end.
            if byte == b'\n' && std::mem::take(&mut self.after_return) {
                continue;
            }
            self.after_return = byte == b'\r';
            if ends {
                self.end_line(whole);
            } else {
                self.line.push(byte);
                if self.line.len() + self.data.len() > self.most {
                    return Err(TooLong);
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
        let mut events = Events::new(100);
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
        let mut events = Events::new(10);
        assert_eq!(events.push(b"data: 1234567", &mut Vec::new()), Err(TooLong));
        let mut events = Events::new(10);
        let lines = b"data: 123\ndata: 456\ndata: 789\n";
        assert_eq!(events.push(lines, &mut Vec::new()), Err(TooLong));
    }
}
