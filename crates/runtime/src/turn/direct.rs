//! Runs a turn that consists of one call, which a program requested. The call takes the same path
//! as one that a model makes, but no model is called.

use lango_model::RequestedCall;
use lango_protocol::{DirectCall, EventBody, OutcomeStatus};

use super::{Stop, Turn};
use crate::decision::{Rules, decide_calls};
use crate::offer::Offer;
use crate::record::Phase;
use crate::recorder::{Draft, EndedTurn, Speaker};
use crate::team::Agent;

/// The final message of the turn; the result of the call says everything else.
const CALL_ENDED_TEXT: &str = "The call has ended.";

impl Turn {
    /// Makes the call, unless it was made before an interruption, and ends the turn.
    pub(super) async fn run_direct_call(&self, call: DirectCall) -> Result<Box<EndedTurn>, Stop> {
        let Some(agent) = self.team.agent(&call.agent) else {
            return Err(Stop::Rejected(format!("there is no agent {}", call.agent)));
        };
        let speaker = Speaker { agent: agent.name.clone(), branch: None };
        if self.recorder.inspect(|record| record.root.is_empty()).await {
            self.record_direct_call(agent, &speaker, call).await?;
        }
        if let Phase::Act(calls) = self.recorder.inspect(|record| record.root.phase()).await {
            self.act(agent, &speaker, calls).await?;
        }
        let message = EventBody::Message { text: CALL_ENDED_TEXT.to_owned(), answer: true };
        let drafts = vec![Draft::without_step(&speaker, message)];
        Ok(Box::new(self.recorder.record_end(drafts, OutcomeStatus::Done).await?))
    }

    /// Records the requested call, or the reason why it is refused.
    async fn record_direct_call(
        &self,
        agent: &Agent,
        speaker: &Speaker,
        call: DirectCall,
    ) -> Result<(), Stop> {
        let drafts = self.decide_direct_call(agent, speaker, call);
        Ok(self.recorder.record(drafts).await?)
    }

    fn decide_direct_call(&self, agent: &Agent, speaker: &Speaker, call: DirectCall) -> Vec<Draft> {
        let requested = RequestedCall { name: call.tool, arguments: call.arguments };
        let offer = Offer { tools: agent.tools.clone(), targets: Vec::new() };
        let rules = Rules {
            offer: &offer,
            agent: agent.name.as_str(),
            may_reject: false,
            rounds: 0,
            round_limit: 0,
            calls_left: self.limits().tool_calls,
            calls_per_reply: 1,
            is_repetition: &|_, _| false,
        };
        let bodies = decide_calls(vec![requested], "", &rules);
        bodies.into_iter().map(|body| Draft::without_step(speaker, body)).collect()
    }
}
