//! Reads messages from a stream of bytes: each ends with a zero byte.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// Holds what was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadMessage {
    /// A whole message.
    Message(Vec<u8>),
    /// A message that was too long, of which only the beginning was kept.
    TooLong(Vec<u8>),
}

/// Is enough of a long message to see what it answers.
const BEGINNING_BYTES: usize = 64;

/// Returns the next message; `None` at the end. It never holds more than `max_bytes`.
pub(super) async fn read_next(
    from: &mut (impl AsyncBufRead + Unpin),
    max_bytes: usize,
) -> io::Result<Option<ReadMessage>> {
    let mut message = Vec::new();
    let mut is_too_long = false;
    loop {
        let piece = from.fill_buf().await?;
        if piece.is_empty() {
            return Ok(None);
        }
        let end = piece.iter().position(|byte| *byte == 0);
        let part = &piece[..end.unwrap_or(piece.len())];
        if message.len() + part.len() > max_bytes {
            is_too_long = true;
            message.extend_from_slice(&part[..part.len().min(BEGINNING_BYTES)]);
            message.truncate(BEGINNING_BYTES);
            message.shrink_to_fit();
        } else if !is_too_long {
            message.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        from.consume(used);
        if end.is_some() {
            let kind = if is_too_long { ReadMessage::TooLong } else { ReadMessage::Message };
            return Ok(Some(kind(message)));
        }
    }
}

/// Returns the id of the call that the beginning of a message answers; none if it has none.
pub(super) fn answered_id(beginning: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(beginning).ok()?;
    let digits = text.strip_prefix("{\"id\":")?;
    let end = digits.find(|character: char| !character.is_ascii_digit())?;
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn messages_are_told_apart_wherever_the_stream_is_cut() {
        let bytes = b"{\"id\":1}\0\0{\"id\":22}\0half";
        for capacity in 1..30 {
            let mut reader = BufReader::with_capacity(capacity, &bytes[..]);
            let mut found = Vec::new();
            while let Some(ReadMessage::Message(message)) =
                read_next(&mut reader, 100).await.unwrap()
            {
                found.push(String::from_utf8(message).unwrap());
            }
            assert_eq!(found, ["{\"id\":1}", "", "{\"id\":22}"], "{capacity}");
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_message_that_is_too_long_keeps_its_beginning_only() {
        let long = format!("{{\"id\":77,\"result\":\"{}\"}}\0{{\"id\":78}}\0", "x".repeat(5000));
        for capacity in [1, 7, 64, 1000, 10_000] {
            let mut reader = BufReader::with_capacity(capacity, long.as_bytes());
            let Some(ReadMessage::TooLong(kept)) = read_next(&mut reader, 1000).await.unwrap()
            else {
                panic!("it was not too long");
            };
            assert!(kept.len() <= BEGINNING_BYTES);
            assert_eq!(answered_id(&kept), Some(77));
            let rest = read_next(&mut reader, 1000).await.unwrap();
            assert_eq!(rest, Some(ReadMessage::Message(b"{\"id\":78}".to_vec())));
        }
        assert_eq!(answered_id(b"{\"method\":\"x\""), None);
    }
}
