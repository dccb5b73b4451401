//! Asking a speaker's model, and recording what its reply means.

use std::sync::Arc;

use lango_model::{Colleague, ContextBlock, Message, ModelRequest, RequestRole, UserMessage};
use lango_protocol::{
    BudgetKind, DelegationStatus, EventBody, OutcomeStatus, PLANNER, WarningCode,
};

use super::{Flow, Stop, Turn};
use crate::context::{ContextRequest, collect_context};
use crate::decision::{Decision, Reply, Rules, decide};
use crate::events_adapter::within;
use crate::offer::Offer;
use crate::record::{Delegation, TurnRecord};
use crate::recorder::{Draft, Voice};
use crate::team::{Agent, Specialist};
use crate::words;

/// As whom an agent speaks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Role<'a> {
    /// It is the one the user talks to.
    Root,
    /// It was handed a task.
    Specialist {
        delegation: &'a Delegation,
        /// Its answer goes to the user and ends the turn.
        direct: bool,
    },
}

/// What one model call is about, taken from the record in one look.
struct Plan {
    step: u32,
    offer: Offer,
    messages: Vec<Message>,
    note: Option<&'static str>,
    /// Set when nothing may be done any more but to answer: what ran out.
    last_word: Option<Stop>,
    rounds: u32,
    calls_left: u32,
    empty_replies: u32,
}

/// Replies in a row of which nothing may come before an agent is made to answer.
const FRUITLESS_REPLIES: usize = 3;

