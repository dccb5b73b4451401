//! Connects the librarian to the runtime: it observes turns, advises on failures, and adds context.

use lango_model::ContextBlock;
use lango_protocol::{AgentName, Space};
use lango_runtime::{
    Advice, AdviceFuture, Advisor, ContextFuture, ContextRequest, ContextSource, FinishedTurn,
    ObserverFuture, TurnObserver,
};
use lango_store::Journal;

use crate::inquiries::gaps;
use crate::learnings::observe;
use crate::{Holdings, LibrarianError};

/// Learns from finished turns: failures become lessons, gaps become questions, answers become
/// knowledge. Observing a turn again changes nothing.
#[derive(Clone)]
pub struct LibrarianObserver {
    holdings: Holdings,
    journal: Journal,
}

impl LibrarianObserver {
    /// Creates an observer that reads turns from `journal`.
    pub fn new(holdings: Holdings, journal: Journal) -> Self {
        Self { holdings, journal }
    }

    async fn learn_from(&self, finished: &FinishedTurn) -> Result<(), LibrarianError> {
        let FinishedTurn { session, turn, .. } = finished;
        let events = finished.events(&self.journal).await?;
        let stores = self.holdings.in_space(&finished.space);
        stores.learnings().learn(session, *turn, &observe(&events)).await?;
        let inquiries = stores.inquiries();
        inquiries.recognise(session, &events).await?;
        inquiries.notice(session, &gaps(&events)).await?;
        // Counted last: recognising an answer needs the number of the turn before.
        inquiries.count_turn(session, *turn).await?;
        Ok(())
    }
}

impl TurnObserver for LibrarianObserver {
    fn finished<'a>(&'a self, turn: &'a FinishedTurn) -> ObserverFuture<'a> {
        Box::pin(async move {
            self.learn_from(turn)
                .await
                .map_err(|error| format!("the librarian could not learn from this turn: {error}"))
        })
    }
}

/// Tells an agent what helped when an error comes back.
#[derive(Debug, Clone)]
pub struct LibrarianAdvisor(pub Holdings);

impl Advisor for LibrarianAdvisor {
    fn advise<'a>(&'a self, space: &'a Space, tool: &'a str, error: &'a str) -> AdviceFuture<'a> {
        Box::pin(async move {
            // Advice is optional: a failed call must not fail again because of it.
            let stores = self.0.in_space(space);
            let advice =
                stores.learnings().advise(tool, error).await.unwrap_or_else(|failure| {
                    tracing::warn!(tool, error = %failure, "no lesson could be looked up");
                    None
                })?;
            Some(Advice { text: advice.text, remedy: advice.remedy })
        })
    }
}

/// Puts at most one open question into the context of the agent that asks them.
#[derive(Debug, Clone)]
pub struct InquiryContext {
    holdings: Holdings,
    agent: AgentName,
}

impl InquiryContext {
    /// Creates a source for this agent only.
    pub fn new(holdings: Holdings, agent: AgentName) -> Self {
        Self { holdings, agent }
    }
}

impl ContextSource for InquiryContext {
    fn blocks<'a>(&'a self, request: ContextRequest<'a>) -> ContextFuture<'a> {
        Box::pin(async move {
            if *request.agent != self.agent {
                return Vec::new();
            }
            let stores = self.holdings.in_space(request.space.own());
            let (session, turn) = (request.session, request.turn);
            // A turn works without the question too.
            let next = stores.inquiries().next_for_context(session, turn, request.message).await;
            let Ok(Some(inquiry)) = next else { return Vec::new() };
            let text = format!(
                "Pending inquiry {}: {}\nWhy: {}. Asked of the user only where it fits.",
                inquiry.id, inquiry.question, inquiry.why
            );
            vec![ContextBlock { source: "pending inquiry", text }]
        })
    }
}
