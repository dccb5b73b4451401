//! Following one turn to its end: events to the display, signals to the turn.

use lango_protocol::Outcome;
use lango_runtime::{TurnError, TurnHandle};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::display::Display;
use crate::failure::{self, Failure};

/// How a turn ended for whoever called the program.
pub(super) struct Followed {
    pub(super) outcome: Outcome,
    pub(super) code: u8,
}

/// Shows a turn until it ends. The first Ctrl-C stops the turn and waits for its account; a
/// second one leaves at once.
pub(super) async fn follow(
    mut handle: TurnHandle,
    display: &mut Display,
) -> Result<Followed, Failure> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let stopped = CancellationToken::new();
    let mut code = failure::INTERRUPTED;
    loop {
        tokio::select! {
            biased;
            _ = interrupt.recv() => {
                if stopped.is_cancelled() {
                    std::process::exit(i32::from(failure::INTERRUPTED));
                }
                stopped.cancel();
                handle.cancel();
            }
            _ = terminate.recv() => {
                code = failure::TERMINATED;
                stopped.cancel();
                handle.cancel();
            }
            _ = hang_up.recv() => {
                code = failure::TERMINATED;
                stopped.cancel();
                handle.cancel();
            }
            event = handle.next_event() => match event {
                // What cannot be shown, because the reader has gone, is still recorded.
                Some(event) => { let _ = display.event(&event); }
                None => break,
            },
        }
    }
    let outcome = match handle.outcome().await {
        // Stopped before its turn came: nothing was begun.
        Err(error @ TurnError::SessionBusy { .. }) if stopped.is_cancelled() => {
            return Err(Failure { code, message: error.to_string() });
        }
        ended => ended?,
    };
    let _ = display.finish(&outcome);
    if !stopped.is_cancelled() {
        code = failure::code_of(&outcome);
    }
    Ok(Followed { outcome, code })
}
