//! Exchanges messages with a program, one per line.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;

use super::conduct::{MAX_MESSAGE_BYTES, ServerConduct};

/// A transport with one message per line. A line that is too long, or too many invalid lines,
/// close the connection, because messages may have been lost.
pub(crate) struct LineTransport<R, W> {
    read: BufReader<R>,
    /// The part of the next line that was read. It is stored here, because sending interrupts
    /// reading.
    line: Vec<u8>,
    /// The lock keeps messages that are sent at the same time apart.
    write: Arc<Mutex<Option<W>>>,
    conduct: Arc<ServerConduct>,
}

impl<R: AsyncRead + Unpin + Send, W> LineTransport<R, W> {
    pub(crate) fn new(read: R, write: W, conduct: Arc<ServerConduct>) -> Self {
        let write = Arc::new(Mutex::new(Some(write)));
        Self { read: BufReader::new(read), line: Vec::new(), write, conduct }
    }

    /// Reads until the line is complete. Returns false at the end.
    async fn next_line(&mut self) -> bool {
        loop {
            let Ok(available) = self.read.fill_buf().await else { return false };
            if available.is_empty() {
                return false;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let take = end.map_or(available.len(), |end| end + 1);
            if self.line.len() + take > MAX_MESSAGE_BYTES {
                self.conduct.close(format!(
                    "it sent a message of more than {} MiB",
                    MAX_MESSAGE_BYTES >> 20
                ));
                return false;
            }
            self.line.extend_from_slice(&available[..take]);
            self.read.consume(take);
            if end.is_some() {
                return true;
            }
        }
    }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            let mut bytes = serde_json::to_vec(&item)?;
            bytes.push(b'\n');
            let mut write = write.lock().await;
            let Some(write) = write.as_mut() else {
                return Err(io::Error::new(io::ErrorKind::NotConnected, "it is closed"));
            };
            write.write_all(&bytes).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        while self.next_line().await {
            let line = self.line.trim_ascii();
            let message = (!line.is_empty()).then(|| serde_json::from_slice(line));
            self.line.clear();
            match message {
                Some(Ok(message)) => return Some(message),
                None => {}
                // Some programs print log lines to their standard output.
                Some(Err(_)) if self.conduct.record_invalid_line() => {}
                Some(Err(_)) => return None,
            }
        }
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.write.lock().await.take());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn messages_come_out_whole_between_garbage_and_a_long_one_ends_it() {
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let conduct = Arc::new(ServerConduct::default());
        let (read, write) = tokio::io::split(ours);
        let mut lines = LineTransport::new(read, write, Arc::clone(&conduct));
        let note = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        theirs.write_all(format!("hello\n\n{{\n{note}\r\n").as_bytes()).await.unwrap();
        assert!(lines.receive().await.is_some());
        assert_eq!(conduct.fault(), None);
        let writing = tokio::spawn(async move {
            let piece = vec![b'x'; 1 << 20];
            while theirs.write_all(&piece).await.is_ok() {}
        });
        assert!(lines.receive().await.is_none());
        assert!(conduct.fault().unwrap().contains("8 MiB"));
        writing.abort();
    }
}
