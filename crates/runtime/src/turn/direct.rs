//! A turn that consists of one call, which a program asked for instead of saying something. The call
//! takes the same path as one that a model makes; no model is asked.

use lango_model::RequestedCall;
use lango_protocol::{DirectCall, EventBody, OutcomeStatus};

use super::{Stop, Turn};
use crate::decision::{Decision, Reply, Rules, decide};
use crate::offer::Offer;
use crate::record::Phase;
use crate::recorder::{Draft, Ended, Voice};
use crate::team::Agent;

/// Ends the turn, where the result of the call says everything.
const ENDED: &str = "The call has ended.";

impl Turn {
    /// Makes the call, unless that was done before an interruption, and ends the turn.
    pub(super) async fn run_direct_call(&self, call: DirectCall) -> Result<Box<Ended>, Stop> {
        let Some(agent) = self.team.agent(&call.agent) else {
            return Err(Stop::Rejected(format!("there is no agent {}", call.agent)));
        };
        let voice = Voice { agent: agent.name.clone(), branch: None };
        if self.recorder.look(|record| record.root.is_empty()).await {
            self.record_direct_call(agent, &voice, call).await?;
        }
        if let Phase::Act(calls) = self.recorder.look(|record| record.root.phase()).await {
            self.act(agent, &voice, calls).await?;
        }
        let message = EventBody::Message { text: ENDED.to_owned(), answer: true };
        let drafts = vec![Draft::beside(&voice, message)];
        Ok(Box::new(self.recorder.record_end(drafts, OutcomeStatus::Done).await?))
    }

    /// Records what was asked for, or why it is refused.
    async fn record_direct_call(
        &self,
        agent: &Agent,
        voice: &Voice,
        call: DirectCall,
    ) -> Result<(), Stop> {
        let drafts = self.decide_direct_call(agent, voice, call);
        Ok(self.recorder.record(drafts).await?)
    }

    fn decide_direct_call(&self, agent: &Agent, voice: &Voice, call: DirectCall) -> Vec<Draft> {
        let requested = RequestedCall { name: call.tool, arguments: call.arguments };
        let reply = Reply { calls: vec![requested], ..Reply::default() };
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
        match decide(reply, &rules) {
            Decision::Act(bodies) => {
                bodies.into_iter().map(|body| Draft::beside(voice, body)).collect()
            }
            // A reply that consists of a call is never anything else.
            _ => Vec::new(),
        }
    }
}
