//! `lango a2a test`: a message, and how long each step takes.

use std::time::Instant;

use lango_a2a::remote::Directory;
use lango_protocol::{AgentName, CallId, SessionId, TurnId};
use lango_runtime::{RemoteAgent as _, RemoteReply, RemoteRequest, Scrubber};
use lango_text::make_lines_visible;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::super::Printer;
use crate::failure::{ExitStatus, Failure};

const GREETING: &str = "Hello. Who are you, and what can you do?";
/// Limits the pieces of text that may wait to be counted.
const MAX_PENDING_TEXT_COUNT: usize = 64;

pub(super) async fn test(
    printer: Printer,
    directory: &Directory,
    name: &AgentName,
    text: &str,
    scrubber: &Scrubber,
) -> Result<ExitStatus, Failure> {
    let start = Instant::now();
    let step = |what: &str, detail: &str| {
        printer.print(&format!("{:>7} ms  {what:<12} {detail}\n", start.elapsed().as_millis()))
    };
    let Some(status) = directory.check_agent(name).await else {
        return Err(Failure::failed(format!("{name} is not configured. See: lango a2a list")));
    };
    let present = match status.availability {
        Ok(present) => present,
        Err(error) => {
            let message = format!("{name} is not available: {error}");
            return Err(Failure::failed(message));
        }
    };
    let place = present.card.interface().map(|interface| {
        let (binding, version) = (interface.binding.as_str(), interface.version.as_str());
        format!("{} ({binding}, A2A {version})", interface.url)
    });
    step("card", &place.unwrap_or_default())?;
    let (words, mut pieces) = mpsc::channel(MAX_PENDING_TEXT_COUNT);
    let cancel = CancellationToken::new();
    let session = SessionId::generate();
    let request = RemoteRequest {
        session: session.clone(),
        turn: TurnId::generate(),
        call: CallId::generate(),
        task: if text.trim().is_empty() { GREETING } else { text }.to_owned(),
        user_text: text.to_owned(),
        images: Vec::new(),
        trace: None,
        scrubber: scrubber.clone(),
        words,
        cancel: cancel.clone(),
    };
    let asked = present.agent.ask(request);
    tokio::pin!(asked);
    let mut heard = false;
    let reply = loop {
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c(), if !cancel.is_cancelled() => cancel.cancel(),
            piece = pieces.recv(), if !heard => {
                heard = true;
                if piece.is_some() {
                    step("first words", "")?;
                }
            }
            reply = &mut asked => break reply,
        }
    };
    // This conversation is not continued.
    directory.forget(&session).await?;
    let (what, words, code) = match reply {
        RemoteReply::Answered { text } => ("answered", text, ExitStatus::Success),
        RemoteReply::NeedsInput { question } => ("asks", question, ExitStatus::Success),
        RemoteReply::Rejected { reason } => ("rejected", reason, ExitStatus::Failure),
        RemoteReply::Failed { reason } => ("failed", reason, ExitStatus::Failure),
    };
    step(what, "")?;
    let words = scrubber.scrub(&words);
    printer.print(&format!("{}\n", make_lines_visible(&words, "  | ")))?;
    Ok(code)
}
