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

/// Holds the fields of an event.
#[derive(Debug, Default)]
struct Partial {
    data: Buffer,
    name: Buffer,
    id: Buffer,
    retry: Option<u64>,
    /// The bytes of lines that are not data, which count for the size all the same.
    other_bytes: usize,
    /// True once the event was lent out.
    is_complete: bool,
}

/// Holds a field. The memory is used again for the next event.
#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    is_set: bool,
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
        while let Some(line) = self.lines.next_line()? {
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
        match SseField::parse(line) {
            Some(SseField::Data(value)) => return self.data.append_line(value),
            Some(SseField::Event(value)) => self.name.replace(value),
            Some(SseField::Id(value)) => self.id.replace(value),
            Some(SseField::Retry(wait)) => self.retry = Some(wait),
            None => {}
        }
        self.other_bytes += line.len();
    }

    fn bytes(&self) -> usize {
        self.data.bytes.len() + self.other_bytes
    }

    /// Tells whether no field was read: comments alone are no event.
    fn is_empty(&self) -> bool {
        !self.data.is_set && !self.name.is_set && !self.id.is_set && self.retry.is_none()
    }

    fn lend(&self) -> SseEvent<'_> {
        SseEvent {
            data: self.data.lend(),
            name: self.name.lend(),
            id: self.id.lend(),
            retry: self.retry,
        }
    }

    fn clear(&mut self) {
        for buffer in [&mut self.data, &mut self.name, &mut self.id] {
            buffer.bytes.clear();
            buffer.is_set = false;
        }
        (self.retry, self.other_bytes, self.is_complete) = (None, 0, false);
    }
}

impl Buffer {
    fn append_line(&mut self, line: &[u8]) {
        if self.is_set {
            self.bytes.push(b'\n');
        }
        self.bytes.extend_from_slice(line);
        self.is_set = true;
    }

    fn replace(&mut self, value: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(value);
        self.is_set = true;
    }

    fn lend(&self) -> Option<&[u8]> {
        self.is_set.then_some(self.bytes.as_slice())
    }
}
