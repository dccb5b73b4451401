//! Commands that were run, and what they printed.

use lango_model::AnsweredCall;
use serde::Deserialize;

use super::answer::{Answer, code};
use super::deed::given;

#[derive(Deserialize)]
struct Command {
    command: String,
}

/// `exec_shell`.
pub(super) fn ran(call: &AnsweredCall) -> Option<Answer> {
    let Command { command } = given(call)?;
    ended(&code(&command), &call.result)
}

/// How something ended that was run, with what it printed.
fn ended(what: &str, result: &str) -> Option<Answer> {
    let (head, printed) = result.split_once('\n').unwrap_or((result, ""));
    let (how, time) = head.split_once(" after ")?;
    let lead = match how.strip_prefix("exit code ") {
        Some(code) => {
            let number = code.split_once(" (signal ").map_or(code, |(number, _)| number);
            number.parse::<i32>().ok()?;
            format!("{what} ended with exit code {code}")
        }
        None if how == "its sandbox was killed" => format!("{what} ended because {how}"),
        None => return None,
    };
    let (time, silent) = match time.strip_suffix(", no output") {
        Some(time) => (time, true),
        None => (time, printed.is_empty()),
    };
    time.strip_suffix(" s")?.parse::<f64>().ok()?;
    if silent {
        let answer = Answer::new(format!("{lead} and printed nothing."));
        let note = printed.trim().trim_start_matches('(').trim_end_matches(')');
        return Some(if note.is_empty() { answer } else { answer.note(format!("{note}.")) });
    }
    // The streams stay as they are: only the first heading is superfluous.
    let printed = printed.strip_prefix("stdout:\n").unwrap_or(printed);
    Some(Answer::new(format!("{lead}:")).fenced(printed))
}

/// `exec_background`.
pub(super) fn started(call: &AnsweredCall) -> Option<Answer> {
    let Command { command } = given(call)?;
    let id = call.result.strip_prefix("started, id ")?;
    let id = code(id);
    Some(Answer::new(format!("Started {} in the background, as {id}.", code(&command))))
}

/// `exec_status` and `exec_stop`.
pub(super) fn standing(call: &AnsweredCall) -> Option<Answer> {
    let (head, output) = call.result.split_once("\noutput:\n")?;
    let (id, state) = head.split_once(' ')?;
    let id = code(id);
    let lead = if let Some(time) = state.strip_prefix("running since ") {
        format!("{id} has been running for {time}")
    } else if state == "stopped" {
        format!("{id} was stopped")
    } else if let Some(how) = state.strip_prefix("exited") {
        format!("{id} has ended{how}")
    } else {
        format!("{id} failed: {}", state.strip_prefix("failed: ")?)
    };
    Some(match output {
        "(no output)" => Answer::new(format!("{lead}. It printed nothing.")),
        output => Answer::new(format!("{lead}. The last of what it printed:")).fenced(output),
    })
}

/// `output_read`.
pub(super) fn output(call: &AnsweredCall) -> Option<Answer> {
    let (text, place) = call.result.rsplit_once("\n[from line ")?;
    let (first, total) = place.strip_suffix(']')?.split_once(" of ")?;
    let (first, total): (u64, u64) = (first.parse().ok()?, total.parse().ok()?);
    if text.trim().is_empty() {
        return Some(Answer::new(format!("There is nothing to show of these {total} lines.")));
    }
    Some(Answer::new(format!("From line {first} of {total}:")).fenced(text))
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// A skill: its script was run, or it is a text.
pub(super) fn skill(call: &AnsweredCall) -> Option<Answer> {
    let name = match call.name.strip_prefix("skill_")? {
        "run" => given(call).map(|Named { name }| name)?,
        name => name.to_owned(),
    };
    if let Some(rest) = call.result.strip_prefix("Instructions of the skill ") {
        let (head, body) = rest.split_once("\n\n")?;
        let name = head.split_once(" (").map_or(head, |(name, _)| name);
        let lead = format!("The skill {} consists of instructions:", code(name));
        return Some(Answer::new(lead).quoted(body));
    }
    ended(&format!("The skill {}", code(&name)), &call.result)
}
