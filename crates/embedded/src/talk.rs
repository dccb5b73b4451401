//! Answers small talk, and explains what cannot be done: short, honest, and never with the user's
//! own text in it. No answer pretends to know or to feel anything.

mod kind;
mod phrases;

use super::help::answer_help_question;
use lango_text::{to_single_spaced, truncate_characters};

use self::kind::{Language, SmallTalkKind};

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
pub(crate) fn answer_small_talk(text: &str, agents: &[(&str, &str)]) -> String {
    match SmallTalkKind::of(text) {
        SmallTalkKind::Abilities => describe_abilities(agents),
        kind => canned_line(kind).to_owned(),
    }
}

/// Returns the line for a kind of small talk.
fn canned_line(kind: SmallTalkKind) -> &'static str {
    match kind {
        SmallTalkKind::Greeting(language) => match language {
            Language::English => "Hello. What should I do?",
            Language::German => "Hallo. Was soll ich tun?",
            Language::French => "Bonjour. Que puis-je faire ?",
            Language::Spanish => "Hola. ¿Qué hago?",
            Language::Italian => "Ciao. Che cosa devo fare?",
            Language::Portuguese => "Olá. O que devo fazer?",
        },
        SmallTalkKind::Thanks(language) => match language {
            Language::English => "You're welcome.",
            Language::German => "Gern geschehen.",
            Language::French => "De rien.",
            Language::Spanish => "De nada.",
            Language::Italian => "Prego.",
            Language::Portuguese => "De nada. Às ordens.",
        },
        SmallTalkKind::Farewell => "Goodbye.",
        SmallTalkKind::Wellbeing => "I am a program, and I am running. What should I do?",
        SmallTalkKind::Identity => concat!("I am Lango, and ", small!(), "."),
        SmallTalkKind::Abilities => {
            "I put requests to work. To see who does what: lango agents list"
        }
        SmallTalkKind::Compliment => "Thank you.",
        SmallTalkKind::Acknowledgement => "All right. I am here when there is something to do.",
        SmallTalkKind::Joy => "That is good to hear.",
        SmallTalkKind::Mood => {
            "I am sorry to hear that. I am a program and cannot talk it over, but I can put a \
             request to work."
        }
        SmallTalkKind::Complaint => {
            "I am sorry. Say in one plain sentence what should be done, and I will try."
        }
        SmallTalkKind::Joke => concat!("I have no jokes: ", small!(), ". ", connect!()),
        SmallTalkKind::Writing => {
            concat!("I cannot write or translate: ", small!(), ". ", connect!())
        }
        SmallTalkKind::Opinion => concat!("I have no opinions: ", small!(), ". ", connect!()),
        SmallTalkKind::Knowledge => concat!("I cannot answer that: ", small!(), ". ", connect!()),
        SmallTalkKind::Statement => {
            "What you say of yourself and your work is remembered where it says something lasting: \
             `lango memory list` shows it. I cannot chat about it; say what should be done."
        }
        SmallTalkKind::Other => {
            "I cannot chat: this is the small model that is part of the program. Say what should be \
             done, or connect a bigger one: `export ANTHROPIC_API_KEY=…`"
        }
    }
}

fn describe_abilities(agents: &[(&str, &str)]) -> String {
    if agents.is_empty() {
        return canned_line(SmallTalkKind::Abilities).to_owned();
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
    truncate_characters(&to_single_spaced(description), MAX_DESCRIPTION_CHARACTERS).to_owned()
}

/// Reports a request for an agent that this team does not have. `job` is the agent's purpose.
pub(crate) fn describe_missing_agent(name: &str, job: &str) -> String {
    format!(
        "I cannot do that: it is work for the {name} ({}), which is not part of this team. To see \
         who is: lango agents list",
        shorten(job)
    )
}

/// Reports that an agent lacks this tool.
pub(crate) fn describe_missing_tool(agent: &str, tool: &str) -> String {
    format!(
        "I cannot do that: the {agent} needs {} for it, which is not set up here. To see what is: \
         lango agents show {agent}",
        spoken_tool(tool)
    )
}

/// Reports a missing tool for an agent that cannot transfer.
pub(crate) fn describe_untransferable_tool(tool: &str) -> String {
    format!(
        "I cannot do that: {} is not set up here. To see what is: lango agents list",
        spoken_tool(tool)
    )
}

/// Returns the name of a tool in words.
fn spoken_tool(tool: &str) -> String {
    match tool {
        "search_web" => "a web search".to_owned(),
        other => format!("“{}”", super::question::as_words(other)),
    }
}

/// Asks for one step at a time, for an agent that cannot transfer.
pub(crate) fn one_step_at_a_time_line() -> &'static str {
    "I did nothing: without a team I take one request at a time. Ask for the first step."
}

