//! What another agent said.

use lango_model::AnsweredCall;
use lango_model::handover::{answer_of, question_of};
use serde::Deserialize;

use super::answer::{Answer, inline};
use super::deed::given;

#[derive(Deserialize)]
struct Transfer {
    agent_name: String,
}

/// What an answer begins with, after what it is about, when the work was not done.
const FAILURES: [&str; 11] = [
    " failed",
    " ended because",
    " answered with status",
    "needs a bigger model",
    "Nothing was forgotten",
    "I did nothing",
    " was not done",
    " was not run",
    " is not permitted",
    " was stopped",
    "is not known",
];

/// Whether the agent answered, and does not say that it did not work: what comes next in a plan may
/// rest on it.
pub(super) fn went_well(call: &AnsweredCall) -> bool {
    let agent = given(call).map(|Transfer { agent_name }| agent_name).unwrap_or_default();
    let answer = answer_of(&agent, &call.result);
    !agent.is_empty() && answer.is_some_and(|answer| !says_failure(answer))
}

/// Whether the first words say that something did not work. Names and commands are left out: they can
/// be anything.
fn says_failure(answer: &str) -> bool {
    let line = answer.trim_start().lines().next().unwrap_or_default();
    let words: String = line.split('`').step_by(2).collect();
    let what = words.split([':', '.', ',', ';']).next().unwrap_or_default();
    let exit = what.split_once(" ended with exit code ").map(|(_, code)| code.trim());
    FAILURES.iter().any(|failure| what.contains(failure)) || exit.is_some_and(|code| code != "0")
}

/// The question of an agent that cannot go on.
pub(super) fn question(call: &AnsweredCall) -> Option<&str> {
    let Transfer { agent_name } = given(call)?;
    question_of(&agent_name, &call.result)
}

/// What came back from a hand-over. An answer is for the user already and is passed on as it is.
pub(super) fn came_back(call: &AnsweredCall) -> Option<Answer> {
    let Transfer { agent_name: agent } = given(call)?;
    let told = call.result.strip_prefix(agent.as_str())?;
    if let Some(answer) = answer_of(&agent, &call.result) {
        return (!answer.trim().is_empty()).then(|| Answer::new("").lines(answer));
    }
    if let Some(question) = question_of(&agent, &call.result) {
        return Some(Answer::new(format!("The {agent} asks:")).lines(question));
    }
    if let Some(why) = told.strip_prefix(" rejected the task: ") {
        let why = why.strip_suffix(". Choose another agent, or answer.").unwrap_or(why);
        return Some(Answer::new(format!("The {agent} did not take this: {}", inline(why, 600))));
    }
    let (how, why) =
        [(" could not finish: ", "could not finish"), (" was stopped: ", "was stopped")]
            .iter()
            .find_map(|(said, how)| told.strip_prefix(said).map(|why| (*how, why)))?;
    Some(Answer::new(format!("The {agent} {how}: {}", inline(why, 600))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_says_it_did_not_work_is_no_ground_to_go_on() {
        for answer in [
            "Reading `a: b.txt` failed: a: b.txt does not exist.",
            "`mcp_x_y` was not run: not approved (nobody could be asked).",
            "Listing `/` is not permitted: it lies outside.",
            "`make` ended with exit code 2:\n\n```\nx\n```",
            "Running `x` was stopped, because it did not end within 5 s.",
            "What came of this is not known: the process ended in the middle of it.",
        ] {
            assert!(says_failure(answer), "{answer}");
        }
        for answer in [
            "`x failed: y` (1 line):\n\n```\nthis failed: all\n```",
            "I'll remember: the build failed: twice",
            "`make` ended with exit code 0:\n\n```\nfailed\n```",
            "3 entries in the workspace:",
        ] {
            assert!(!says_failure(answer), "{answer}");
        }
    }
}
