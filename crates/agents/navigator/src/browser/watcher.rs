//! Does what events ask for: sets up new tabs and frames, answers dialogs, stops downloads.

use std::time::Duration;

use lango_egress::ProxyCredentials;
use tokio::sync::{mpsc, watch};

use super::state::{Reaction, State};
use crate::protocol::{
    AuthResponse, CallError, CancelDownload, CloseTarget, Command, Connection, ContinueRequest,
    ContinueWithAuth, EnablePage, Event, HandleDialog, InterceptFileChooser, Navigate,
    RunIfWaiting, SetAutoAttach, SetLifecycleEvents, TargetFilter,
};

/// How long a reaction may take. Nobody waits for it.
const LIMIT: Duration = Duration::from_secs(20);

/// Follows the browser until it is gone. Never waits for an answer itself: answers come over the
/// same connection as events.
pub(super) async fn follow(
    connection: Connection,
    mut events: mpsc::Receiver<Event>,
    state: watch::Sender<State>,
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
                let _ = react(&connection, reaction, &state, &credentials).await;
            });
        }
    }
}

async fn react(
    connection: &Connection,
    reaction: Reaction,
    state: &watch::Sender<State>,
    credentials: &ProxyCredentials,
) -> Result<(), CallError> {
    match reaction {
        Reaction::SetUpTab { session } => {
            let tell = Tell { connection, session: &session };
            set_up_tab(&tell).await;
            state.send_modify(|state| {
                if let Some(tab) = state.tabs.iter_mut().find(|tab| tab.session == session) {
                    tab.is_ready = true;
                }
            });
            Ok(())
        }
        Reaction::SetUpFrame { session } => {
            let tell = Tell { connection, session: &session };
            let (_, _, running) = tokio::join!(
                tell.it(EnablePage {}),
                tell.it(attach_to("iframe")),
                tell.it(RunIfWaiting {})
            );
            running
        }
        Reaction::CloseTab { target, session } => {
            // A tab that waits for us holds up the page that opened it, also when it is closed.
            Tell { connection, session: &session }.it(RunIfWaiting {}).await?;
            connection.call(None, &CloseTarget { target_id: target }, LIMIT).await.map(drop)
        }
        Reaction::AnswerDialog { session, accept } => {
            Tell { connection, session: &session }.it(HandleDialog { accept }).await
        }
        Reaction::GoBlank { session } => {
            let blank = Navigate { url: "about:blank".to_owned() };
            Tell { connection, session: &session }.it(blank).await
        }
        Reaction::CancelDownload { guid } => {
            connection.call(None, &CancelDownload { guid }, LIMIT).await.map(drop)
        }
        Reaction::ContinueRequest { session, request } => {
            let command = ContinueRequest { request_id: request };
            Tell { connection, session: &session }.it(command).await
        }
        Reaction::Authenticate { session, request, is_our_proxy } => {
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
            Tell { connection, session: &session }.it(command).await
        }
    }
}

/// Said all at once: some of it is answered only when the tab runs, which is what comes last. A
/// part that is refused leaves the tab as usable as it can be.
async fn set_up_tab(tell: &Tell<'_>) {
    let _ = tokio::join!(
        tell.it(EnablePage {}),
        tell.it(SetLifecycleEvents { enabled: true }),
        tell.it(InterceptFileChooser { enabled: true }),
        tell.it(attach_to("iframe")),
        tell.it(RunIfWaiting {}),
    );
}

/// Attaches to targets of one type as they come, before they run.
pub(super) fn attach_to(kind: &'static str) -> SetAutoAttach {
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

struct Tell<'a> {
    connection: &'a Connection,
    session: &'a str,
}

impl Tell<'_> {
    async fn it<C: Command>(&self, command: C) -> Result<(), CallError> {
        self.connection.call(Some(self.session), &command, LIMIT).await.map(drop)
    }
}