impl Turn {
    /// One model call of `agent`.
    pub(crate) async fn think(
        &self,
        agent: &Agent,
        voice: &Voice,
        role: Role<'_>,
    ) -> Result<Flow, Stop> {
        let plan = self.recorder.change(|record| self.plan(record, agent, voice, role)).await?;
        let mut blocks = self.context_of(agent).await;
        blocks.extend(plan.note.map(|text| ContextBlock { source: "lango", text: text.into() }));
        let request = ModelRequest {
            role: self.request_role(agent, role),
            instruction: agent.system_prompt.clone(),
            context: blocks,
            messages: plan.messages,
            tools: plan.offer.declarations(),
            colleagues: self.colleagues(&plan.offer),
            options: agent.model.options,
        };
        let heard = self.ask(agent, voice, role, plan.step, request).await?;
        let reply = Reply { text: heard.text, calls: heard.calls, by: heard.by };
        let decision = self
            .recorder
            .look(|record| {
                decide(
                    reply,
                    &Rules {
                        offer: &plan.offer,
                        agent: agent.name.as_str(),
                        may_reject: matches!(role, Role::Specialist { .. }),
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
        let mut drafts: Vec<Draft> =
            heard.notes.into_iter().map(|body| Draft::of(voice, plan.step, body)).collect();
        let of = |body| Draft::of(voice, plan.step, body);
        if plan.last_word.is_some() {
            let text = format!("{} was asked to answer with what it has", agent.name);
            drafts.push(of(EventBody::Warning { code: WarningCode::BudgetExhausted, text }));
        }
        match decision {
            Decision::Answer(text) => self.answer(voice, role, plan.step, text, drafts).await,
            Decision::Ask(text) => self.ask_user(voice, role, plan.step, text, drafts).await,
            Decision::Reject(reason) => {
                drafts.push(of(EventBody::Rejected { reason: reason.clone() }));
                drafts.extend(hand_back(voice, role, DelegationStatus::Rejected, reason));
                self.recorder.record(drafts).await?;
                Ok(Flow::Ended)
            }
            Decision::Act(bodies) => {
                drafts.extend(bodies.into_iter().map(of));
                self.recorder.record(drafts).await?;
                plan.last_word.map_or(Ok(Flow::Continue), Err)
            }
            Decision::Nothing => {
                let text = format!("{} said nothing", agent.name);
                drafts.push(of(EventBody::Warning { code: WarningCode::EmptyReply, text }));
                self.recorder.record(drafts).await?;
                match plan.last_word {
                    Some(stop) => Err(stop),
                    None if plan.empty_replies > 0 => {
                        Err(Stop::Model(format!("{} said nothing, twice", agent.name)))
                    }
                    None => Ok(Flow::Continue),
                }
            }
        }
    }

    /// What the agent is told beside its instruction; found once in a turn.
    async fn context_of(&self, agent: &Agent) -> Vec<ContextBlock> {
        let mut found = self.context.lock().await;
        if let Some(blocks) = found.get(&agent.name) {
            return blocks.clone();
        }
        let (message, sender) =
            self.recorder.look(|record| (record.user_message(None), record.sender.clone())).await;
        let message = message.rendered();
        let request = ContextRequest {
            session: self.recorder.session(),
            turn: self.recorder.turn(),
            agent: &agent.name,
            message: &message,
        };
        let mut blocks = collect_context(&self.shared.context, request).await;
        blocks.extend(
            sender.map(|sender| ContextBlock { source: "sender", text: words::sender(&sender) }),
        );
        found.insert(agent.name.clone(), blocks.clone());
        blocks
    }

    pub(super) async fn answer(
        &self,
        voice: &Voice,
        role: Role<'_>,
        step: u32,
        text: String,
        mut drafts: Vec<Draft>,
    ) -> Result<Flow, Stop> {
        let message = EventBody::Message { text: text.clone(), answer: ends_turn(role) };
        drafts.push(Draft::of(voice, step, message));
        drafts.extend(hand_back(voice, role, DelegationStatus::Answered, text));
        self.end_part(role, drafts, OutcomeStatus::Done).await
    }

    /// The agent cannot go on without the user: whoever talks to the user asks.
    pub(super) async fn ask_user(
        &self,
        voice: &Voice,
        role: Role<'_>,
        step: u32,
        question: String,
        mut drafts: Vec<Draft>,
    ) -> Result<Flow, Stop> {
        let message = EventBody::Message { text: question.clone(), answer: ends_turn(role) };
        drafts.push(Draft::of(voice, step, message));
        drafts.extend(hand_back(voice, role, DelegationStatus::NeedsInput, question));
        self.end_part(role, drafts, OutcomeStatus::NeedsInput).await
    }

    async fn end_part(
        &self,
        role: Role<'_>,
        drafts: Vec<Draft>,
        status: OutcomeStatus,
    ) -> Result<Flow, Stop> {
        if ends_turn(role) {
            let ended = self.recorder.record_end(drafts, status).await?;
            return Ok(Flow::Finished(Box::new(ended)));
        }
        self.recorder.record(drafts).await?;
        Ok(Flow::Ended)
    }

    /// Takes one call from the budget, and says which of the turn it is. The last one belongs to
    /// whoever speaks to the user.
    pub(super) fn spend_call(&self, record: &mut TurnRecord, role: Role<'_>) -> Result<u32, Stop> {
        let limits = self.limits();
        let left = limits.model_calls.saturating_sub(record.spent.model_calls);
        if left <= u32::from(!ends_turn(role)) {
            return Err(Stop::Budget(BudgetKind::ModelCalls));
        }
        if record.spent.tokens >= limits.tokens {
            return Err(Stop::Budget(BudgetKind::Tokens));
        }
        record.spent.model_calls += 1;
        Ok(record.spent.model_calls)
    }

    /// Decides what this call may do, and spends it.
    fn plan(
        &self,
        record: &mut TurnRecord,
        agent: &Agent,
        voice: &Voice,
        role: Role<'_>,
    ) -> Result<Plan, Stop> {
        let step = self.spend_call(record, role)?;
        let limits = self.limits();
        let calls_left = limits.model_calls.saturating_sub(record.spent.model_calls);
        let reserved = u32::from(!ends_turn(role));
        let mut offer = self.offer(record, agent, role);
        if matches!(role, Role::Root)
            && offer.targets.is_empty()
            && !record.rejections.is_empty()
            && record.excluded.len() == self.team.specialists.len()
        {
            return Err(Stop::Rejected(record.rejections.join("; ")));
        }
        let transcript = record.transcript(voice.branch.as_ref());
        let tool_calls_left = limits.tool_calls.saturating_sub(record.spent.tool_calls);
        let rounds = record.spent.delegation_rounds;
        let out_of_rounds = matches!(role, Role::Root)
            && !self.team.specialists.is_empty()
            && rounds >= self.round_limit();
        let last_word = if calls_left == reserved {
            Some(Stop::Budget(BudgetKind::ModelCalls))
        } else if tool_calls_left == 0 {
            Some(Stop::Budget(BudgetKind::ToolCalls))
        } else if transcript.fruitless_replies() >= FRUITLESS_REPLIES {
            Some(if transcript.repetitions() > 0 {
                Stop::Budget(BudgetKind::Repetition)
            } else if out_of_rounds {
                Stop::Budget(BudgetKind::DelegationRounds)
            } else {
                Stop::Model(format!("{} kept asking for what it cannot have", agent.name))
            })
        } else {
            None
        };
        let note = if last_word.is_some() || out_of_rounds {
            Some(words::ANSWER_NOW)
        } else {
            (transcript.empty_replies() > 0).then_some(words::SAY_SOMETHING)
        };
        if last_word.is_some() {
            offer = Offer::default();
        }
        let mut messages = self.view(record, agent, role);
        messages.extend(transcript.messages());
        let empty_replies = transcript.empty_replies();
        Ok(Plan {
            step,
            offer,
            messages,
            note,
            last_word,
            rounds,
            calls_left: tool_calls_left,
            empty_replies,
        })
    }

    fn offer(&self, record: &TurnRecord, agent: &Agent, role: Role<'_>) -> Offer {
        let may_hand_over =
            matches!(role, Role::Root) && record.spent.delegation_rounds < self.round_limit();
        let targets = if may_hand_over {
            let specialists = self.team.specialists.iter().map(Specialist::name);
            specialists.filter(|name| !record.excluded.contains(*name)).cloned().collect()
        } else {
            Vec::new()
        };
        Offer { tools: agent.tools.clone(), targets }
    }

    /// Those who may be handed over to, as the model may know them.
    fn colleagues(&self, offer: &Offer) -> Vec<Arc<Colleague>> {
        let specialists = offer.targets.iter().filter_map(|name| self.team.specialist(name));
        specialists.map(|specialist| Arc::clone(specialist.colleague())).collect()
    }

    /// The conversation this agent may see, up to its own part of this turn.
    fn view(&self, record: &TurnRecord, agent: &Agent, role: Role<'_>) -> Vec<Message> {
        let is_root = matches!(role, Role::Root);
        let past = within(&self.past, self.shared.settings.history_tokens);
        let mut messages: Vec<Message> =
            past.iter().flat_map(|turn| turn.messages(&agent.name, is_root)).collect();
        let task = match role {
            Role::Root => None,
            Role::Specialist { delegation, .. } => Some(delegation.task.as_str()),
        };
        let images = self.images.clone();
        messages.push(Message::User(UserMessage { images, ..record.user_message(task) }));
        messages
    }

    /// Says which part an agent plays, as its model may know it.
    fn request_role(&self, agent: &Agent, role: Role<'_>) -> RequestRole {
        match role {
            Role::Root if self.team.round_limit.is_some() => RequestRole::Orchestrator,
            Role::Root => RequestRole::Single,
            Role::Specialist { .. } if agent.name == *PLANNER && agent.tools.is_empty() => {
                RequestRole::Planner
            }
            Role::Specialist { .. } => RequestRole::Specialist,
        }
    }
}

/// Tells whether an agent's last words go to the user.
pub(super) fn ends_turn(role: Role<'_>) -> bool {
    !matches!(role, Role::Specialist { direct: false, .. })
}

/// The end of a hand-over, where there was one.
pub(super) fn hand_back(
    voice: &Voice,
    role: Role<'_>,
    status: DelegationStatus,
    text: String,
) -> Option<Draft> {
    let Role::Specialist { delegation, .. } = role else { return None };
    let to_root = Voice { agent: voice.agent.clone(), branch: None };
    let body = EventBody::TransferFinished {
        call: delegation.call.clone(),
        to: delegation.to.clone(),
        status,
        text,
    };
    Some(Draft::beside(&to_root, body))
}
