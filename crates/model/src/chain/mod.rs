//! Implements a chain of models: the only owner of retries, of failover, and of making a request
//! fit.
//!
//! An attempt that fails is void as a whole. Calls come out of a stream only after its end, so a
//! reply that broke off has had no effect; what was already shown of it is withdrawn with a
//! [`Setback`]. The next attempt goes to the same model after a wait, or to the next one.

mod fit;
mod health;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use lango_egress::{Backoff, BackoffPolicy, Permit};

pub use health::ProviderHealth;

use crate::{
    Model, ModelError, ModelEvent, ModelFacts, ModelFault, ModelId, ModelRequest, ModelStream,
    Setback, Shortening,
};
use fit::{FittedRequest, TokenRatio};

/// Describes one model of a chain.
pub struct ChainLink {
    /// The model.
    pub model: Arc<dyn Model>,
    /// The model's properties.
    pub facts: ModelFacts,
    /// The health of its provider, shared by all its models.
    pub health: Arc<ProviderHealth>,
}

/// Limits the attempts and the waits between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries with one model before the next is asked.
    pub tries: u32,
    /// The wait before the second try; it doubles from there.
    pub first_wait: Duration,
    /// The longest wait, also when the provider asks for more: then the next model is asked.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_mins(1),
        }
    }
}

impl RetryPolicy {
    fn tries_for(&self, fault: ModelFault) -> u32 {
        match fault {
            // Each of these has already cost the longest time a model may be silent, or came from a
            // server that is unlikely to behave better the next time.
            ModelFault::Silent | ModelFault::Malformed => self.tries.min(2),
            _ => self.tries,
        }
    }

    fn backoff(&self) -> Backoff {
        BackoffPolicy::doubling(self.first_wait, self.longest_wait).with_jitter().waits()
    }
}

/// Asks models in order: the preferred one first, then its fallbacks.
#[derive(Clone)]
pub struct Chain {
    shared: Arc<SharedChain>,
}

struct SharedChain {
    first: ChainMember,
    fallbacks: Vec<ChainMember>,
    policy: RetryPolicy,
}

struct ChainMember {
    link: ChainLink,
    ratio: TokenRatio,
}

impl Chain {
    /// Makes a chain of at least one model.
    pub fn new(first: ChainLink, fallbacks: Vec<ChainLink>, policy: RetryPolicy) -> Self {
        let member = |link| ChainMember { link, ratio: TokenRatio::default() };
        let fallbacks = fallbacks.into_iter().map(member).collect();
        Self { shared: Arc::new(SharedChain { first: member(first), fallbacks, policy }) }
    }

    /// Returns the models, the preferred one first.
    pub fn models(&self) -> impl Iterator<Item = &ModelId> {
        self.shared.members().map(|member| member.link.model.id())
    }
}

impl Model for Chain {
    fn id(&self) -> &ModelId {
        self.shared.first.link.model.id()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream {
        let request_state = ChainRequest {
            backoff: self.shared.policy.backoff(),
            shared: Arc::clone(&self.shared),
            request,
            at: 0,
            tries: 0,
            wait: Duration::ZERO,
            limit: None,
            attempt: None,
            reported: None,
            pending_events: VecDeque::new(),
            earlier_failures: Vec::new(),
        };
        Box::pin(stream::try_unfold(request_state, |mut request_state| async move {
            Ok(request_state.next().await?.map(|event| (event, request_state)))
        }))
    }
}

impl SharedChain {
    fn members(&self) -> impl Iterator<Item = &ChainMember> {
        std::iter::once(&self.first).chain(&self.fallbacks)
    }

