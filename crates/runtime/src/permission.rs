//! From a prepared call to the permission to run it: rules, then a person.
//!
//! A permission is bound to a proposal. Right before the call runs the tool is asked to propose
//! again, and what differs does not run.

use std::path::Path;
use std::time::Duration;

use lango_protocol::{ApprovalDecision, EventBody, Timestamp};
use lango_store::{Answer, AnswerOutcome, StoreError};
use lango_tool::{Prepared, Proposal, RegisteredTool, visible_lines};

use crate::approval::{self, ApprovalAnswer, ApprovalRequest, Case, Rule, Verdict};
use crate::call_report::Refusal;
use crate::record::PendingCall;
use crate::recorder::{Draft, Voice};
use crate::team::Agent;
use crate::turn::{Stop, Turn};

/// How often the journal is looked at for an answer from another process.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// What a call may do.
pub(crate) enum Permission {
    /// Run, if it still is what was decided on.
    Granted(Option<Proposal>),
    /// Not run.
    Withheld(Refusal),
}

/// The question that is asked, and what it is bound to.
struct Question {
    summary: String,
    digest: String,
    expires_at: Timestamp,
    /// What "always" stores.
    always: Vec<Rule>,
}

impl Turn {
    /// Whether a call of this tool can run without anybody, or any rule, being consulted.
    pub(crate) fn needs_no_permission(&self, agent: &Agent, tool: &RegisteredTool) -> bool {
        !self.shared.settings.approval_policy.needs_decision(tool)
            && !self.shared.rules.objects_to(tool.name(), &agent.name)
    }

    /// Finds out whether a call may run.
    pub(crate) async fn permission(
        &self,
        agent: &Agent,
        voice: &Voice,
        call: &PendingCall,
        tool: &RegisteredTool,
        proposal: Proposal,
    ) -> Result<Permission, Stop> {
        let rules = self.shared.rules.current().await?;
        let case = Case {
            tool: tool.name(),
            agent: &agent.name,
            directory: Path::new(&self.shared.workspace),
            proposal: &proposal,
        };
        let policy = self.shared.settings.approval_policy;
        let needs_decision = policy.needs_decision(tool);
        let verdict = match approval::decide(policy, needs_decision, &rules, &case) {
            // What is denied or asked about under the name that was called is so for what is
            // behind it.
            verdict @ (Verdict::Run { .. } | Verdict::Ask { .. }) if call.tool != tool.name() => {
                let called = Case { tool: &call.tool, ..case };
                match approval::decide(policy, false, &rules, &called) {
                    Verdict::Run { .. } => verdict,
                    stricter => stricter,
                }
            }
            verdict => verdict,
        };
        match verdict {
            Verdict::Run { because } if because.is_empty() => {
                return Ok(Permission::Granted(None));
            }
            Verdict::Run { because } => {
                let by = because.join(", ");
                self.record_decision(voice, call, ApprovalDecision::Approved, by).await?;
                return Ok(Permission::Granted(Some(proposal)));
            }
            Verdict::Refuse { because } => {
                let reason = format!("not allowed by {because}");
                self.record_decision(voice, call, ApprovalDecision::Denied, because).await?;
                return Ok(Permission::Withheld(Refusal::new(reason, "Do not try it again.")));
            }
            Verdict::Ask { .. } => {}
        }
        let question = Question {
            digest: approval::digest(&call.tool, &call.arguments, &proposal),
            expires_at: Timestamp::now().plus(self.shared.settings.approval_expiry),
            always: Rule::always(&case),
            summary: proposal.summary.clone(),
        };
        Ok(match self.ask_person(voice, call, question).await? {
            None => Permission::Granted(Some(proposal)),
            Some(refusal) => Permission::Withheld(refusal),
        })
    }

