//! Telling a client how far a turn is, where it wants to know.

use lango_protocol::{Caller, Event, EventBody};
use lango_runtime::OWNER;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};

/// Progress of one request.
pub(super) struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    told: u32,
    /// Whether the owner of this machine is told.
    is_owner: bool,
}

impl Progress {
    pub(super) fn of(caller: &Caller, context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        let is_owner = caller.as_str() == OWNER;
        Self { peer: context.peer.clone(), token, told: 0, is_owner }
    }

    /// Tells what an event means, if it means something to a client.
    pub(super) async fn tell(&mut self, event: &Event) {
        let Some(token) = &self.token else { return };
        let Some(words) = words(event, self.is_owner) else { return };
        self.told += 1;
        let progress =
            ProgressNotificationParam::new(token.clone(), f64::from(self.told)).with_message(words);
        // A client that does not listen any more is told nothing else either.
        if self.peer.notify_progress(progress).await.is_err() {
            self.token = None;
        }
    }
}

/// Says what an event means. What a call did is told to the owner alone: it may show what is on this
/// machine.
fn words(event: &Event, is_owner: bool) -> Option<String> {
    let agent = event.author.as_deref().unwrap_or("the team");
    match &event.body {
        EventBody::Transfer { to, .. } => Some(format!("{to} takes over")),
        EventBody::TransferFinished { to, .. } => Some(format!("{to} is done")),
        EventBody::ToolCall { tool, .. } => Some(format!("{agent} calls {tool}")),
        EventBody::ToolResult { report: Some(report), .. } if is_owner => {
            Some(format!("{agent}: {}", report.summary))
        }
        EventBody::ToolResult { tool, status, .. } => Some(format!("{agent}: {tool} {status}")),
        EventBody::ApprovalRequested { tool, .. } => {
            Some(format!("{tool} waits for the approval of the owner of this server"))
        }
        EventBody::Setback { .. } => Some(format!("{agent} tries again")),
        _ => None,
    }
}
