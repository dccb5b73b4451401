//! Runs specialists: a single one, or several in parallel.

use futures_util::future::join_all;
use lango_protocol::{DelegationStatus, EventBody};

use super::{SpeakerFlow, SpeakerRole, Turn, TurnStop};
use crate::record::{Delegation, SpeakerPhase};
use crate::recorder::{EventDraft, Speaker};
use crate::team::{Agent, Specialist};

impl Turn {
    /// Runs the specialists of one reply in parallel.
    pub(super) async fn run_delegations(
        &self,
        delegations: Vec<Delegation>,
    ) -> Result<SpeakerFlow, TurnStop> {
        let direct = self.is_direct(&delegations).await;
        let branches = delegations.iter().map(|delegation| self.run_branch(delegation, direct));
        let mut flow = SpeakerFlow::Continue;
        let mut stopped = None;
        for result in join_all(branches).await {
            match result {
                Ok(SpeakerFlow::Finished(ended)) => flow = SpeakerFlow::Finished(ended),
                Ok(_) => {}
                Err(stop) => stopped = Some(stop),
            }
        }
        stopped.map_or(Ok(flow), Err)
    }

    /// Tells whether the answer goes straight to the user: for a single transfer whose result is
    /// not to be returned, while no plan is in progress.
    async fn is_direct(&self, delegations: &[Delegation]) -> bool {
        let [delegation] = delegations else { return false };
        self.recorder
            .inspect(|record| {
                let alone = record.root.transfers_in_reply_of(&delegation.call) == 1;
                let plans =
                    |name| self.team.find_specialist(name).is_some_and(Specialist::has_no_tools);
                let plan_under_way = record.reported.iter().any(plans);
                alone && !delegation.returns && !plan_under_way
            })
            .await
    }

    async fn run_branch(
        &self,
        delegation: &Delegation,
        direct: bool,
    ) -> Result<SpeakerFlow, TurnStop> {
        let agent = match self.team.find_specialist(&delegation.to) {
            Some(Specialist::Local { agent, .. }) => agent,
            Some(Specialist::Remote { name, agent, .. }) => {
                return self.ask_remote(name, agent.as_ref(), delegation, direct).await;
            }
            None => {
                // This happens only after a restart with other agents than before.
                let gone = format!("there is no agent {} any more", delegation.to);
                return self.abandon_delegation(delegation, gone).await;
            }
        };
        let speaker = Speaker { agent: agent.name.clone(), branch: Some(delegation.call.clone()) };
        match self
            .run_specialist(agent, &speaker, SpeakerRole::Specialist { delegation, direct })
            .await
        {
            Ok(flow) => Ok(flow),
            // A confused specialist does not end the turn; the orchestrator can still answer.
            Err(TurnStop::Model(reason)) => self.abandon_delegation(delegation, reason).await,
            Err(TurnStop::Provider(error)) if !direct => {
                self.abandon_delegation(delegation, error.to_string()).await
            }
            Err(stop) => Err(stop),
        }
    }

    async fn run_specialist(
        &self,
        agent: &Agent,
        speaker: &Speaker,
        role: SpeakerRole<'_>,
    ) -> Result<SpeakerFlow, TurnStop> {
        loop {
            if self.cancel.is_cancelled() {
                return Err(TurnStop::Interrupted);
            }
            let branch = speaker.branch.as_ref();
            let flow = match self
                .recorder
                .inspect(|record| record.transcript(branch).next_phase())
                .await
            {
                SpeakerPhase::Act(calls) => self.run_calls(agent, speaker, calls).await?,
                // A specialist makes no transfers: the decision refuses them before they are
                // recorded.
                SpeakerPhase::Think | SpeakerPhase::Delegate(_) => {
                    self.call_model(agent, speaker, role).await?
                }
            };
            if !matches!(flow, SpeakerFlow::Continue) {
                return Ok(flow);
            }
        }
    }

    pub(super) async fn abandon_delegation(
        &self,
        delegation: &Delegation,
        reason: String,
    ) -> Result<SpeakerFlow, TurnStop> {
        let body = EventBody::TransferFinished {
            call: delegation.call.clone(),
            to: delegation.to.clone(),
            status: DelegationStatus::Failed,
            text: reason,
        };
        self.recorder.record(vec![EventDraft::of_runtime(None, body)]).await?;
        Ok(SpeakerFlow::Ended)
    }
}
