//! Tells the orchestrator which remote agents wait for the user.

use lango_model::ContextBlock;
use lango_protocol::{ORCHESTRATOR, SessionId};
use lango_runtime::{ContextFuture, ContextRequest, ContextSource};
use lango_store::{Database, StoreError};

use super::directory::Directory;
use super::tasks::TaskStore;

/// Tells the orchestrator which question the user's message may answer.
pub struct OpenQuestions {
    tasks: TaskStore,
}

impl OpenQuestions {
    /// Creates the source from the tasks of a directory's agents.
    pub fn of(directory: &Directory) -> Self {
        Self { tasks: directory.tasks.clone() }
    }

    async fn text(&self, session: &SessionId) -> String {
        let waiting = self.tasks.waiting(session).await.unwrap_or_else(|error| {
            tracing::warn!(%session, %error, "the questions of remote agents cannot be read");
            Vec::new()
        });
        let line = |(agent, known): (String, super::tasks::RemoteTask)| {
            let question = sanitize(&known.question);
            format!(
                "{agent} waits for the user's answer to its question: \"{question}\". If the user's \
                 message answers it, hand it to {agent}; it gets the user's own words.\n"
            )
        };
        waiting.into_iter().map(line).collect()
    }
}

impl ContextSource for OpenQuestions {
    fn blocks<'a>(&'a self, request: ContextRequest<'a>) -> ContextFuture<'a> {
        Box::pin(async move {
            if *request.agent != *ORCHESTRATOR {
                return Vec::new();
            }
            match self.text(request.session).await {
                none if none.is_empty() => Vec::new(),
                text => vec![ContextBlock { source: "remote agents", text }],
            }
        })
    }
}

/// Returns an untrusted question as a quotation that cannot close itself.
fn sanitize(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '"' | '[' | ']' | '<' | '>') { ' ' } else { c }).collect()
}

/// Deletes the remote tasks of a deleted conversation.
pub async fn forget_session(database: Database, session: &SessionId) -> Result<(), StoreError> {
    TaskStore::open(database).await?.forget(session).await
}
