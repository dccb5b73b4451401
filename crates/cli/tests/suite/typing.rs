//! Types at a terminal, as a person does: what is on the screen decides what is typed next.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;

use crate::invocation::{CommandOutput, Running, TEST_TIMEOUT};

/// The terminal is told to mark pastes when a line is awaited: from then on, keys count.
const READY: &str = "\u{1b}[?2004h";

/// Keeps keys apart that are not pasted. Shorter, and they would count as arriving at once where the machine is
/// busy.
const KEY_INTERVAL: Duration = Duration::from_millis(80);

/// What a terminal shows so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Screen {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Screen {
    pub(crate) fn reading(mut output: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let screen = Self::default();
        let bytes = Arc::clone(&screen.bytes);
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer).await {
                bytes.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        screen
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }
}

/// The binary at a terminal, with a person at its keys.
pub(crate) struct TypingSession<'a> {
    running: Running<'a>,
    keys: Option<ChildStdin>,
    screen: Screen,
    /// How much of the screen has been read.
    seen: usize,
}

impl<'a> TypingSession<'a> {
    pub(crate) fn new(running: Running<'a>, keys: ChildStdin, screen: Screen) -> Self {
        Self { running, keys: Some(keys), screen, seen: 0 }
    }

    /// Waits until this is on the screen, after what was waited for before.
    pub(crate) async fn wait_for(&mut self, text: &str) {
        let deadline = Instant::now() + TEST_TIMEOUT;
        loop {
            let shown = self.screen.text();
            if let Some(at) = shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            assert!(Instant::now() < deadline, "{text:?} was not shown: {shown}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Sends keys at once, as a paste does.
    pub(crate) async fn send(&mut self, keys: &str) {
        let keyboard = self.keys.as_mut().unwrap();
        keyboard.write_all(keys.as_bytes()).await.unwrap();
        keyboard.flush().await.unwrap();
    }

    /// Waits until keys count.
    pub(crate) async fn wait_until_ready(&mut self) {
        self.wait_for(READY).await;
    }

    /// Types keys one by one, once a line is awaited.
    pub(crate) async fn answer(&mut self, keys: &str) {
        self.wait_until_ready().await;
        for key in keys.chars() {
            self.send(&key.to_string()).await;
            tokio::time::sleep(KEY_INTERVAL).await;
        }
    }

    /// Pastes a text once a line is awaited, and presses Enter. However busy the machine is, this does
    /// not look like anything else.
    pub(crate) async fn paste(&mut self, text: &str) {
        self.wait_until_ready().await;
        self.send(&format!("\u{1b}[200~{text}\u{1b}[201~")).await;
        tokio::time::sleep(KEY_INTERVAL).await;
        self.send("\n").await;
    }

    /// Types Enter after each page of a long question, until this is on the screen.
    pub(crate) async fn answer_pages_until(&mut self, text: &str) {
        let deadline = Instant::now() + TEST_TIMEOUT;
        loop {
            let shown = self.screen.text();
            let rest = &shown[self.seen..];
            if rest.contains(text) {
                return self.wait_for(text).await;
            }
            if rest.contains("-- page ") {
                self.wait_for("-- page ").await;
                self.answer("\n").await;
            }
            assert!(Instant::now() < deadline, "{text:?} was not shown: {shown}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Types Enter whenever a line is awaited, until the program ends.
    pub(crate) async fn press_enter_until_the_end(mut self) -> CommandOutput {
        let keys = self.keys.take();
        let screen = self.screen.clone();
        let mut seen = self.seen;
        let typing = tokio::spawn(async move {
            let mut keys = keys.unwrap();
            loop {
                if let Some(at) = screen.text()[seen..].find(READY) {
                    seen += at + READY.len();
                    // The program may have ended.
                    let _ = keys.write_all(b"\n").await;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        let finished = self.finish().await;
        typing.abort();
        finished
    }

    /// Waits for the end. Nothing more is typed.
    pub(crate) async fn finish(self) -> CommandOutput {
        let Self { running, keys, screen, .. } = self;
        let mut finished = running.finish().await;
        drop(keys);
        finished.stdout = screen.text();
        finished
    }
}