    fn member(&self, position: usize) -> &ChainMember {
        position.checked_sub(1).and_then(|index| self.fallbacks.get(index)).unwrap_or(&self.first)
    }
}

/// Holds the state of one request to the chain.
struct ChainRequest {
    shared: Arc<SharedChain>,
    request: Arc<ModelRequest>,
    at: usize,
    /// Tries with the model at hand.
    tries: u32,
    /// The waits between the tries with the model at hand.
    backoff: Backoff,
    /// The wait before the next attempt.
    wait: Duration,
    /// The token limit that was learned from an error: the model takes less than its window says.
    limit: Option<u64>,
    attempt: Option<ModelAttempt>,
    /// The shortening that was last reported to the user.
    reported: Option<Shortening>,
    pending_events: VecDeque<ModelEvent>,
    /// The reasons why the models before this one failed.
    earlier_failures: Vec<String>,
}

struct ModelAttempt {
    request: Arc<ModelRequest>,
    stream: ModelStream,
    permit: Permit,
    /// The estimated tokens of the request, where they were counted.
    counted: Option<u64>,
}

impl ChainRequest {
    async fn next(&mut self) -> Result<Option<ModelEvent>, ModelError> {
        loop {
            if let Some(event) = self.pending_events.pop_front() {
                return Ok(Some(event));
            }
            let Some(attempt) = &mut self.attempt else {
                self.begin().await?;
                continue;
            };
            match attempt.stream.next().await {
                Some(Ok(event)) => {
                    if let (ModelEvent::Usage(usage), Some(counted)) = (&event, attempt.counted) {
                        self.shared.member(self.at).ratio.learn(usage.input, counted);
                    }
                    return Ok(Some(event));
                }
                None => {
                    attempt.permit.record_success();
                    return Ok(None);
                }
                Some(Err(error)) => {
                    if error.fault.is_provider_failure() {
                        attempt.permit.record_failure();
                    } else {
                        attempt.permit.record_success();
                    }
                    self.recover(error)?;
                }
            }
        }
    }

    /// Opens the next try.
    async fn begin(&mut self) -> Result<(), ModelError> {
        if !self.wait.is_zero() {
            tokio::time::sleep(std::mem::take(&mut self.wait)).await;
        }
        let shared = Arc::clone(&self.shared);
        let member = shared.member(self.at);
        let permit = match member.link.health.admit() {
            Ok(permit) => permit,
            Err(left) => return self.recover(paused_error(member.link.model.id(), left)),
        };
        self.tries += 1;
        let limit = self
            .limit
            .or_else(|| fit::input_token_limit(&member.link.facts, &self.request.options));
        let FittedRequest { request, counted, shortened } = match limit {
            Some(limit) => fit::fit_request(&self.request, limit, &member.ratio),
            None => FittedRequest::unchanged(&self.request),
        };
        if shortened != self.reported {
            self.pending_events.extend(shortened.map(ModelEvent::Shortened));
            self.reported = shortened;
        }
        let stream = member.link.model.stream(Arc::clone(&request));
        self.attempt = Some(ModelAttempt { request, stream, permit, counted });
        Ok(())
    }

    /// Decides what comes after a failure: this model again, the next one, or the end.
    fn recover(&mut self, error: ModelError) -> Result<(), ModelError> {
        let sent = self.attempt.take().map(|attempt| attempt.request);
        let shared = Arc::clone(&self.shared);
        let member = shared.member(self.at);
        if error.fault == ModelFault::ContextTooLong && self.limit.is_none() {
            // Whatever the table says about its window, the model takes less than this.
            self.limit = Some(fit::count_tokens(sent.as_ref().unwrap_or(&self.request)) * 7 / 10);
            self.forget_tries();
            self.announce_setback(error, Duration::ZERO);
            return Ok(());
        }
        let wait = self.backoff.next_wait();
        let wait = error.retry_after.map_or(wait, |asked| asked.max(wait));
        let again = error.fault.is_transient()
            && self.tries < self.shared.policy.tries_for(error.fault)
            && wait <= self.shared.policy.longest_wait
            && !member.link.health.is_paused();
        if again {
            self.announce_setback(error, wait);
            return Ok(());
        }
        let next = (self.at + 1..=self.shared.fallbacks.len())
            .find(|position| !self.shared.member(*position).link.health.is_paused());
        match next {
            Some(next) if error.fault.is_worth_another_model() => {
                self.earlier_failures.push(format!(
                    "{} {}",
                    member.link.model.id(),
                    error.fault.describe()
                ));
                self.at = next;
                self.forget_tries();
                self.limit = None;
                self.announce_setback(error, Duration::ZERO);
                Ok(())
            }
            _ => Err(error.after_failures(&self.earlier_failures)),
        }
    }

    fn forget_tries(&mut self) {
        self.tries = 0;
        self.backoff.reset();
    }

    fn announce_setback(&mut self, error: ModelError, wait: Duration) {
        self.wait = wait;
        let next = self.shared.member(self.at).link.model.id().clone();
        self.pending_events.clear();
        self.pending_events.push_back(ModelEvent::Setback(Setback { error, next, wait }));
    }
}

fn paused_error(id: &ModelId, left: Duration) -> ModelError {
    let reason = format!("the next try is in {} s", left.as_secs() + 1);
    ModelError::new(ModelFault::Resting, reason).with(id, "", None)
}

#[cfg(test)]
mod tests;
