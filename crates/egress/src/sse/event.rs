//! Collects lines into events.

use super::line::{LineDecoder, SseField, StreamTooLong};

/// Represents a complete event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// Its data, the lines joined by `\n`. `None` for an event that only sets an id or a wait.
    pub data: Option<&'a [u8]>,
    /// Its name.
    pub name: Option<&'a [u8]>,
    /// Its id.
    pub id: Option<&'a [u8]>,
    /// The milliseconds to wait before a new connection.
    pub retry: Option<u64>,
}

/// Collects bytes and lends out complete events. One that the end of the stream cuts off is not an
/// event.
#[derive(Debug)]
pub struct SseDecoder {
    pub(super) lines: LineDecoder,
    event: Partial,
}

/// Holds the fields of an event. The buffers are used again for the next one.
#[derive(Debug, Default)]
struct Partial {
    data: Vec<u8>,
    name: Vec<u8>,
    id: Vec<u8>,
    has_data: bool,
    has_name: bool,
    has_id: bool,
    retry: Option<u64>,
    /// The bytes of lines that are not kept, which count for the size all the same.
    other_bytes: usize,
    /// True once the event was lent out.
    is_complete: bool,
}

impl SseDecoder {
    /// Makes a decoder for events of at most `max_event_bytes`: the data, and the lines of other
    /// fields and comments whole.
    pub fn new(max_event_bytes: usize) -> Self {
        Self { lines: LineDecoder::new(max_event_bytes), event: Partial::default() }
    }

    /// Adds what came from the network. Take all events out of it before the next piece.
    pub fn push(&mut self, piece: &[u8]) {
        self.lines.push(piece);
    }

    /// Returns the next complete event.
    pub fn next_event(&mut self) -> Result<Option<SseEvent<'_>>, StreamTooLong> {
        if self.event.is_complete {
            self.event.clear();
        }
        let max_bytes = self.lines.max_bytes();
        loop {
            let Some(line) = self.lines.next_line()? else { break };
            if line.is_empty() {
                if self.event.is_empty() {
                    self.event.clear();
                    continue;
                }
                self.event.is_complete = true;
                return Ok(Some(self.event.lend()));
            }
            if line.len() + self.event.bytes() > max_bytes {
                return Err(StreamTooLong { max_bytes });
            }
            self.event.add(line);
        }
        if self.lines.pending_bytes() + self.event.bytes() > max_bytes {
            return Err(StreamTooLong { max_bytes });
        }
        Ok(None)
    }
}

impl Partial {
    fn add(&mut self, line: &[u8]) {
        let replace = |buffer: &mut Vec<u8>, value: &[u8]| {
            buffer.clear();
            buffer.extend_from_slice(value);
            true
        };
        match SseField::parse(line) {
            Some(SseField::Data(value)) => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
                return;
            }
            Some(SseField::Event(value)) => self.has_name = replace(&mut self.name, value),
            Some(SseField::Id(value)) => self.has_id = replace(&mut self.id, value),
            Some(SseField::Retry(wait)) => self.retry = Some(wait),
            None => {}
        }
        self.other_bytes += line.len();
    }

    fn bytes(&self) -> usize {
        self.data.len() + self.other_bytes
    }

    /// Tells whether no field was read: comments alone are no event.
    fn is_empty(&self) -> bool {
        !self.has_data && !self.has_name && !self.has_id && self.retry.is_none()
    }

    fn lend(&self) -> SseEvent<'_> {
        SseEvent {
            data: self.has_data.then_some(self.data.as_slice()),
            name: self.has_name.then_some(self.name.as_slice()),
            id: self.has_id.then_some(self.id.as_slice()),
            retry: self.retry,
        }
    }

    fn clear(&mut self) {
        self.data.clear();
        (self.has_data, self.has_name, self.has_id) = (false, false, false);
        (self.retry, self.other_bytes, self.is_complete) = (None, 0, false);
    }
}
