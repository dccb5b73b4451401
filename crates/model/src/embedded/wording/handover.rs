//! What another agent said.

use serde::Deserialize;

use super::answer::{Answer, inline};
use super::deed::given;
use crate::AnsweredCall;

/// What stands before an agent's question.
const ASKS: &str = " needs an answer from the user. It asks:\n";

#[derive(Deserialize)]
struct Transfer {
    agent_name: String,
}

/// Whether the agent answered.
pub(super) fn answered(call: &AnsweredCall) -> bool {
    let agent = given(call).map(|Transfer { agent_name }| agent_name).unwrap_or_default();
    let told = call.result.strip_prefix(agent.as_str());
    !agent.is_empty() && told.is_some_and(|told| told.starts_with(" answered:\n"))
}

/// The question of an agent that cannot go on.
pub(super) fn question(call: &AnsweredCall) -> Option<&str> {
    let Transfer { agent_name } = given(call)?;
    let told = call.result.strip_prefix(agent_name.as_str())?;
    told.strip_prefix(ASKS)
}

/// What came back from a hand-over. An answer is for the user already and is passed on as it is.
pub(super) fn came_back(call: &AnsweredCall) -> Option<Answer> {
    let Transfer { agent_name: agent } = given(call)?;
    let told = call.result.strip_prefix(agent.as_str())?;
    if let Some(answer) = told.strip_prefix(" answered:\n") {
        return (!answer.trim().is_empty()).then(|| Answer::new("").lines(answer));
    }
    if let Some(question) = told.strip_prefix(ASKS) {
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
