//! Notifies a client of the progress of a turn, if it asked for that.

use lango_protocol::{Caller, Event, EventBody};
use lango_runtime::OWNER;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};

/// Reports the progress of one request.
pub(super) struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    count: u32,
    /// True if the client is the owner of this machine.
    is_owner: bool,
}

impl Progress {
    pub(super) fn of(caller: &Caller, context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        let is_owner = caller.as_str() == OWNER;
        Self { peer: context.peer.clone(), token, count: 0, is_owner }
    }

    /// Sends a notification for an event that is of interest to a client.
    pub(super) async fn notify(&mut self, event: &Event) {
        let Some(token) = &self.token else { return };
        let Some(words) = describe_event(event, self.is_owner) else { return };
        self.count += 1;
        let progress = ProgressNotificationParam::new(token.clone(), f64::from(self.count))
            .with_message(words);
        // A client that is gone gets no further notifications.
        if self.peer.notify_progress(progress).await.is_err() {
            self.token = None;
        }
    }
}

/// Describes an event. Only the owner sees what a call did, because that may reveal data of this
/// machine.
fn describe_event(event: &Event, is_owner: bool) -> Option<String> {
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
