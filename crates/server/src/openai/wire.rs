//! What is answered, in OpenAI's shapes with one field of our own.

use std::fmt::Write as _;

use lango_protocol::{Outcome, OutcomeStatus, Timestamp, Usage};
use serde::Serialize;

use super::request::MODEL;
use super::telling::{Step, Telling};

/// Seconds since the epoch.
pub(super) fn seconds(time: Timestamp) -> i64 {
    time.as_microseconds() / 1_000_000
}

/// Bytes as text.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A whole answer.
#[derive(Serialize)]
pub(super) struct Completion<'a> {
    id: String,
    object: &'static str,
    created: i64,
    model: &'static str,
    choices: [Choice<'a>; 1],
    usage: Figures,
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

/// A piece of a stream.
#[derive(Serialize)]
pub(super) struct Chunk<'a> {
    id: String,
    object: &'static str,
    created: i64,
    model: &'static str,
    choices: Vec<ChunkChoice<'a>>,
    system_fingerprint: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<ChunkFigures>,
    lango: Extension<'a>,
}

/// The figures where they were asked for: in all pieces but one they are not there yet.
#[derive(Serialize)]
#[serde(untagged)]
enum ChunkFigures {
    NotYet(()),
    All(Figures),
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

/// What the team adds to every answer and every piece of a stream.
#[derive(Serialize)]
pub(super) struct Extension<'a> {
    session: &'a str,
    turn: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<&'a Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<&'a [Step]>,
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    notices: &'a [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    model_calls: Option<u32>,
}

/// Tokens.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Figures {
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

impl From<Usage> for Figures {
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

fn id(telling: &Telling) -> String {
    format!("chatcmpl-{}", telling.turn)
}

fn outcome_word(outcome: &Outcome) -> &'static str {
    match outcome.status {
        OutcomeStatus::Done => "done",
        OutcomeStatus::NeedsInput => "needs_input",
        OutcomeStatus::Rejected { .. } => "rejected",
        OutcomeStatus::Failed { .. } => "failed",
        OutcomeStatus::TimedOut => "timed_out",
        OutcomeStatus::Cancelled => "cancelled",
    }
}

/// The extension field of a whole answer, and of the last piece of a stream.
fn whole<'a>(telling: &'a Telling, notices: &'a [&'static str]) -> Extension<'a> {
    Extension {
        session: telling.session.as_str(),
        turn: telling.turn.to_string(),
        agent: telling.agent.as_deref(),
        outcome: telling.outcome.as_ref().map(outcome_word),
        step: None,
        steps: Some(&telling.steps),
        notices,
        model_calls: telling.outcome.as_ref().map(|outcome| outcome.work.spent.model_calls),
    }
}

/// A turn that has ended, as one answer.
pub(super) fn completion<'a>(telling: &'a Telling, notices: &'a [&'static str]) -> Completion<'a> {
    let content = telling.answer.as_deref().unwrap_or_default();
    let message = Message { role: "assistant", content, refusal: None };
    Completion {
        id: id(telling),
        object: "chat.completion",
        created: seconds(telling.created),
        model: MODEL,
        choices: [Choice { index: 0, message, logprobs: None, finish_reason: "stop" }],
        usage: telling.usage.into(),
        service_tier: None,
        system_fingerprint: None,
        lango: whole(telling, notices),
    }
}

/// What a piece of a stream says.
pub(super) enum Piece<'a> {
    /// The stream begins.
    Role,
    /// A part of the answer.
    Text(&'a str),
    /// Something was done.
    Step(&'a Step),
    /// The answer is whole.
    End,
    /// The figures, where they were asked for.
    Usage,
}

/// A piece of a stream. Where figures were asked for, all pieces before them say that they have none.
pub(super) fn chunk<'a>(
    telling: &'a Telling,
    notices: &'a [&'static str],
    piece: &Piece<'a>,
    include_usage: bool,
) -> Chunk<'a> {
    let mut delta = Delta::default();
    let mut finish_reason = None;
    let mut lango = Extension {
        session: telling.session.as_str(),
        turn: telling.turn.to_string(),
        agent: telling.agent.as_deref(),
        outcome: None,
        step: None,
        steps: None,
        notices: &[],
        model_calls: None,
    };
    match piece {
        Piece::Role => {
            delta = Delta { role: Some("assistant"), content: Some("") };
            lango.notices = notices;
        }
        Piece::Text(text) => delta.content = Some(text),
        Piece::Step(step) => lango.step = Some(step),
        Piece::End => {
            finish_reason = Some("stop");
            lango = whole(telling, &[]);
        }
        Piece::Usage => {}
    }
    let is_usage = matches!(piece, Piece::Usage);
    let choice = ChunkChoice { index: 0, delta, logprobs: None, finish_reason };
    Chunk {
        id: id(telling),
        object: "chat.completion.chunk",
        created: seconds(telling.created),
        model: MODEL,
        choices: if is_usage { Vec::new() } else { vec![choice] },
        system_fingerprint: None,
        usage: include_usage.then(|| {
            if is_usage {
                ChunkFigures::All(telling.usage.into())
            } else {
                ChunkFigures::NotYet(())
            }
        }),
        lango,
    }
}
