//! Carries out reactions to events: sets up new tabs and frames, answers dialogs, stops downloads.

use std::time::Duration;

use lango_egress::ProxyCredentials;
use tokio::sync::{mpsc, watch};

use super::state::{BrowserState, EventReaction};
use crate::protocol::{
    AuthResponse, BrowserEvent, CallError, CancelDownload, CloseTarget, Command, Connection,
    ContinueRequest, ContinueWithAuth, EnableFetch, EnablePage, FailRequest, HandleDialog,
    InterceptFileChooser, Navigate, RequestPattern, RunIfWaiting, SetAutoAttach,
    SetLifecycleEvents, TargetFilter,
};

/// Limits how long a reaction may take. No call waits for it.
const REACTION_TIMEOUT: Duration = Duration::from_secs(20);

/// Follows the browser until it is gone. It never waits for an answer itself: answers come over the
/// same connection as events.
pub(super) async fn follow_browser(
    connection: Connection,
    mut events: mpsc::Receiver<BrowserEvent>,
    state: watch::Sender<BrowserState>,
    credentials: ProxyCredentials,
) {
    while let Some(event) = events.recv().await {
        let mut reaction = None;
        state.send_modify(|state| reaction = state.apply(&event));
        if let Some(reaction) = reaction {
            let (connection, state) = (connection.clone(), state.clone());
            let credentials = credentials.clone();
            tokio::spawn(async move {
                // A target that is gone before it was answered needs no answer.
                let _ = carry_out_reaction(&connection, reaction, &state, &credentials).await;
            });
        }
    }
}

async fn carry_out_reaction(
    connection: &Connection,
    reaction: EventReaction,
    state: &watch::Sender<BrowserState>,
    credentials: &ProxyCredentials,
) -> Result<(), CallError> {
    match reaction {
        EventReaction::SetUpTab { session } => {
            let caller = TargetCaller { connection, session: &session };
            set_up_tab(&caller).await;
            state.send_modify(|state| {
                if let Some(tab) = state.tabs.iter_mut().find(|tab| tab.session == session) {
                    tab.is_ready = true;
                }
            });
            Ok(())
        }
        EventReaction::SetUpFrame { session } => {
            let caller = TargetCaller { connection, session: &session };
            let (_, _, running) = tokio::join!(
                caller.call(EnablePage {}),
                caller.call(attach_command("iframe")),
                caller.call(RunIfWaiting {})
            );
            running
        }
        EventReaction::CloseTab { target, session } => {
            // A tab that waits for the debugger blocks the page that opened it, also when it is
            // closed.
            TargetCaller { connection, session: &session }.call(RunIfWaiting {}).await?;
            let command = CloseTarget { target_id: target };
            connection.call(None, &command, REACTION_TIMEOUT).await.map(drop)
        }
        EventReaction::AnswerDialog { session, accept } => {
            TargetCaller { connection, session: &session }.call(HandleDialog { accept }).await
        }
        EventReaction::GoBlank { session } => {
            let blank = Navigate { url: "about:blank".to_owned() };
            TargetCaller { connection, session: &session }.call(blank).await
        }
        EventReaction::CancelDownload { guid } => {
            connection.call(None, &CancelDownload { guid }, REACTION_TIMEOUT).await.map(drop)
        }
        EventReaction::ContinueRequest { session, request } => {
            let command = ContinueRequest { request_id: request };
            TargetCaller { connection, session: &session }.call(command).await
        }
        EventReaction::AbortRequest { session, request } => {
            let command = FailRequest { request_id: request, error_reason: "Aborted" };
            TargetCaller { connection, session: &session }.call(command).await
        }
        EventReaction::Authenticate { session, request, is_our_proxy } => {
            let answer = if is_our_proxy {
                AuthResponse {
                    response: "ProvideCredentials",
                    username: Some(credentials.user().to_owned()),
                    password: Some(credentials.password().to_owned()),
                }
            } else {
                AuthResponse { response: "CancelAuth", username: None, password: None }
            };
            let command = ContinueWithAuth { request_id: request, auth_challenge_response: answer };
            TargetCaller { connection, session: &session }.call(command).await
        }
    }
}

/// Sends all commands at once: some are answered only when the tab runs, which the last one causes.
/// If one is refused, the tab stays as usable as possible.
async fn set_up_tab(caller: &TargetCaller<'_>) {
    let _ = tokio::join!(
        caller.call(watch_documents_command()),
        caller.call(EnablePage {}),
        caller.call(SetLifecycleEvents { enabled: true }),
        caller.call(InterceptFileChooser { enabled: true }),
        caller.call(attach_command("iframe")),
        caller.call(RunIfWaiting {}),
    );
}

/// Lets documents wait until it is decided whether they may be shown.
pub(super) fn watch_documents_command() -> EnableFetch {
    let documents = RequestPattern { resource_type: "Document" };
    EnableFetch { handle_auth_requests: false, patterns: Some(vec![documents]) }
}

/// Attaches to targets of one type as they appear, before they run.
pub(super) fn attach_command(kind: &'static str) -> SetAutoAttach {
    SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: true,
        filter: vec![
            TargetFilter { r#type: Some(kind), exclude: false },
            TargetFilter { r#type: None, exclude: true },
        ],
    }
}

struct TargetCaller<'a> {
    connection: &'a Connection,
    session: &'a str,
}

impl TargetCaller<'_> {
    async fn call<C: Command>(&self, command: C) -> Result<(), CallError> {
        self.connection.call(Some(self.session), &command, REACTION_TIMEOUT).await.map(drop)
    }
}
