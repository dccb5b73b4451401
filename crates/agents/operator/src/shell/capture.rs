//! Captures an output stream.

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Keeps the beginning of a stream; the rest is counted and dropped, so that the writer never
/// waits.
#[derive(Debug)]
pub(super) struct OutputCapture {
    kept: Vec<u8>,
    max_bytes: usize,
    dropped: u64,
}

impl OutputCapture {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { kept: Vec::new(), max_bytes, dropped: 0 }
    }

    /// Reads until the stream ends. What was read by then stays when this future is dropped.
    pub(super) async fn read_stream(&mut self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 32 * 1024];
        // A read error ends the stream.
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            let fits = count.min(self.max_bytes - self.kept.len());
            self.kept.extend_from_slice(&buffer[..fits]);
            self.dropped += (count - fits) as u64;
        }
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the kept text, with bytes that are not UTF-8 replaced.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }

    /// Returns the last `max_bytes` of the kept text, for a message that should stay short.
    pub(super) fn tail(&self, max_bytes: usize) -> String {
        let cut = self.kept.len().saturating_sub(max_bytes);
        let text = String::from_utf8_lossy(&self.kept[cut..]);
        if cut > 0 { format!("(… {cut} bytes before)\n{text}") } else { text.into_owned() }
    }
}
