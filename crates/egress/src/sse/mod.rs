//! Reads server-sent events, as the HTML standard defines them, from bytes as they arrive.
//!
//! [`LineDecoder`] cuts a stream into lines, [`SseField`] reads one line, and [`SseDecoder`]
//! collects lines into events. Some servers write one document on each line and no empty line after
//! it; they are read with the first two. Nothing here grows beyond a limit that the caller sets,
//! and nothing is allocated for a line or an event: both are lent from buffers that are used again.

mod event;
mod line;

pub use event::{SseDecoder, SseEvent};
pub use line::{LineDecoder, SseField, StreamTooLong};

#[cfg(test)]
mod tests;
