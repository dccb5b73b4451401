//! Defines the responses in OpenAI's format, with one extension field.

use lango_protocol::{Outcome, OutcomeStatus, Timestamp, Usage};
use serde::Serialize;

use super::request::MODEL;
use super::turn_summary::{TeamStep, TurnSummary};

/// Returns the seconds since the epoch.
pub(super) fn epoch_seconds(time: Timestamp) -> i64 {
    time.as_microseconds() / 1_000_000
}

/// Represents a complete answer.
#[derive(Serialize)]
pub(super) struct Completion<'a> {
    id: String,
    object: &'static str,
    created: i64,
    model: &'static str,
    choices: [Choice<'a>; 1],
    usage: TokenUsage,
    service_tier: Option<&'static str>,
    system_fingerprint: Option<&'static str>,
    lango: Extension<'a>,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    message: Message<'a>,
    logprobs: Option<()>,
    finish_reason: &'static str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
    refusal: Option<&'a str>,
}

/// Represents a piece of a stream.
#[derive(Serialize)]
pub(super) struct Chunk<'a> {
    id: String,
    object: &'static str,
    created: i64,
    model: &'static str,
    choices: Vec<ChunkChoice<'a>>,
    system_fingerprint: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<ChunkUsage>,
    lango: Extension<'a>,
}

/// Holds the usage if it was requested; it is `null` in all pieces but the last.
#[derive(Serialize)]
#[serde(untagged)]
enum ChunkUsage {
    NotYet(()),
    All(TokenUsage),
}

#[derive(Serialize)]
struct ChunkChoice<'a> {
    index: u32,
    delta: Delta<'a>,
    logprobs: Option<()>,
    finish_reason: Option<&'static str>,
}

#[derive(Default, Serialize)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
}

/// The extension field of every answer and every piece of a stream.
#[derive(Serialize)]
pub(super) struct Extension<'a> {
    session: &'a str,
    turn: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<&'a TeamStep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<&'a [TeamStep]>,
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    notices: &'a [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    model_calls: Option<u32>,
}

/// Holds the token usage.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TokenUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

#[derive(Debug, Clone, Serialize)]
struct PromptDetails {
    cached_tokens: u64,
}

#[derive(Debug, Clone, Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
}

impl From<Usage> for TokenUsage {
    fn from(usage: Usage) -> Self {
        Self {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.total(),
            prompt_tokens_details: PromptDetails { cached_tokens: usage.cached },
            completion_tokens_details: CompletionDetails { reasoning_tokens: usage.reasoning },
        }
    }
}

fn completion_id(summary: &TurnSummary) -> String {
    format!("chatcmpl-{}", summary.turn)
}

fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome.status {
        OutcomeStatus::Done => "done",
        OutcomeStatus::NeedsInput => "needs_input",
        OutcomeStatus::Rejected { .. } => "rejected",
        OutcomeStatus::Failed { .. } => "failed",
        OutcomeStatus::TimedOut => "timed_out",
        OutcomeStatus::Cancelled => "cancelled",
    }
}

/// Returns the extension field of a complete answer and of the last piece of a stream.
fn build_extension<'a>(summary: &'a TurnSummary, notices: &'a [&'static str]) -> Extension<'a> {
    Extension {
        session: summary.session.as_str(),
        turn: summary.turn.to_string(),
        agent: summary.agent.as_deref(),
        outcome: summary.outcome.as_ref().map(outcome_name),
        step: None,
        steps: Some(&summary.steps),
        notices,
        model_calls: summary.outcome.as_ref().map(|outcome| outcome.work.spent.model_calls),
    }
}

/// Returns a finished turn as one answer.
pub(super) fn build_completion<'a>(
    summary: &'a TurnSummary,
    notices: &'a [&'static str],
) -> Completion<'a> {
    let content = summary.answer.as_deref().unwrap_or_default();
    let message = Message { role: "assistant", content, refusal: None };
    Completion {
        id: completion_id(summary),
        object: "chat.completion",
        created: epoch_seconds(summary.created),
        model: MODEL,
        choices: [Choice { index: 0, message, logprobs: None, finish_reason: "stop" }],
        usage: summary.usage.into(),
        service_tier: None,
        system_fingerprint: None,
        lango: build_extension(summary, notices),
    }
}

/// The content of a piece of a stream.
pub(super) enum ChunkContent<'a> {
    /// The start of the stream.
    Role,
    /// A part of the answer.
    Text(&'a str),
    /// A step of the team.
    Step(&'a TeamStep),
    /// The end of the answer.
    End,
    /// The usage, if it was requested.
    Usage,
}

/// Returns a piece of a stream. If usage was requested, the pieces before it have `null` usage.
pub(super) fn build_chunk<'a>(
    summary: &'a TurnSummary,
    notices: &'a [&'static str],
    piece: &ChunkContent<'a>,
    include_usage: bool,
) -> Chunk<'a> {
    let mut delta = Delta::default();
    let mut finish_reason = None;
    let mut lango = Extension {
        session: summary.session.as_str(),
        turn: summary.turn.to_string(),
        agent: summary.agent.as_deref(),
        outcome: None,
        step: None,
        steps: None,
        notices: &[],
        model_calls: None,
    };
    match piece {
        ChunkContent::Role => {
            delta = Delta { role: Some("assistant"), content: Some("") };
            lango.notices = notices;
        }
        ChunkContent::Text(text) => delta.content = Some(text),
        ChunkContent::Step(step) => lango.step = Some(step),
        ChunkContent::End => {
            finish_reason = Some("stop");
            lango = build_extension(summary, &[]);
        }
        ChunkContent::Usage => {}
    }
    let is_usage = matches!(piece, ChunkContent::Usage);
    let choice = ChunkChoice { index: 0, delta, logprobs: None, finish_reason };
    Chunk {
        id: completion_id(summary),
        object: "chat.completion.chunk",
        created: epoch_seconds(summary.created),
        model: MODEL,
        choices: if is_usage { Vec::new() } else { vec![choice] },
        system_fingerprint: None,
        usage: include_usage.then(|| {
            if is_usage { ChunkUsage::All(summary.usage.into()) } else { ChunkUsage::NotYet(()) }
        }),
        lango,
    }
}
