//! Calls a speaker's model and records the meaning of its reply.

use std::sync::Arc;

use lango_model::{Colleague, ContextBlock, Message, ModelRequest, RequestRole, UserMessage};
use lango_protocol::{
    BudgetKind, DelegationStatus, EventBody, OutcomeStatus, PLANNER, WarningCode,
};

use super::{SpeakerFlow, Turn, TurnStop};
use crate::context::{ContextRequest, collect_context};
use crate::decision::{CompleteReply, Decision, ReplyRules, interpret_reply};
use crate::events_adapter::{earlier_calls, newest_turns_within};
use crate::offer::AgentOffer;
use crate::record::{Delegation, TurnRecord};
use crate::recorder::{EventDraft, Speaker};
use crate::team::{Agent, Specialist};
use crate::words;

/// The role in which an agent speaks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SpeakerRole<'a> {
    /// It is the agent that the user talks to.
    Root,
    /// A task was delegated to it.
    Specialist {
        delegation: &'a Delegation,
        /// True if its answer goes to the user and ends the turn.
        direct: bool,
    },
}

/// Holds the inputs of one model call, read from the record at once.
struct ModelCallPlan {
    step: u32,
    offer: AgentOffer,
    messages: Vec<Message>,
    note: Option<&'static str>,
    /// The limit that was reached, if the agent may only answer now.
    exhausted: Option<TurnStop>,
    rounds: u32,
    calls_left: u32,
    empty_replies: u32,
}

/// Limits the consecutive replies without any effect before an agent has to answer.
const MAX_FRUITLESS_REPLIES: usize = 3;

impl Turn {
    /// Makes one model call for `agent`.
    pub(crate) async fn call_model(
        &self,
        agent: &Agent,
        speaker: &Speaker,
        role: SpeakerRole<'_>,
    ) -> Result<SpeakerFlow, TurnStop> {
        let last_call = self.ask_spend_guard(role).await?;
        let mut plan = self
            .recorder
            .update(|record| self.plan_model_call(record, agent, speaker, role))
            .await?;
        if let (Some(account), None) = (last_call, &plan.exhausted) {
            plan.exhausted = Some(TurnStop::Spent(account));
            (plan.offer, plan.note) = (AgentOffer::default(), Some(words::ANSWER_NOW));
        }
        let mut blocks = self.collect_context(agent).await;
        blocks.extend(plan.note.map(|text| ContextBlock { source: "lango", text: text.into() }));
        let request = ModelRequest {
            role: self.request_role(agent, role),
            instruction: agent.system_prompt.clone(),
            context: blocks,
            messages: plan.messages,
            tools: plan.offer.declarations(),
            colleagues: self.colleagues(&plan.offer),
            earlier_calls: earlier_calls(&self.past),
            options: agent.model.options,
        };
        let model_reply = self.ask_model(agent, speaker, role, plan.step, request).await?;
        self.note_spending(&model_reply.notes).await?;
        let reply =
            CompleteReply { text: model_reply.text, calls: model_reply.calls, by: model_reply.by };
        let decision = self
            .recorder
            .inspect(|record| {
                interpret_reply(
                    reply,
                    &ReplyRules {
                        offer: &plan.offer,
                        agent: agent.name.as_str(),
                        may_reject: matches!(role, SpeakerRole::Specialist { .. }),
                        rounds: plan.rounds,
                        round_limit: self.round_limit(),
                        calls_left: plan.calls_left,
                        calls_per_reply: self.shared.settings.calls_per_reply,
                        is_repetition: &|tool, arguments| {
                            record.guard.is_repetition(&agent.name, tool, arguments)
                        },
                    },
                )
            })
            .await;
        let mut drafts: Vec<EventDraft> = model_reply
            .notes
            .into_iter()
            .map(|body| EventDraft::with_step(speaker, plan.step, body))
            .collect();
        let of = |body| EventDraft::with_step(speaker, plan.step, body);
        if let Some(stop) = &plan.exhausted {
            let mut text = format!("{} was asked to answer with what it has", agent.name);
            if let TurnStop::Spent(account) = stop {
                text.push_str(&format!(": {account}"));
            }
            drafts.push(of(EventBody::Warning { code: WarningCode::BudgetExhausted, text }));
        }
        match decision {
            Decision::Answer(text) => {
                self.record_answer(speaker, role, plan.step, text, drafts).await
            }
            Decision::Ask(text) => self.ask_user(speaker, role, plan.step, text, drafts).await,
            Decision::Reject(reason) => {
                drafts.push(of(EventBody::Rejected { reason: reason.clone() }));
                drafts.extend(finish_transfer(speaker, role, DelegationStatus::Rejected, reason));
                self.recorder.record(drafts).await?;
                Ok(SpeakerFlow::Ended)
            }
            Decision::Act(bodies) => {
                drafts.extend(bodies.into_iter().map(of));
                self.recorder.record(drafts).await?;
                plan.exhausted.map_or(Ok(SpeakerFlow::Continue), Err)
            }
            Decision::Empty => {
                let text = format!("{} said nothing", agent.name);
                drafts.push(of(EventBody::Warning { code: WarningCode::EmptyReply, text }));
                self.recorder.record(drafts).await?;
                match plan.exhausted {
                    Some(stop) => Err(stop),
                    None if plan.empty_replies > 0 => {
                        Err(TurnStop::Model(format!("{} said nothing, twice", agent.name)))
                    }
                    None => Ok(SpeakerFlow::Continue),
                }
            }
        }
    }

