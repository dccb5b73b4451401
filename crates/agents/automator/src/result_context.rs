//! Shows a conversation the results of the work that it asked for.

use std::time::Duration;

use lango_model::ContextBlock;
use lango_protocol::{ORCHESTRATOR, SessionId, Timestamp};
use lango_runtime::{ContextFuture, ContextRequest, ContextSource};
use lango_store::WorkItem;
use lango_text::to_one_line;

use crate::JobBook;

/// Names the source. What is in it counts as text of others.
const SOURCE: &str = "background work";
/// Limits the results that are shown.
const MAX_SHOWN_COUNT: u32 = 5;
/// Limits the characters of a result.
const MAX_RESULT_CHARACTERS: usize = 1200;
/// Limits the characters of a title.
const MAX_TITLE_CHARACTERS: usize = 60;
/// Sets how long a result is shown.
const SHOWN_TIME: Duration = Duration::from_hours(24);

/// Tells the orchestrator what became of the work that its conversation asked for.
pub(crate) struct ResultContext {
    pub(crate) jobs: JobBook,
}

impl ResultContext {
    async fn load(&self, session: &SessionId) -> Vec<WorkItem> {
        let shown = i64::try_from(SHOWN_TIME.as_micros()).unwrap_or(i64::MAX);
        let since = Timestamp::now().as_microseconds().saturating_sub(shown);
        let since = Timestamp::from_microseconds(since);
        let results = self.jobs.journal().list_results_for(session, since, MAX_SHOWN_COUNT).await;
        results.unwrap_or_else(|error| {
            tracing::warn!(%session, %error, "results of background work cannot be read");
            Vec::new()
        })
    }
}

impl ContextSource for ResultContext {
    fn blocks<'a>(&'a self, request: ContextRequest<'a>) -> ContextFuture<'a> {
        Box::pin(async move {
            if *request.agent != *ORCHESTRATOR {
                return Vec::new();
            }
            let items = self.load(request.session).await;
            let items: Vec<&WorkItem> =
                items.iter().filter(|item| item.space == *request.space.own()).collect();
            if items.is_empty() {
                return Vec::new();
            }
            let lines: Vec<String> = items.into_iter().map(render).collect();
            let text = format!(
                "Work that this conversation asked for has ended, the newest first:\n{}",
                lines.join("\n")
            );
            vec![ContextBlock { source: SOURCE, text }]
        })
    }
}

fn render(item: &WorkItem) -> String {
    let title = to_one_line(&item.title, MAX_TITLE_CHARACTERS);
    let result = to_one_line(&item.result, MAX_RESULT_CHARACTERS);
    format!("- {} ({title}) is {}: {result}", item.id, item.state)
}
