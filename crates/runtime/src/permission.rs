//! Gets the permission to run a prepared call: from the rules first, then from a person.
//!
//! A permission is bound to a proposal. Right before the call runs, the tool proposes again, and a
//! call that differs does not run.

use std::path::Path;
use std::time::Duration;

use lango_protocol::{ApprovalDecision, EventBody, Space, Timestamp};
use lango_store::{AnswerOutcome, ApprovalAnswerRow, StoreError};
use lango_text::make_lines_visible;
use lango_tool::{ExcludedPaths, PreparedCall, Proposal, RegisteredTool, SafetyLevel};

use crate::approval::{self, ApprovalAnswer, ApprovalRequest, Rule, RuleCase, Verdict};
use crate::call_report::CallRefusal;
use crate::record::PendingCall;
use crate::recorder::{EventDraft, Speaker};
use crate::team::Agent;
use crate::turn::{Turn, TurnStop};

/// Sets how often the journal is read for an answer from another process.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Says why a call is asked about that otherwise would not be.
const FOREIGN_TEXT_NOTE: &str =
    "(asked because you did not say this, and the conversation has text that is not yours)";

/// The decision about a call.
pub(crate) enum Permission {
    /// The call may run: nothing had to be decided.
    NotNeeded,
    /// The call may run if its proposal is still the one that was approved.
    Granted,
    /// The call must not run.
    Withheld(CallRefusal),
}

/// Names the tool that a decision is about.
pub(crate) struct DecidedTool<'a> {
    pub(crate) name: &'a str,
    /// True if a call needs a decision whatever its proposal says.
    pub(crate) needs_decision: bool,
}

/// Holds the question for a person, and the digest that the answer is bound to.
struct PermissionQuestion {
    summary: String,
    digest: String,
    expires_at: Timestamp,
    /// The rules that "always" stores.
    always: Vec<Rule>,
}

impl Turn {
    /// Tells whether a call of this tool can run without consulting a person or a rule. What a call
    /// that only reads would do is known from its tool; any other is looked at.
    pub(crate) fn needs_no_permission(&self, agent: &Agent, tool: &RegisteredTool) -> bool {
        !self.shared.settings.approval_policy.needs_decision(tool)
            && tool.read_only
            && !self.shared.rules.may_object_to(tool.name(), &agent.name)
    }

    /// Returns the paths that a call must leave out, by rules for the name that was called or for the
    /// tool behind it.
    pub(crate) fn find_excluded_paths(
        &self,
        agent: &Agent,
        call: &PendingCall,
        tool: &RegisteredTool,
        proposal: &Proposal,
    ) -> ExcludedPaths {
        // They were read to decide about this call.
        let rules = self.shared.rules.cached_rules();
        let directory = Path::new(&self.shared.workspace);
        let case = RuleCase { tool: tool.name(), agent: &agent.name, directory, proposal };
        let called = RuleCase { tool: &call.tool, ..case };
        approval::find_excluded_paths(&rules, &[case, called])
    }