    /// Returns the context of the agent, which is collected once per turn.
    async fn collect_context(&self, agent: &Agent) -> Vec<ContextBlock> {
        let mut contexts = self.context.lock().await;
        if let Some(blocks) = contexts.get(&agent.name) {
            return blocks.clone();
        }
        let (message, sender) = self
            .recorder
            .inspect(|record| (record.user_message(None), record.sender.clone()))
            .await;
        let message = message.rendered();
        let request = ContextRequest {
            session: self.recorder.session(),
            turn: self.recorder.turn(),
            agent: &agent.name,
            message: &message,
            space: &self.space,
        };
        let mut blocks = collect_context(&self.shared.context, request).await;
        if agent.name == self.team.root.name {
            blocks.extend(self.team.cards.clone());
        }
        blocks.extend(sender.map(|sender| ContextBlock {
            source: "sender",
            text: words::describe_sender(&sender),
        }));
        contexts.insert(agent.name.clone(), blocks.clone());
        blocks
    }

    /// Tells whether an agent of this turn was shown context from other sources than these.
    pub(crate) async fn has_context_beyond(&self, sources: &[&str]) -> bool {
        let contexts = self.context.lock().await;
        contexts.values().flatten().any(|block| !sources.contains(&block.source))
    }

    pub(super) async fn record_answer(
        &self,
        speaker: &Speaker,
        role: SpeakerRole<'_>,
        step: u32,
        text: String,
        mut drafts: Vec<EventDraft>,
    ) -> Result<SpeakerFlow, TurnStop> {
        let message = EventBody::Message { text: text.clone(), answer: ends_turn(role) };
        drafts.push(EventDraft::with_step(speaker, step, message));
        drafts.extend(finish_transfer(speaker, role, DelegationStatus::Answered, text));
        self.end_part(role, drafts, OutcomeStatus::Done).await
    }

    /// Ends the agent's part with a question. The agent that talks to the user asks it.
    pub(super) async fn ask_user(
        &self,
        speaker: &Speaker,
        role: SpeakerRole<'_>,
        step: u32,
        question: String,
        mut drafts: Vec<EventDraft>,
    ) -> Result<SpeakerFlow, TurnStop> {
        let message = EventBody::Message { text: question.clone(), answer: ends_turn(role) };
        drafts.push(EventDraft::with_step(speaker, step, message));
        drafts.extend(finish_transfer(speaker, role, DelegationStatus::NeedsInput, question));
        self.end_part(role, drafts, OutcomeStatus::NeedsInput).await
    }

    async fn end_part(
        &self,
        role: SpeakerRole<'_>,
        drafts: Vec<EventDraft>,
        status: OutcomeStatus,
    ) -> Result<SpeakerFlow, TurnStop> {
        if ends_turn(role) {
            let ended = self.recorder.record_end(drafts, status).await?;
            return Ok(SpeakerFlow::Finished(Box::new(ended)));
        }
        self.recorder.record(drafts).await?;
        Ok(SpeakerFlow::Ended)
    }

    /// Takes one call from the budget and returns its number in the turn. The last one is reserved
    /// for the agent that speaks to the user.
    pub(super) fn spend_call(
        &self,
        record: &mut TurnRecord,
        role: SpeakerRole<'_>,
    ) -> Result<u32, TurnStop> {
        let limits = self.limits();
        let left = limits.model_calls.saturating_sub(record.spent.model_calls);
        if left <= u32::from(!ends_turn(role)) {
            return Err(TurnStop::Budget(BudgetKind::ModelCalls));
        }
        if record.spent.tokens >= limits.tokens {
            return Err(TurnStop::Budget(BudgetKind::Tokens));
        }
        record.spent.model_calls += 1;
        Ok(record.spent.model_calls)
    }

