//! Runs a turn that consists of one call, which a program requested. The call takes the same path
//! as one that a model makes, but no model is called.

use lango_model::RequestedCall;
use lango_protocol::{DirectCall, EventBody, OutcomeStatus};

use super::{Turn, TurnStop};
use crate::decision::{ReplyRules, decide_calls};
use crate::offer::AgentOffer;
use crate::record::SpeakerPhase;
use crate::recorder::{EndedTurn, EventDraft, Speaker};
use crate::team::Agent;

/// The final message of the turn; the result of the call says everything else.
const CALL_ENDED_TEXT: &str = "The call has ended.";

impl Turn {
    /// Makes the call, unless it was made before an interruption, and ends the turn.
    pub(super) async fn run_direct_call(
        &self,
        call: DirectCall,
    ) -> Result<Box<EndedTurn>, TurnStop> {
        let Some(agent) = self.team.find_agent(&call.agent) else {
            return Err(TurnStop::Rejected(format!("there is no agent {}", call.agent)));
        };
        let speaker = Speaker { agent: agent.name.clone(), branch: None };
        if self.recorder.inspect(|record| record.root.is_empty()).await {
            self.record_direct_call(agent, &speaker, call).await?;
        }
        if let SpeakerPhase::Act(calls) =
            self.recorder.inspect(|record| record.root.next_phase()).await
        {
            self.run_calls(agent, &speaker, calls).await?;
        }
        let message = EventBody::Message { text: CALL_ENDED_TEXT.to_owned(), answer: true };
        let drafts = vec![EventDraft::without_step(&speaker, message)];
        Ok(Box::new(self.recorder.record_end(drafts, OutcomeStatus::Done).await?))
    }

    /// Records the requested call, or the reason why it is refused.
    async fn record_direct_call(
        &self,
        agent: &Agent,
        speaker: &Speaker,
        call: DirectCall,
    ) -> Result<(), TurnStop> {
        let drafts = self.decide_direct_call(agent, speaker, call);
        Ok(self.recorder.record(drafts).await?)
    }

    fn decide_direct_call(
        &self,
        agent: &Agent,
        speaker: &Speaker,
        call: DirectCall,
    ) -> Vec<EventDraft> {
        let requested = RequestedCall { name: call.tool, arguments: call.arguments };
        let offer = AgentOffer { tools: agent.tools.clone(), targets: Vec::new() };
        let rules = ReplyRules {
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
        bodies.into_iter().map(|body| EventDraft::without_step(speaker, body)).collect()
    }
}