    /// Describes a tool for [`Turn::decide_permission`].
    pub(crate) fn tool_to_decide_on<'a>(&self, tool: &'a RegisteredTool) -> DecidedTool<'a> {
        let needs_decision = self.shared.settings.approval_policy.needs_decision(tool);
        DecidedTool { name: tool.name(), needs_decision }
    }

    /// Decides whether a call may run.
    pub(crate) async fn decide_permission(
        &self,
        speaker: &Speaker,
        call: &PendingCall,
        tool: DecidedTool<'_>,
        proposal: &Proposal,
    ) -> Result<Permission, TurnStop> {
        let rules = self.shared.rules.load_rules().await?;
        let case = RuleCase {
            tool: tool.name,
            agent: &speaker.agent,
            directory: Path::new(&self.shared.workspace),
            proposal,
        };
        let policy = self.shared.settings.approval_policy;
        let carries_foreign_text = self.carries_foreign_text(proposal).await?;
        let needs_decision = tool.needs_decision
            || carries_foreign_text
            || proposal.level == Some(SafetyLevel::Dangerous)
            || !proposal.rights.is_empty();
        let verdict = match approval::decide_call(policy, needs_decision, &rules, &case) {
            // A rule that denies or questions the name that was called also applies to the tool
            // behind it.
            verdict @ (Verdict::Run { .. } | Verdict::Ask { .. }) if call.tool != tool.name => {
                let called = RuleCase { tool: &call.tool, ..case };
                match approval::decide_call(policy, false, &rules, &called) {
                    Verdict::Run { .. } => verdict,
                    stricter => stricter,
                }
            }
            verdict => verdict,
        };
        match verdict {
            Verdict::Run { because } if because.is_empty() => {
                return Ok(Permission::NotNeeded);
            }
            Verdict::Run { because } => {
                let by = because.join(", ");
                self.record_decision(speaker, call, ApprovalDecision::Approved, by).await?;
                return Ok(Permission::Granted);
            }
            Verdict::Refuse { because } => {
                let reason = format!("not allowed by {because}");
                self.record_decision(speaker, call, ApprovalDecision::Denied, because).await?;
                return Ok(Permission::Withheld(CallRefusal::new(reason, "Do not try it again.")));
            }
            Verdict::Ask { .. } => {}
        }
        // What a question shows may be more than the call says: names of files, words of a command
        // without their quotes.
        let scrub = |text: &str| self.shared.scrubber.scrub(text).into_owned();
        let mut always = Rule::allowing_exactly(&case);
        if always.iter().map(ToString::to_string).any(|rule| scrub(&rule) != rule) {
            always.clear();
        }
        let question = PermissionQuestion {
            digest: approval::approval_digest(&call.tool, &call.arguments, proposal),
            expires_at: Timestamp::now().plus(self.shared.settings.approval_expiry),
            always,
            summary: if carries_foreign_text {
                format!("{}\n{FOREIGN_TEXT_NOTE}", scrub(&proposal.summary))
            } else {
                scrub(&proposal.summary)
            },
        };
        Ok(match self.ask_person(speaker, call, question).await? {
            None => Permission::Granted,
            Some(refusal) => Permission::Withheld(refusal),
        })
    }

    /// Asks a person. Returns a refusal if the answer is no.
    async fn ask_person(
        &self,
        speaker: &Speaker,
        call: &PendingCall,
        question: PermissionQuestion,
    ) -> Result<Option<CallRefusal>, TurnStop> {
        let digest = &question.digest;
        let (denied, approved) = self
            .recorder
            .inspect(|record| (record.was_denied(digest), record.was_approved(&call.call, digest)))
            .await;
        if denied {
            let reason = "this very call was denied before in this turn";
            return Ok(Some(CallRefusal::new(reason, "Do not ask again.")));
        }
        if approved {
            // The process ended between the answer and the call.
            return Ok(None);
        }
        let answer = match self.shared.journal.find_approval_answer(&call.call, digest).await? {
            // It was given while no process was waiting for it.
            Some(answer) => answer,
            None => self.wait_for_answer(speaker, call, &question).await?,
        };
        let ApprovalAnswerRow { decision, always, by } = answer;
        if decision == ApprovalDecision::Approved && always {
            for rule in &question.always {
                self.shared.rules.add(rule, &by).await?;
            }
        }
        self.record_decision(speaker, call, decision, by.clone()).await?;
        Ok((decision == ApprovalDecision::Denied).then(|| {
            CallRefusal::new(format!("not approved ({by})"), "Do not try it again; tell the user.")
        }))
    }

    async fn wait_for_answer(
        &self,
        speaker: &Speaker,
        call: &PendingCall,
        question: &PermissionQuestion,
    ) -> Result<ApprovalAnswerRow, TurnStop> {
        let requested = EventBody::ApprovalRequested {
            call: call.call.clone(),
            tool: call.tool.clone(),
            summary: question.summary.clone(),
            digest: question.digest.clone(),
            expires_at: Some(question.expires_at),
            always: question.always.iter().map(ToString::to_string).collect(),
        };
        self.recorder.record(vec![EventDraft::without_step(speaker, requested)]).await?;
        let approver_answer = self.shared.approver.ask(ApprovalRequest {
            session: self.recorder.session().clone(),
            call: call.call.clone(),
            agent: speaker.agent.clone(),
            tool: call.tool.clone(),
            summary: question.summary.clone(),
            digest: question.digest.clone(),
            always: question.always.iter().map(ToString::to_string).collect(),
        });
        let denied = |by: &str| ApprovalAnswerRow {
            decision: ApprovalDecision::Denied,
            always: false,
            by: by.to_owned(),
        };
        let answer = tokio::select! {
            biased;
            () = self.cancel.cancelled() => denied("the turn was stopped"),
            answer = approver_answer => match answer {
                ApprovalAnswer::Approved { by, always } => {
                    ApprovalAnswerRow { decision: ApprovalDecision::Approved, always, by }
                }
                ApprovalAnswer::Denied { by } | ApprovalAnswer::Unavailable { why: by } => denied(&by),
            },
            answer = self.poll_for_answer(call, question) => {
                return Ok(answer?.unwrap_or_else(|| denied("no answer arrived in time")));
            }
            () = tokio::time::sleep(self.shared.settings.approval_expiry) => {
                denied("no answer arrived in time")
            }
        };
        // Another process may have answered first; then its answer counts.
        let journal = &self.shared.journal;
        match journal.answer_approval(&call.call, &question.digest, &answer).await? {
            AnswerOutcome::Accepted => Ok(answer),
            AnswerOutcome::TooLate => {
                let first = journal.find_approval_answer(&call.call, &question.digest).await?;
                Ok(first.unwrap_or_else(|| denied("no answer arrived in time")))
            }
        }
    }

    /// Waits for an answer of another process. Returns none once the question has expired: from then
    /// on no process may answer it, even if the clock was set forward.
    async fn poll_for_answer(
        &self,
        call: &PendingCall,
        question: &PermissionQuestion,
    ) -> Result<Option<ApprovalAnswerRow>, StoreError> {
        let journal = &self.shared.journal;
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            // Looked at first, so that an answer in the last moment counts.
            let is_expired = question.expires_at <= Timestamp::now();
            let answer = journal.find_approval_answer(&call.call, &question.digest).await?;
            if answer.is_some() || is_expired {
                return Ok(answer);
            }
        }
    }

    async fn record_decision(
        &self,
        speaker: &Speaker,
        call: &PendingCall,
        decision: ApprovalDecision,
        by: String,
    ) -> Result<(), StoreError> {
        let call = call.call.clone();
        let resolved = EventBody::ApprovalResolved { call, decision, by };
        self.recorder.record(vec![EventDraft::of_runtime(speaker.branch.as_ref(), resolved)]).await
    }
}

/// Returns the effect of a call for an owner as the tool describes it, or else as the model wrote it.
pub(crate) fn build_proposal(
    prepared: &PreparedCall,
    call: &PendingCall,
    space: &Space,
) -> Proposal {
    prepared.propose_in(space).unwrap_or_else(|| {
        Proposal::plain(make_lines_visible(&call.arguments, &format!("{} ", call.tool)))
    })
}

/// Refuses a call whose effect has changed since it was approved.
pub(crate) fn refuse_if_changed(decided: &Proposal, now: &Proposal) -> Option<CallRefusal> {
    if decided == now {
        return None;
    }
    let changed = decided
        .bound
        .iter()
        .find(|bound| !now.bound.contains(bound))
        .map_or("what it would do", |bound| bound.what.as_str());
    let reason = format!("{changed} has changed since this was decided on");
    Some(CallRefusal::new(reason, "Look at it again, then call again."))
}
