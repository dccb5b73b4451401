//! Answers small talk, and explains what cannot be done: short, honest, and never with the user's
//! own text in it. No answer pretends to know or to feel anything.

mod kind;
mod phrases;

use lango_text::{single_spaced, truncate_characters};

use self::kind::{Kind, Language};

/// Limits the agents that are listed.
const MAX_LISTED_AGENT_COUNT: usize = 20;
/// Limits an agent's description.
const MAX_DESCRIPTION_CHARACTERS: usize = 160;

/// Describes the embedded model.
macro_rules! small {
    () => {
        "this is the small model that is part of the program: it puts requests to work, but cannot \
         chat or answer from knowledge"
    };
}

/// Explains how to connect another model.
macro_rules! connect {
    () => {
        "To connect a bigger one, type `export ANTHROPIC_API_KEY=…` (or start Ollama) and ask again."
    };
}

/// Answers small talk. `agents` are the specialists of this team, each with its purpose.
pub(crate) fn reply(text: &str, agents: &[(&str, &str)]) -> String {
    match Kind::of(text) {
        Kind::Abilities => abilities(agents),
        kind => line(kind).to_owned(),
    }
}

/// Returns the line for a kind of small talk.
fn line(kind: Kind) -> &'static str {
    match kind {
        Kind::Greeting(language) => match language {
            Language::English => "Hello. What should I do?",
            Language::German => "Hallo. Was soll ich tun?",
            Language::French => "Bonjour. Que puis-je faire ?",
            Language::Spanish => "Hola. ¿Qué hago?",
            Language::Italian => "Ciao. Che cosa devo fare?",
            Language::Portuguese => "Olá. O que devo fazer?",
        },
        Kind::Thanks(language) => match language {
            Language::English => "You're welcome.",
            Language::German => "Gern geschehen.",
            Language::French => "De rien.",
            Language::Spanish => "De nada.",
            Language::Italian => "Prego.",
            Language::Portuguese => "De nada. Às ordens.",
        },
        Kind::Farewell => "Goodbye.",
        Kind::Wellbeing => "I am a program, and I am running. What should I do?",
        Kind::Identity => concat!("I am Lango, and ", small!(), "."),
        Kind::Abilities => "I put requests to work. To see who does what: lango agents list",
        Kind::Compliment => "Thank you.",
        Kind::Acknowledgement => "All right. I am here when there is something to do.",
        Kind::Joy => "That is good to hear.",
        Kind::Mood => {
            "I am sorry to hear that. I am a program and cannot talk it over, but I can put a \
             request to work."
        }
        Kind::Complaint => {
            "I am sorry. Say in one plain sentence what should be done, and I will try."
        }
        Kind::Joke => concat!("I have no jokes: ", small!(), ". ", connect!()),
        Kind::Writing => concat!("I cannot write or translate: ", small!(), ". ", connect!()),
        Kind::Opinion => concat!("I have no opinions: ", small!(), ". ", connect!()),
        Kind::Knowledge => concat!("I cannot answer that: ", small!(), ". ", connect!()),
        Kind::Other => {
            "I cannot chat: this is the small model that is part of the program. Say what should be \
             done, or connect a bigger one: `export ANTHROPIC_API_KEY=…`"
        }
    }
}

fn abilities(agents: &[(&str, &str)]) -> String {
    if agents.is_empty() {
        return line(Kind::Abilities).to_owned();
    }
    let mut text = "I transfer requests to these specialists:".to_owned();
    for (name, description) in agents.iter().take(MAX_LISTED_AGENT_COUNT) {
        text.push_str(&format!("\n- {name}: {}", shorten(description)));
    }
    if agents.len() > MAX_LISTED_AGENT_COUNT {
        text.push_str(&format!(
            "\n(… {} more: lango agents list)",
            agents.len() - MAX_LISTED_AGENT_COUNT
        ));
    }
    text
}

/// Shortens a description to one line.
fn shorten(description: &str) -> String {
    truncate_characters(&single_spaced(description), MAX_DESCRIPTION_CHARACTERS).to_owned()
}

/// Reports a request for an agent that this team does not have. `job` is the agent's purpose.
pub(crate) fn no_such_agent(name: &str, job: &str) -> String {
    format!(
        "That is work for the {name} ({}), which is not part of this team. To see who is: lango \
         agents list",
        shorten(job)
    )
}

/// Reports that an agent lacks this tool.
pub(crate) fn no_such_tool(agent: &str, tool: &str) -> String {
    format!(
        "That is work for the {agent}, with `{tool}`, which is not set up here. To see what is: \
         lango agents show {agent}"
    )
}

/// Reports a missing tool for an agent that cannot transfer.
pub(crate) fn no_tool(tool: &str) -> String {
    format!("That would need `{tool}`, which is not set up here. To see what is: lango agents list")
}

/// Asks for one step at a time, for an agent that cannot transfer.
pub(crate) fn one_at_a_time() -> &'static str {
    "I did nothing: without a team I take one request at a time. Ask for the first step."
}

/// Reports a step of a plan that no agent clearly fits. Nothing was done.
pub(crate) fn unclear_step(step: &str) -> String {
    format!(
        "I did nothing, because one step is not clear to me: {}\nSay it in other words, or ask for \
         one step at a time.",
        quoted(step)
    )
}

/// Lists steps that may not be run any more.
pub(crate) fn not_allowed(steps: &[&str]) -> String {
    format!("I may not transfer any more tasks in this turn. {}", not_done(steps))
}

/// Lists the steps after one that failed.
pub(crate) fn not_done(steps: &[&str]) -> String {
    let lines: Vec<String> = steps.iter().map(|step| format!("- {}", quoted(step))).collect();
    format!("These steps were not taken; ask for them again:\n{}", lines.join("\n"))
}

/// Quotes the user's text without the markers of agents.
fn quoted(words: &str) -> String {
    quoted_line(words, MAX_DESCRIPTION_CHARACTERS)
}

/// Returns one line of a text, shortened, without markers.
pub(crate) fn quoted_line(words: &str, max_characters: usize) -> String {
    let line = single_spaced(words).replace('[', "(").replace(']', ")").replace('`', "'");
    truncate_characters(&line, max_characters).to_owned()
}

/// Confirms that the request was cancelled.
pub(crate) fn cancelled() -> &'static str {
    "All right, I leave it."
}

/// Answers a list whose surrounding text says more than that its lines shall be done.
pub(crate) fn other_list() -> &'static str {
    "I did nothing: I cannot tell what to do with this list. I take lists whose lines are things to \
     do, at most twelve, with nothing around them but a word such as \"please:\"."
}

/// Answers a request of several steps that cannot be separated.
pub(crate) fn cannot_split() -> &'static str {
    concat!(
        "I cannot make a plan of that: I only take apart what is said step by step, such as \"first … \
         and then …\" or a list. Ask for one step at a time, or let a bigger model plan. ",
        connect!()
    )
}

/// Answers a request that only a larger model can do.
pub(crate) fn needs_bigger_model() -> &'static str {
    concat!("That needs a bigger model: ", small!(), ". ", connect!())
}

#[cfg(test)]
mod tests;
