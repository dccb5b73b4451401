//! A chain of models: the one owner of retries, of failing over, and of making a request fit.
//!
//! A try that fails is void as a whole. Calls come out of a stream only after its end, so a reply
//! that broke off has done nothing; what was already shown of it is taken back with a
//! [`Setback`]. The next try goes to the same model after a wait, or to the next one.

mod fit;
mod health;

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};

pub use health::Health;

use crate::{
    Facts, Fault, Model, ModelError, ModelEvent, ModelId, ModelRequest, ModelStream, Setback,
    Shortened,
};
use fit::{Fitted, Ratio};
use health::Permit;

/// One model of a chain.
pub struct Link {
    /// The model.
    pub model: Arc<dyn Model>,
    /// What is known about it.
    pub facts: Facts,
    /// The health of its provider, shared by all its models.
    pub health: Arc<Health>,
}

/// How often and how long.
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
    fn tries_for(&self, fault: Fault) -> u32 {
        match fault {
            // Each of these has already cost the longest time a model may be silent, or came from
            // a server that will hardly speak better the next time.
            Fault::Silent | Fault::Malformed => self.tries.min(2),
            _ => self.tries,
        }
    }

    /// Half of it is chance, so that many who were turned away do not come back together.
    fn wait_before(&self, try_number: u32) -> Duration {
        let doubled = self.first_wait.saturating_mul(1 << try_number.saturating_sub(2).min(16));
        let whole = doubled.min(self.longest_wait);
        whole / 2 + whole.mul_f64(chance() / 2.0)
    }
}

/// Between 0 and 1.
fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish() >> 32;
    f64::from(u32::try_from(random).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

/// Models that stand in for each other, the preferred one first.
#[derive(Clone)]
pub struct Chain {
    shared: Arc<Shared>,
}

struct Shared {
    first: Member,
    fallbacks: Vec<Member>,
    policy: RetryPolicy,
}

struct Member {
    link: Link,
    ratio: Ratio,
}

impl Chain {
    /// A chain of at least one model.
    pub fn new(first: Link, fallbacks: Vec<Link>, policy: RetryPolicy) -> Self {
        let member = |link| Member { link, ratio: Ratio::default() };
        let fallbacks = fallbacks.into_iter().map(member).collect();
        Self { shared: Arc::new(Shared { first: member(first), fallbacks, policy }) }
    }

    /// The models, the preferred one first.
    pub fn models(&self) -> impl Iterator<Item = &ModelId> {
        self.shared.members().map(|member| member.link.model.id())
    }
}

impl Model for Chain {
    fn id(&self) -> &ModelId {
        self.shared.first.link.model.id()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream {
        let journey = Journey {
            shared: Arc::clone(&self.shared),
            request,
            at: 0,
            tries: 0,
            wait: Duration::ZERO,
            limit: None,
            attempt: None,
            told: None,
            waiting: VecDeque::new(),
            earlier: Vec::new(),
        };
        Box::pin(stream::try_unfold(journey, |mut journey| async move {
            Ok(journey.next().await?.map(|event| (event, journey)))
        }))
    }
}

impl Shared {
    fn members(&self) -> impl Iterator<Item = &Member> {
        std::iter::once(&self.first).chain(&self.fallbacks)
    }

    fn member(&self, position: usize) -> &Member {
        position.checked_sub(1).and_then(|index| self.fallbacks.get(index)).unwrap_or(&self.first)
    }
}

/// One request on its way along the chain.
struct Journey {
    shared: Arc<Shared>,
    request: Arc<ModelRequest>,
    at: usize,
    /// Tries with the model at hand.
    tries: u32,
    /// Before the next one.
    wait: Duration,
    /// Tokens the model at hand takes less than was thought: it said so.
    limit: Option<u64>,
    attempt: Option<Attempt>,
    /// What the user knows was left out.
    told: Option<Shortened>,
    waiting: VecDeque<ModelEvent>,
    /// Why models before this one were given up.
    earlier: Vec<String>,
}

struct Attempt {
    request: Arc<ModelRequest>,
    stream: ModelStream,
    permit: Permit,
    /// What the request was thought to weigh, where that was looked at.
    counted: Option<u64>,
}

impl Journey {
    async fn next(&mut self) -> Result<Option<ModelEvent>, ModelError> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
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
                    attempt.permit.well();
                    return Ok(None);
                }
                Some(Err(error)) => {
                    if error.fault.is_sick() {
                        attempt.permit.sick();
                    } else {
                        attempt.permit.well();
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
            Err(left) => return self.recover(resting(member.link.model.id(), left)),
        };
        self.tries += 1;
        let limit = self.limit.or_else(|| fit::room(&member.link.facts, &self.request.options));
        let Fitted { request, counted, shortened } = match limit {
            Some(limit) => fit::fit(&self.request, limit, &member.ratio),
            None => Fitted::whole(&self.request),
        };
        if shortened != self.told {
            self.waiting.extend(shortened.map(ModelEvent::Shortened));
            self.told = shortened;
        }
        let stream = member.link.model.stream(Arc::clone(&request));
        self.attempt = Some(Attempt { request, stream, permit, counted });
        Ok(())
    }

    /// Decides what comes after a failure: this model again, the next one, or the end.
    fn recover(&mut self, error: ModelError) -> Result<(), ModelError> {
        let sent = self.attempt.take().map(|attempt| attempt.request);
        let shared = Arc::clone(&self.shared);
        let member = shared.member(self.at);
        if error.fault == Fault::ContextTooLong && self.limit.is_none() {
            // Whatever the table said about its window: it takes less than this.
            self.limit = Some(fit::count(sent.as_ref().unwrap_or(&self.request)) * 7 / 10);
            self.tries = 0;
            self.go_on(error, Duration::ZERO);
            return Ok(());
        }
        let wait = self.shared.policy.wait_before(self.tries + 1);
        let wait = error.retry_after.map_or(wait, |asked| asked.max(wait));
        let again = error.fault.passes()
            && self.tries < self.shared.policy.tries_for(error.fault)
            && wait <= self.shared.policy.longest_wait
            && !member.link.health.is_resting();
        if again {
            self.go_on(error, wait);
            return Ok(());
        }
        let next = (self.at + 1..=self.shared.fallbacks.len())
            .find(|position| !self.shared.member(*position).link.health.is_resting());
        match next {
            Some(next) if error.fault.is_worth_another_model() => {
                self.earlier.push(format!("{} {}", member.link.model.id(), error.fault.happened()));
                self.at = next;
                self.tries = 0;
                self.limit = None;
                self.go_on(error, Duration::ZERO);
                Ok(())
            }
            _ => Err(error.after(&self.earlier)),
        }
    }

    fn go_on(&mut self, error: ModelError, wait: Duration) {
        self.wait = wait;
        let next = self.shared.member(self.at).link.model.id().clone();
        self.waiting.clear();
        self.waiting.push_back(ModelEvent::Setback(Setback { error, next, wait }));
    }
}

fn resting(id: &ModelId, left: Duration) -> ModelError {
    let reason = format!("the next try is in {} s", left.as_secs() + 1);
    ModelError::new(Fault::Resting, reason).with(id, "", None)
}

#[cfg(test)]
mod tests;
