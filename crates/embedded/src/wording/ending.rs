//! Endings that the runtime knows for every tool, and failures.
//!
//! A tool that is not ours could say the same words; then a success is told as less than it was,
//! never a failure as more.

use lango_model::AnsweredCall;

use super::answer::{Answer, inline};
use super::deed::deed;

/// Characters of the reason in the first line.
const SHOWN_REASON: usize = 600;
/// What stands under an error that came up before, ahead of the lesson's id.
const ADVICE: &str = "\n\nThis error came up before [lesson ";

/// How a call ended that did not do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending<'a> {
    /// It did not run.
    NotRun(&'a str),
    /// The user stopped it while it ran.
    Stopped,
    /// The process ended while it ran.
    Unknown,
    /// It ran too long; with what had come out by then.
    TooLong { seconds: &'a str, partial: &'a str },
    /// What was asked is not permitted.
    Forbidden(&'a str),
    /// The tool itself broke.
    Broken(&'a str),
}

impl<'a> Ending<'a> {
    /// The ending, if the result is the text of one.
    pub(super) fn of(call: &'a AnsweredCall) -> Option<Self> {
        let result = call.result.trim();
        if let Some(why) = result.strip_prefix("Not run: ") {
            return Some(Self::NotRun(without_orders(why)));
        }
        if result.starts_with("OUTCOME UNKNOWN: ") {
            return Some(Self::Unknown);
        }
        if result.starts_with("The process ended before this call was started.") {
            return Some(Self::NotRun("the process ended before it was started"));
        }
        if matches!(
            result,
            "Stopped by the user; it may have had a part of its effect."
                | "stopped because the turn was cancelled"
        ) {
            return Some(Self::Stopped);
        }
        if result.starts_with("the arguments do not fit: ") {
            return Some(Self::NotRun(result));
        }
        if let Some(why) = refused(call, result) {
            return Some(Self::NotRun(why));
        }
        if let Some(rest) = result.strip_prefix("stopped after ") {
            let (seconds, partial) =
                rest.split_once(" s; raise timeout_seconds or do less at once")?;
            let is_number = !seconds.is_empty() && seconds.bytes().all(|b| b.is_ascii_digit());
            return is_number.then_some(Self::TooLong { seconds, partial });
        }
        if let Some(why) = result.strip_prefix("not permitted: ") {
            return Some(Self::Forbidden(why));
        }
        result.strip_prefix("the tool broke down: ").map(Self::Broken)
    }

    /// The ending in words.
    pub(super) fn told(self, call: &AnsweredCall) -> Answer {
        let deed = deed(call);
        match self {
            Self::NotRun(why) => {
                let is_tool = deed.starts_with('`');
                let done = if is_tool { "run" } else { "done" };
                because(&format!("{deed} was not {done}"), why)
            }
            Self::Stopped => {
                Answer::new(format!("{deed} was stopped; it may have had a part of its effect."))
            }
            Self::Unknown => Answer::new(format!(
                "What came of this is not known: the process ended in the middle of it. {deed} may \
                 or may not have had its effect, and was not tried again."
            ))
            .note("Look at the state of things before you ask for it again."),
            Self::TooLong { seconds, partial } => {
                let (partial, advice) = advised(partial);
                let answer = Answer::new(format!(
                    "{deed} was stopped, because it did not end within {seconds} s."
                ));
                let answer = match partial.trim_matches('\n') {
                    "" => answer,
                    partial => answer.fenced(partial),
                };
                let answer = answer.note("Give it more time, or do less at once.");
                advice.into_iter().fold(answer, Answer::note)
            }
            Self::Forbidden(why) => because(&format!("{deed} is not permitted"), why),
            Self::Broken(why) => {
                because(&format!("{deed} failed, because the tool broke down"), why)
            }
        }
    }
}

/// A failure in the tool's own words.
pub(super) fn failed(call: &AnsweredCall, why: &str) -> Answer {
    because(&format!("{} failed", deed(call)), why)
}

/// "What: why.", with the rest of a long reason below.
fn because(what: &str, why: &str) -> Answer {
    let (why, advice) = advised(why);
    let why = why.trim();
    let (first, rest) = why.split_once('\n').unwrap_or((why, ""));
    let reason = inline(first, SHOWN_REASON);
    let answer = match reason.trim_end_matches('.') {
        "" => Answer::new(format!("{what}. No reason was given.")),
        _ if reason.ends_with(['.', '!', '?', '…']) => Answer::new(format!("{what}: {reason}")),
        // A command to type ends without a full stop, so that it can be copied.
        _ if reason.contains(": lango ") => Answer::new(format!("{what}: {reason}")),
        reason => Answer::new(format!("{what}: {reason}.")),
    };
    let cut = first.split_whitespace().map(|word| word.len() + 1).sum::<usize>() > reason.len() + 1;
    let answer = match (rest.trim(), cut) {
        ("", false) => answer,
        ("", true) => answer.quoted(first),
        (rest, false) => answer.quoted(rest),
        (_, true) => answer.quoted(why),
    };
    advice.into_iter().fold(answer, Answer::note)
}

/// An error, and what helped when it came up before.
fn advised(error: &str) -> (&str, Option<String>) {
    let Some(at) = error.rfind(ADVICE) else { return (error, None) };
    let (_, advice) = error[at..].split_once("What helped: ").unwrap_or_default();
    let advice = inline(advice, 300);
    let told = (!advice.is_empty()).then(|| format!("What helped before: {advice}"));
    (&error[..at], told)
}

/// What is meant for an agent and for nobody else.
fn without_orders(why: &str) -> &str {
    let orders = [
        " Do not try it again; tell the user.",
        " Do not try it again.",
        " Do not ask again.",
        " Look at it again, then call again.",
    ];
    orders.iter().find_map(|order| why.strip_suffix(order)).unwrap_or(why).trim_end_matches('.')
}

/// Why a call was refused before anything looked at it.
fn refused<'a>(call: &AnsweredCall, result: &'a str) -> Option<&'a str> {
    let sayings =
        ["this turn has no tool calls left; answer with what you have", "this one was not"];
    if result == sayings[0] {
        return Some("this turn has no tool calls left");
    }
    if result.starts_with("at most ") && result.ends_with(sayings[1]) {
        return Some(result);
    }
    let quoted = format!("{:?}", call.name);
    let rest = result.strip_prefix(&quoted).or_else(|| result.strip_prefix(call.name.as_str()))?;
    let why = rest.strip_prefix(" was not run: ")?;
    let orders = ". Use that result, do something else, or answer";
    let why = why.strip_suffix(orders).unwrap_or(why);
    Some(why.split_once(". Its tools are: ").map_or(why, |(why, _)| why))
}