    /// Decides what this call may do, and takes it from the budget.
    fn plan_model_call(
        &self,
        record: &mut TurnRecord,
        agent: &Agent,
        speaker: &Speaker,
        role: SpeakerRole<'_>,
    ) -> Result<ModelCallPlan, TurnStop> {
        let step = self.spend_call(record, role)?;
        let limits = self.limits();
        let calls_left = limits.model_calls.saturating_sub(record.spent.model_calls);
        let reserved = u32::from(!ends_turn(role));
        let mut offer = self.choose_offer(record, agent, role);
        if matches!(role, SpeakerRole::Root)
            && offer.targets.is_empty()
            && !record.rejections.is_empty()
            && record.excluded.len() == self.team.specialists.len()
        {
            return Err(TurnStop::Rejected(record.rejections.join("; ")));
        }
        let transcript = record.transcript(speaker.branch.as_ref());
        let tool_calls_left = limits.tool_calls.saturating_sub(record.spent.tool_calls);
        let rounds = record.spent.delegation_rounds;
        let out_of_rounds = matches!(role, SpeakerRole::Root)
            && !self.team.specialists.is_empty()
            && rounds >= self.round_limit();
        let exhausted = if calls_left == reserved {
            Some(TurnStop::Budget(BudgetKind::ModelCalls))
        } else if tool_calls_left == 0 {
            Some(TurnStop::Budget(BudgetKind::ToolCalls))
        } else if transcript.fruitless_replies() >= MAX_FRUITLESS_REPLIES {
            Some(if transcript.repetitions() > 0 {
                TurnStop::Budget(BudgetKind::Repetition)
            } else if out_of_rounds {
                TurnStop::Budget(BudgetKind::DelegationRounds)
            } else {
                TurnStop::Model(format!("{} kept asking for what it cannot have", agent.name))
            })
        } else {
            None
        };
        let note = if exhausted.is_some() || out_of_rounds {
            Some(words::ANSWER_NOW)
        } else {
            (transcript.empty_replies() > 0).then_some(words::SAY_SOMETHING)
        };
        if exhausted.is_some() {
            offer = AgentOffer::default();
        }
        let mut messages = self.visible_messages(record, agent, role);
        messages.extend(transcript.messages());
        let empty_replies = transcript.empty_replies();
        Ok(ModelCallPlan {
            step,
            offer,
            messages,
            note,
            exhausted,
            rounds,
            calls_left: tool_calls_left,
            empty_replies,
        })
    }

    fn choose_offer(
        &self,
        record: &TurnRecord,
        agent: &Agent,
        role: SpeakerRole<'_>,
    ) -> AgentOffer {
        let may_transfer = matches!(role, SpeakerRole::Root)
            && record.spent.delegation_rounds < self.round_limit();
        let targets = if may_transfer {
            let specialists = self.team.specialists.iter().map(Specialist::name);
            specialists.filter(|name| !record.excluded.contains(*name)).cloned().collect()
        } else {
            Vec::new()
        };
        AgentOffer { tools: agent.tools.clone(), targets }
    }

    /// Returns the possible targets of a transfer, as they are described to the model.
    fn colleagues(&self, offer: &AgentOffer) -> Vec<Arc<Colleague>> {
        let specialists = offer.targets.iter().filter_map(|name| self.team.find_specialist(name));
        specialists.map(|specialist| Arc::clone(specialist.colleague())).collect()
    }

    /// Returns the conversation that this agent may see, up to its own part of this turn.
    fn visible_messages(
        &self,
        record: &TurnRecord,
        agent: &Agent,
        role: SpeakerRole<'_>,
    ) -> Vec<Message> {
        let is_root = matches!(role, SpeakerRole::Root);
        let past = newest_turns_within(&self.past, self.shared.settings.history_tokens);
        let mut messages: Vec<Message> =
            past.iter().flat_map(|turn| turn.messages_for(&agent.name, is_root)).collect();
        let task = match role {
            SpeakerRole::Root => None,
            SpeakerRole::Specialist { delegation, .. } => Some(delegation.task.as_str()),
        };
        let images = self.images.clone();
        messages.push(Message::User(UserMessage { images, ..record.user_message(task) }));
        messages
    }

    /// Returns the role of an agent, as its model gets it.
    fn request_role(&self, agent: &Agent, role: SpeakerRole<'_>) -> RequestRole {
        match role {
            SpeakerRole::Root if self.team.round_limit.is_some() => RequestRole::Orchestrator,
            SpeakerRole::Root => RequestRole::Single,
            SpeakerRole::Specialist { .. } if agent.name == *PLANNER && agent.tools.is_empty() => {
                RequestRole::Planner
            }
            SpeakerRole::Specialist { .. } => RequestRole::Specialist,
        }
    }
}

/// Tells whether an agent's last message goes to the user.
pub(super) fn ends_turn(role: SpeakerRole<'_>) -> bool {
    !matches!(role, SpeakerRole::Specialist { direct: false, .. })
}

/// Returns the event that ends a transfer, if there is one.
pub(super) fn finish_transfer(
    speaker: &Speaker,
    role: SpeakerRole<'_>,
    status: DelegationStatus,
    text: String,
) -> Option<EventDraft> {
    let SpeakerRole::Specialist { delegation, .. } = role else { return None };
    let to_root = Speaker { agent: speaker.agent.clone(), branch: None };
    let body = EventBody::TransferFinished {
        call: delegation.call.clone(),
        to: delegation.to.clone(),
        status,
        text,
    };
    Some(EventDraft::without_step(&to_root, body))
}
