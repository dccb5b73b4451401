//! Makes a request fit a model's window.
//!
//! First, whole turns of the history are dropped, oldest first; then results of this turn are
//! truncated, oldest first. A call and its result are one message, so no pair is ever split.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{
    AnsweredCall, Message, ModelFacts, ModelRequest, ReplyOptions, Shortening, estimate_tokens,
};

/// Limits what is left of a truncated result.
const TRUNCATED_RESULT_BYTES: usize = 400;
/// Estimates the tokens of a message beside its text.
const MESSAGE_OVERHEAD_TOKENS: u64 = 6;
/// Estimates the tokens of an image; providers count differently.
const IMAGE_TOKENS: u64 = 1_200;

/// Holds a request that fits, as far as that is possible.
pub(super) struct FittedRequest {
    pub(super) request: Arc<ModelRequest>,
    /// The tokens by our own count, where they were counted.
    pub(super) counted: Option<u64>,
    pub(super) shortened: Option<Shortening>,
}

impl FittedRequest {
    /// Returns the request unchanged.
    pub(super) fn unchanged(request: &Arc<ModelRequest>) -> Self {
        Self { request: Arc::clone(request), counted: None, shortened: None }
    }
}

/// Tracks how a provider's token count compares to ours, learned from the usage it reports.
/// Tokenisers differ; one reply is enough to know by how much.
#[derive(Debug)]
pub(super) struct TokenRatio {
    /// Thousandths.
    thousandths: AtomicU32,
}

impl Default for TokenRatio {
    fn default() -> Self {
        Self { thousandths: AtomicU32::new(1_000) }
    }
}

impl TokenRatio {
    /// Updates the ratio: the provider counted `real` tokens where we counted `ours`.
    pub(super) fn learn(&self, real: u64, ours: u64) {
        // A provider that reports nonsense must not make requests vanish or overflow.
        if let Some(ratio) = real.saturating_mul(1_000).checked_div(ours)
            && (500..=2_000).contains(&ratio)
        {
            self.thousandths.store(u32::try_from(ratio).unwrap_or(1_000), Ordering::Relaxed);
        }
    }

    /// Converts the provider's tokens to ours.
    fn to_our_tokens(&self, real: u64) -> u64 {
        real.saturating_mul(1_000) / u64::from(self.thousandths.load(Ordering::Relaxed).max(1))
    }
}

/// Returns the tokens that a request may have so that the reply still fits the window.
pub(super) fn input_token_limit(facts: &ModelFacts, options: &ReplyOptions) -> Option<u64> {
    let window = facts.window?;
    let wanted = options.max_output_tokens.map(u64::from).or(facts.max_output).unwrap_or(8_192);
    // An estimate is an estimate: three in a hundred are left free.
    Some((window - wanted.min(window / 4)) * 97 / 100)
}

/// Estimates the tokens of a request.
pub(super) fn count_tokens(request: &ModelRequest) -> u64 {
    estimate_fixed_tokens(request)
        + request.messages.iter().map(estimate_message_tokens).sum::<u64>()
}

/// Estimates the tokens of the part that cannot be shortened.
fn estimate_fixed_tokens(request: &ModelRequest) -> u64 {
    let tool = |tool: &lango_tool::ToolDeclaration| {
        estimate_tokens(&tool.name)
            + estimate_tokens(&tool.description)
            + estimate_tokens(tool.parameters.get())
            + MESSAGE_OVERHEAD_TOKENS
    };
    let context =
        request.context.iter().map(|block| estimate_tokens(&block.text) + MESSAGE_OVERHEAD_TOKENS);
    estimate_tokens(&request.instruction)
        + request.tools.iter().map(tool).sum::<u64>()
        + context.sum::<u64>()
}

fn estimate_message_tokens(message: &Message) -> u64 {
    let call = |call: &AnsweredCall| {
        estimate_tokens(&call.arguments)
            + estimate_tokens(&call.result)
            + 4 * MESSAGE_OVERHEAD_TOKENS
    };
    MESSAGE_OVERHEAD_TOKENS
        + match message {
            Message::User(message) => {
                estimate_tokens(&message.rendered()) + IMAGE_TOKENS * message.images.len() as u64
            }
            Message::Assistant { text, .. } => estimate_tokens(text),
            Message::Exchange { text, calls, provider_state } => {
                estimate_tokens(text)
                    + calls.iter().map(call).sum::<u64>()
                    + provider_state.as_ref().map_or(0, |kept| estimate_tokens(&kept.data))
            }
        }
}

