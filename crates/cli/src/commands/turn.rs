//! Follows one turn to its end: passes events to the display, and signals to the turn.

use std::time::Duration;

use lango_protocol::{Event, Outcome};
use lango_runtime::{TurnError, TurnHandle};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::failure::{ExitStatus, Failure};
use lango_terminal::Display;
use lango_terminal::restore_terminal;

/// Limits how long a stopped turn waits for a reader that does not read.
const FINAL_OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);

/// Says how a turn ended.
pub(super) struct FollowedTurn {
    pub(super) outcome: Outcome,
    pub(super) status: ExitStatus,
}

/// Shows a turn until it ends. The first Ctrl-C stops the turn and waits for its report; a second
/// one leaves at once.
///
/// Output is written on a thread of its own. If the reader is slow or stops reading, the session is
/// still held, and signals are handled.
pub(super) async fn follow_turn(
    mut handle: TurnHandle,
    display: Display,
) -> Result<(FollowedTurn, Display), Failure> {
    let mut signals = StopSignals::new()?;
    let screen = DisplayThread::new(display);
    let mut waiting: Option<Event> = None;
    let mut stopped: Option<ExitStatus> = None;
    loop {
        tokio::select! {
            biased;
            status = signals.next() => {
                if stopped.is_some() && status == ExitStatus::Interrupted {
                    // The repositories that commands made are disabled; who leaves at once is not
                    // told.
                    let _ = lango_sandbox::end_all_jobs();
                    restore_terminal();
                    std::process::exit(i32::from(status.code()));
                }
                stopped = Some(status);
                handle.cancel();
            }
            permit = screen.events.reserve(), if waiting.is_some() && stopped.is_none() => {
                // An event that cannot be shown, because the reader has gone, is still recorded.
                if let (Ok(permit), Some(event)) = (permit, waiting.take()) {
                    permit.send(event);
                }
            }
            event = handle.next_event(), if waiting.is_none() || stopped.is_some() => match event {
                // A turn that was stopped does not wait for its reader any more.
                Some(event) if stopped.is_some() => {
                    for event in waiting.take().into_iter().chain([event]) {
                        // What does not fit is in the journal.
                        let _ = screen.events.try_send(event);
                    }
                }
                Some(event) => waiting = Some(event),
                None => break,
            },
        }
    }
    let outcome = match handle.wait_for_outcome().await {
        // The turn was stopped while it waited for the session: it had not begun.
        Err(error @ TurnError::SessionBusy { .. }) if stopped.is_some() => {
            let status = stopped.unwrap_or(ExitStatus::Interrupted);
            return Err(Failure { status, message: error.to_string() });
        }
        ended => ended?,
    };
    let status = stopped.unwrap_or_else(|| ExitStatus::of(&outcome));
    let display = screen.finish(&outcome, &mut signals, stopped).await?;
    Ok((FollowedTurn { outcome, status }, display))
}

/// The display, on a thread that may wait for its reader.
struct DisplayThread {
    events: mpsc::Sender<Event>,
    thread: JoinHandle<Display>,
}

impl DisplayThread {
    /// Limits the events that may wait for the reader.
    const MAX_PENDING_EVENT_COUNT: usize = 64;

    fn new(mut display: Display) -> Self {
        let (events, mut arriving) = mpsc::channel(Self::MAX_PENDING_EVENT_COUNT);
        let thread = tokio::task::spawn_blocking(move || {
            while let Some(event) = arriving.blocking_recv() {
                // A closed output does not stop the turn; its events are in the journal.
                let _ = display.event(&event);
            }
            display
        });
        Self { events, thread }
    }

    /// Shows how the turn ended, once everything before it is shown. A user who stopped the turn,
    /// or stops now, does not wait for ever.
    async fn finish(
        self,
        outcome: &Outcome,
        signals: &mut StopSignals,
        stopped: Option<ExitStatus>,
    ) -> Result<Display, Failure> {
        drop(self.events);
        let timeout = async {
            match stopped {
                Some(status) => {
                    tokio::time::sleep(FINAL_OUTPUT_TIMEOUT).await;
                    status
                }
                None => std::future::pending().await,
            }
        };
        let status = tokio::select! {
            shown = self.thread => {
                let mut display = shown.map_err(std::io::Error::other)?;
                // The exit status says how the turn ended, even if the output is closed.
                let _ = display.finish(outcome);
                return Ok(display);
            }
            status = timeout => status,
            status = signals.next() => status,
        };
        let message = "what happened was recorded, but its reader did not take it".to_owned();
        Err(Failure { status, message })
    }
}

/// The signals that stop a turn, each as the exit status that it leads to.
pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl StopSignals {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    pub(crate) async fn next(&mut self) -> ExitStatus {
        tokio::select! {
            _ = self.interrupt.recv() => ExitStatus::Interrupted,
            _ = self.terminate.recv() => ExitStatus::Terminated,
            _ = self.hang_up.recv() => ExitStatus::Terminated,
        }
    }
}