/// Reports a step of a plan that no agent clearly fits. Nothing was done.
pub(crate) fn describe_unclear_step(step: &str) -> String {
    format!(
        "I did nothing, because one step is not clear to me: {}\nHow else would you say it, or should I \
         take one step at a time?",
        quote_words(step)
    )
}

/// Lists steps that may not be run any more.
pub(crate) fn list_steps_not_allowed(steps: &[&str]) -> String {
    format!("I may not transfer any more tasks in this turn. {}", list_steps_not_done(steps))
}

/// Lists the steps after one that failed.
pub(crate) fn list_steps_not_done(steps: &[&str]) -> String {
    let lines: Vec<String> = steps.iter().map(|step| format!("- {}", quote_words(step))).collect();
    format!("These steps were not taken; ask for them again:\n{}", lines.join("\n"))
}

/// Quotes the user's text without the markers of agents.
fn quote_words(words: &str) -> String {
    quoted_line(words, MAX_DESCRIPTION_CHARACTERS)
}

/// Returns one line of a text, shortened, without markers.
pub(crate) fn quoted_line(words: &str, max_characters: usize) -> String {
    let line = to_single_spaced(words).replace('[', "(").replace(']', ")").replace('`', "'");
    truncate_characters(&line, max_characters).to_owned()
}

/// Answers a question about Lango.
pub(crate) fn answer_help(question: &str) -> String {
    answer_help_question(question).unwrap_or_else(|| {
        "I cannot answer that about myself. To see what I can do: lango agents list, and all commands: \
         lango --help".to_owned()
    })
}

/// Answers a request in another language.
pub(crate) fn only_english_line() -> &'static str {
    concat!(
        "I cannot read that language: I understand English, and so does a file's name. ",
        connect!()
    )
}

/// Asks for what an order lacks.
pub(crate) fn vague_line() -> &'static str {
    "What exactly should I do, and with what?"
}

/// Answers a text that asks for nothing.
pub(crate) fn stray_line() -> &'static str {
    "I did nothing with that text, and I cannot write about it. What should be done with it?"
}

/// Asks for another time than one that never comes.
pub(crate) fn describe_impossible_time(time: &str) -> String {
    format!("“{time}” never comes. When should it be?")
}

/// Says that the value of a secret is not shown.
pub(crate) fn secret_value_line() -> &'static str {
    "I cannot show the value of a secret: no model and no conversation ever gets it. Programs use it through \
     a handle. `lango secrets list` shows the names; `lango secrets set NAME` stores a new value."
}

/// Confirms that the request was cancelled.
pub(crate) fn cancelled_line() -> &'static str {
    "All right, I leave it."
}

/// Answers a list whose surrounding text says more than that its lines shall be done.
pub(crate) fn unclear_list_line() -> &'static str {
    "I did nothing: I cannot tell what to do with this list. I take lists whose lines are things to \
     do, at most twelve, with nothing around them but a word such as \"please:\"."
}

/// Answers a request of several steps that cannot be separated.
pub(crate) fn cannot_split_line() -> &'static str {
    concat!(
        "I cannot make a plan of that: I only take apart what is said step by step, such as \"first … \
         and then …\" or a list. Ask for one step at a time, or let a bigger model plan. ",
        connect!()
    )
}

/// Answers a question about which no store knows anything.
pub(crate) fn unknown_answer_line() -> &'static str {
    concat!(
        "I found nothing about that in your memories, knowledge, documents and files, and I cannot \
         answer from general knowledge: ",
        small!(),
        ". ",
        connect!()
    )
}

/// Answers a request that only a larger model can do.
pub(crate) fn needs_bigger_model() -> &'static str {
    concat!("That needs a bigger model: ", small!(), ". ", connect!())
}

#[cfg(test)]
mod tests;