/// Returns an upper bound of a request's tokens without counting them: no token is shorter than a
/// byte.
fn token_upper_bound(request: &ModelRequest) -> u64 {
    let message = |message: &Message| match message {
        Message::User(message) => {
            let images = message.images.len() * usize::try_from(IMAGE_TOKENS).unwrap_or(usize::MAX);
            message.text_bytes() + images
        }
        Message::Assistant { text, .. } => text.len(),
        Message::Exchange { text, calls, provider_state } => {
            let calls = calls.iter().map(|call| call.arguments.len() + call.result.len() + 100);
            text.len()
                + calls.sum::<usize>()
                + provider_state.as_ref().map_or(0, |kept| kept.data.len())
        }
    };
    let tools = request
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.parameters.get().len() + 10);
    let context = request.context.iter().map(|block| block.text.len() + 10);
    let bytes = request.instruction.len()
        + tools.sum::<usize>()
        + context.sum::<usize>()
        + request.messages.iter().map(|each| message(each) + 10).sum::<usize>();
    bytes as u64
}

/// Makes `request` fit into `limit` of the provider's tokens.
pub(super) fn fit_request(
    request: &Arc<ModelRequest>,
    limit: u64,
    ratio: &TokenRatio,
) -> FittedRequest {
    // Twice the bytes leaves a margin for providers that count twice as much as we do.
    if token_upper_bound(request).saturating_mul(2) <= limit {
        return FittedRequest::unchanged(request);
    }
    let limit = ratio.to_our_tokens(limit);
    let weights: Vec<u64> = request.messages.iter().map(estimate_message_tokens).collect();
    let counted = estimate_fixed_tokens(request) + weights.iter().sum::<u64>();
    if counted <= limit {
        return FittedRequest { counted: Some(counted), ..FittedRequest::unchanged(request) };
    }
    let mut shorter = ModelRequest::clone(request);
    let (cut, dropped) = turns_to_drop(request, &weights, counted - limit, limit / 4);
    shorter.messages.drain(..cut);
    let mut left = counted - dropped;
    let results = shorten_results(&mut shorter.messages, &mut left, limit);
    let shortened = Shortening { messages: cut, results };
    FittedRequest { request: Arc::new(shorter), counted: Some(left), shortened: Some(shortened) }
}

/// Returns how many messages to drop, and their tokens. It drops more than it must, in steps of
/// `step`: the cut then stays where it is for some turns, and with it everything that the provider
/// has cached.
fn turns_to_drop(request: &ModelRequest, weights: &[u64], surplus: u64, step: u64) -> (usize, u64) {
    let wanted = surplus.div_ceil(step.max(1)).saturating_mul(step.max(1));
    let newest = request.newest_user().unwrap_or(0);
    let mut dropped = 0;
    let mut cut = (0, 0);
    for position in 0..=newest {
        // A history begins with a user's message.
        if matches!(request.messages.get(position), Some(Message::User(_))) {
            cut = (position, dropped);
            if dropped >= wanted {
                break;
            }
        }
        dropped += weights.get(position).copied().unwrap_or(0);
    }
    cut
}

/// Cuts results, the oldest first, until the rest fits. Says how many.
fn shorten_results(messages: &mut [Message], left: &mut u64, limit: u64) -> usize {
    let mut shortened = 0;
    let exchanges = messages.iter_mut().filter_map(|message| match message {
        Message::Exchange { calls, .. } => Some(calls),
        _ => None,
    });
    for call in exchanges.flatten() {
        if *left <= limit {
            break;
        }
        if let Some(shorter) = truncate_result(&call.result) {
            let saved = estimate_tokens(&call.result).saturating_sub(estimate_tokens(&shorter));
            *left = left.saturating_sub(saved);
            call.result = shorter;
            shortened += 1;
        }
    }
    shortened
}

/// Returns the beginning of a long result, marked as truncated; `None` where it is short enough.
fn truncate_result(result: &str) -> Option<String> {
    if result.len() <= 2 * TRUNCATED_RESULT_BYTES {
        return None;
    }
    let end =
        (0..=TRUNCATED_RESULT_BYTES).rev().find(|at| result.is_char_boundary(*at)).unwrap_or(0);
    let gone = result.len() - end;
    Some(format!("{}\n[{gone} bytes left out to make the conversation fit]", &result[..end]))
}