    /// Asks a person. Returns the refusal where the answer is no.
    async fn ask_person(
        &self,
        voice: &Voice,
        call: &PendingCall,
        question: Question,
    ) -> Result<Option<Refusal>, Stop> {
        let digest = &question.digest;
        let (denied, approved) = self
            .recorder
            .look(|record| (record.was_denied(digest), record.was_approved(&call.call, digest)))
            .await;
        if denied {
            let reason = "this very call was denied before in this turn";
            return Ok(Some(Refusal::new(reason, "Do not ask again.")));
        }
        if approved {
            // The process ended between the answer and the call.
            return Ok(None);
        }
        let answer = match self.shared.journal.approval_answer(&call.call, digest).await? {
            // Given while no process was there to take it.
            Some(answer) => answer,
            None => self.wait_for_answer(voice, call, &question).await?,
        };
        let Answer { decision, always, by } = answer;
        if decision == ApprovalDecision::Approved && always {
            for rule in &question.always {
                self.shared.rules.add(rule, &by).await?;
            }
        }
        self.record_decision(voice, call, decision, by.clone()).await?;
        Ok((decision == ApprovalDecision::Denied).then(|| {
            Refusal::new(format!("not approved ({by})"), "Do not try it again; tell the user.")
        }))
    }

    async fn wait_for_answer(
        &self,
        voice: &Voice,
        call: &PendingCall,
        question: &Question,
    ) -> Result<Answer, Stop> {
        let requested = EventBody::ApprovalRequested {
            call: call.call.clone(),
            tool: call.tool.clone(),
            summary: question.summary.clone(),
            digest: question.digest.clone(),
            expires_at: Some(question.expires_at),
            always: question.always.iter().map(ToString::to_string).collect(),
        };
        self.recorder.record(vec![Draft::beside(voice, requested)]).await?;
        let asked = self.shared.approver.ask(ApprovalRequest {
            session: self.recorder.session().clone(),
            call: call.call.clone(),
            agent: voice.agent.clone(),
            tool: call.tool.clone(),
            summary: question.summary.clone(),
            digest: question.digest.clone(),
            always: question.always.iter().map(ToString::to_string).collect(),
        });
        let denied = |by: &str| Answer {
            decision: ApprovalDecision::Denied,
            always: false,
            by: by.to_owned(),
        };
        let answer = tokio::select! {
            biased;
            () = self.cancel.cancelled() => denied("the turn was stopped"),
            answer = asked => match answer {
                ApprovalAnswer::Approved { by, always } => {
                    Answer { decision: ApprovalDecision::Approved, always, by }
                }
                ApprovalAnswer::Denied { by } | ApprovalAnswer::Nobody { why: by } => denied(&by),
            },
            answer = self.answer_from_elsewhere(call, &question.digest) => return Ok(answer?),
            () = tokio::time::sleep(self.shared.settings.approval_expiry) => {
                denied("nobody answered in time")
            }
        };
        // Somebody else may have been first; then theirs is the answer.
        let journal = &self.shared.journal;
        match journal.answer_approval(&call.call, &question.digest, &answer).await? {
            AnswerOutcome::Accepted => Ok(answer),
            AnswerOutcome::TooLate => {
                let first = journal.approval_answer(&call.call, &question.digest).await?;
                Ok(first.unwrap_or_else(|| denied("nobody answered in time")))
            }
        }
    }

    async fn answer_from_elsewhere(
        &self,
        call: &PendingCall,
        digest: &str,
    ) -> Result<Answer, StoreError> {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if let Some(answer) = self.shared.journal.approval_answer(&call.call, digest).await? {
                return Ok(answer);
            }
        }
    }

    async fn record_decision(
        &self,
        voice: &Voice,
        call: &PendingCall,
        decision: ApprovalDecision,
        by: String,
    ) -> Result<(), StoreError> {
        let call = call.call.clone();
        let resolved = EventBody::ApprovalResolved { call, decision, by };
        self.recorder.record(vec![Draft::runtime(voice.branch.as_ref(), resolved)]).await
    }
}

/// What a call would do, in the tool's words or in the model's.
pub(crate) fn proposal_of(prepared: &Prepared, call: &PendingCall) -> Proposal {
    prepared.propose().unwrap_or_else(|| {
        Proposal::plain(visible_lines(&call.arguments, &format!("{} ", call.tool)))
    })
}

/// Refuses a call that would do something else now than when it was decided on.
pub(crate) fn difference(decided: &Proposal, now: &Proposal) -> Option<Refusal> {
    if decided == now {
        return None;
    }
    let changed = decided
        .bound
        .iter()
        .find(|bound| !now.bound.contains(bound))
        .map_or("what it would do", |bound| bound.what.as_str());
    let reason = format!("{changed} has changed since this was decided on");
    Some(Refusal::new(reason, "Look at it again, then call again."))
}
