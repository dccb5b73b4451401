//! Whole turns with remote agents. The model is a script; the agents are real, and made by others.

mod commands;
mod cutting;
mod failures;
mod hostile;
mod membership;
pub(crate) mod peer;
mod talking;

pub(crate) use hostile::serve_card;
pub(crate) use membership::{absences, closed_port};
pub(crate) use peer::{Kind, Peer};

use crate::fixture::Lango;

/// The orchestrator hands each of these tasks to `weather` when the user's message contains the word
/// before it, and says what came back where something did.
pub(crate) fn handing(tasks: &[(&str, &str)]) -> String {
    let reply = |(word, task): &(&str, &str)| {
        format!(
            "[[reply]]\nagent = \"lango-orchestrator\"\nuser = \"{word}\"\nresults = 0\n\
             call = [{{ name = \"transfer_to_agent\", arguments = {{ agent_name = \"weather\", \
             task = \"{task}\" }} }}]\n"
        )
    };
    let replies: String = tasks.iter().map(reply).collect();
    format!("{replies}[[reply]]\nagent = \"lango-orchestrator\"\nsay = \"Back here: {{result}}\"\n")
}

/// Configures one agent, called `weather`.
pub(crate) fn configure(lango: &Lango, url: &str, more: &str) {
    let text = format!(
        "[a2a]\nenabled = true\n[[a2a.remoteAgents]]\nname = \"weather\"\nagentCardUrl = \"{url}\"\n{more}\n"
    );
    std::fs::write(lango.config_file(), text).unwrap();
}
