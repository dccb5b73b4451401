//! Runs specialists: a single one, or several in parallel.

use futures_util::future::join_all;
use lango_protocol::{DelegationStatus, EventBody};

use super::{Flow, Role, Stop, Turn};
use crate::record::{Delegation, Phase};
use crate::recorder::{Draft, Speaker};
use crate::team::{Agent, Specialist};

impl Turn {
    /// Runs the specialists of one reply in parallel.
    pub(super) async fn delegate(&self, delegations: Vec<Delegation>) -> Result<Flow, Stop> {
        let direct = self.is_direct(&delegations).await;
        let branches = delegations.iter().map(|delegation| self.branch(delegation, direct));
        let mut flow = Flow::Continue;
        let mut stopped = None;
        for result in join_all(branches).await {
            match result {
                Ok(Flow::Finished(ended)) => flow = Flow::Finished(ended),
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
                let plans = |name| self.team.specialist(name).is_some_and(Specialist::has_no_tools);
                let plan_under_way = record.reported.iter().any(plans);
                alone && !delegation.returns && !plan_under_way
            })
            .await
    }

    async fn branch(&self, delegation: &Delegation, direct: bool) -> Result<Flow, Stop> {
        let agent = match self.team.specialist(&delegation.to) {
            Some(Specialist::Local { agent, .. }) => agent,
            Some(Specialist::Remote { name, agent, .. }) => {
                return self.ask_remote(name, agent.as_ref(), delegation, direct).await;
            }
            None => {
                // This happens only after a restart with other agents than before.
                let gone = format!("there is no agent {} any more", delegation.to);
                return self.give_up(delegation, gone).await;
            }
        };
        let speaker = Speaker { agent: agent.name.clone(), branch: Some(delegation.call.clone()) };
        match self.speak(agent, &speaker, Role::Specialist { delegation, direct }).await {
            Ok(flow) => Ok(flow),
            // A confused specialist does not end the turn; the orchestrator can still answer.
            Err(Stop::Model(reason)) => self.give_up(delegation, reason).await,
            Err(Stop::Provider(error)) if !direct => {
                self.give_up(delegation, error.to_string()).await
            }
            Err(stop) => Err(stop),
        }
    }

    async fn speak(&self, agent: &Agent, speaker: &Speaker, role: Role<'_>) -> Result<Flow, Stop> {
        loop {
            if self.cancel.is_cancelled() {
                return Err(Stop::Interrupted);
            }
            let branch = speaker.branch.as_ref();
            let flow = match self.recorder.inspect(|record| record.transcript(branch).phase()).await
            {
                Phase::Act(calls) => self.act(agent, speaker, calls).await?,
                // A specialist makes no transfers: the decision refuses them before they are
                // recorded.
                Phase::Think | Phase::Delegate(_) => self.think(agent, speaker, role).await?,
            };
            if !matches!(flow, Flow::Continue) {
                return Ok(flow);
            }
        }
    }

    pub(super) async fn give_up(
        &self,
        delegation: &Delegation,
        reason: String,
    ) -> Result<Flow, Stop> {
        let body = EventBody::TransferFinished {
            call: delegation.call.clone(),
            to: delegation.to.clone(),
            status: DelegationStatus::Failed,
            text: reason,
        };
        self.recorder.record(vec![Draft::runtime(None, body)]).await?;
        Ok(Flow::Ended)
    }
}
