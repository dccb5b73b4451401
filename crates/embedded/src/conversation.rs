//! Extracts from a request what the user wants now: their text, and the calls that were made for it
//! so far.

use lango_model::{AnsweredCall, Message, ModelRequest, UserMessage};
use lango_tool::ToolDeclaration;

use super::question::as_words;
use super::schema::{Parameter, ValueKind, read_parameters};
use super::talk::quoted_line;

/// Holds what an agent is asked to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Conversation<'a> {
    /// The user's text: the newest, or the one before a question that the newest answers.
    pub(crate) words: String,
    /// The user's answers to questions.
    pub(crate) answers: Vec<UserAnswer>,
    /// The calls that were made for it, oldest first.
    pub(crate) done: Vec<&'a AnsweredCall>,
    /// True if an agent asked the user a question right before the newest message.
    pub(crate) follows_question: bool,
}

/// Represents an answer to one of our questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UserAnswer {
    /// The chosen one of two readings.
    Tool(String),
    /// A parameter's value.
    Value { tool: String, parameter: String, value: String },
    /// The user wants it to be left.
    Nothing,
}

/// Decides about answers.
pub(crate) trait AnswerJudge {
    /// Tells whether the text is a new request rather than an answer.
    fn is_request(&self, words: &str) -> bool;
    /// Returns the tools about which this author may have asked for us. `None` is the agent that is
    /// asked now.
    fn tools(&self, author: Option<&str>) -> Vec<&ToolDeclaration>;
    /// Returns the tool and the parameter that a question of ours asks for, about this request.
    fn find_asked_parameter(
        &self,
        author: Option<&str>,
        question: &str,
        request: &str,
    ) -> Option<(String, String)>;
}

impl<'a> Conversation<'a> {
    pub(crate) fn of(request: &'a ModelRequest, judge: &dyn AnswerJudge) -> Self {
        let newest = request.newest_user().unwrap_or_default();
        let done = request.messages[newest.min(request.messages.len())..].iter();
        let done = done.filter_map(|message| match message {
            Message::Exchange { calls, .. } => Some(calls),
            _ => None,
        });
        let (words, answers) = resolve_request(&request.messages, newest, judge);
        let follows_question = find_preceding_text(&request.messages, newest)
            .is_some_and(|(_, text)| text.contains('?'));
        Self { words, answers, done: done.flatten().collect(), follows_question }
    }

    /// Returns the tool that the user chose, if there was a question.
    pub(crate) fn chosen_tool(&self) -> Option<&str> {
        match self.answers.last()? {
            UserAnswer::Tool(tool) | UserAnswer::Value { tool, .. } => Some(tool),
            UserAnswer::Nothing => None,
        }
    }

    /// Tells whether the user cancelled the request.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.answers.last() == Some(&UserAnswer::Nothing)
    }

    /// Returns the values that the user gave for the parameters of a tool.
    pub(crate) fn given_values(&self, tool: &str) -> Vec<(String, String)> {
        let values = self.answers.iter().filter_map(|answer| match answer {
            UserAnswer::Value { tool: of, parameter, value } if of == tool => {
                Some((parameter.clone(), value.clone()))
            }
            _ => None,
        });
        values.collect()
    }
}

/// Returns the text of the original request, and the answers since.
fn resolve_request(
    messages: &[Message],
    at: usize,
    judge: &dyn AnswerJudge,
) -> (String, Vec<UserAnswer>) {
    let Some(Message::User(message)) = messages.get(at) else {
        return (String::new(), Vec::new());
    };
    let own = own_words(message);
    let question = find_preceding_text(messages, at);
    let earlier = messages[..at].iter().rposition(|m| matches!(m, Message::User(_)));
    let before = earlier.map(|earlier| resolve_request(messages, earlier, judge).0);
    let before = before.unwrap_or_default();
    let answer =
        question.and_then(|(author, text)| interpret_answer(author, text, &before, own, judge));
    match (answer, earlier, question) {
        (Some(answer), Some(earlier), Some((_, question))) => {
            let (mut words, mut answers) = resolve_request(messages, earlier, judge);
            if let Some(step) = find_step(question).filter(|step| words.contains(step)) {
                words = step.to_owned();
            }
            answers.push(answer);
            (words, answers)
        }
        _ => (own.to_owned(), Vec::new()),
    }
}

/// Returns the agent's text right before a user message, and its author.
fn find_preceding_text(messages: &[Message], at: usize) -> Option<(Option<&str>, &str)> {
    match messages[..at.min(messages.len())].last() {
        Some(Message::Assistant { author, text }) => Some((author.as_deref(), text)),
        _ => None,
    }
}

/// Returns the user's own text without attachments, or the task where it is a part of that text.
/// Text of another model is not the user's.
fn own_words(message: &UserMessage) -> &str {
    match &message.task {
        Some(task) if message.text.contains(task.as_str()) => task,
        _ => &message.text,
    }
}

const READING_QUESTION: &str = "Do you mean";
const STEP_PREFIX: &str = "It is about this step: ";
/// Limits the description in a question.
const MAX_DESCRIPTION_CHARACTERS: usize = 160;

/// Asks which of two tools is meant. [`interpret_answer`] understands it later.
pub(crate) fn ask_reading(first: &ToolDeclaration, second: &ToolDeclaration) -> String {
    format!(
        "{READING_QUESTION}\n1. {}\n2. {}\nAnswer 1 or 2, or say it in other words?",
        describe_tool(first),
        describe_tool(second)
    )
}

/// Describes a tool by what it does.
fn describe_tool(tool: &ToolDeclaration) -> String {
    let about = tool.description.split_inclusive(". ").next().unwrap_or_default();
    quoted_line(about.trim(), MAX_DESCRIPTION_CHARACTERS)
}

/// Asks for a parameter. [`interpret_answer`] understands it later.
pub(crate) fn ask_value(tool: &ToolDeclaration, parameter: &Parameter) -> String {
    if let Some(question) = known_question(&tool.name, &parameter.name) {
        return question.to_owned();
    }
    let name = as_words(&parameter.name);
    if let ValueKind::Choice(values) = &parameter.kind {
        let values = quoted_line(&values.join(", "), MAX_DESCRIPTION_CHARACTERS);
        return format!("Which {name} should it be: {values}?");
    }
    let about =
        quoted_line(parameter.description.trim_end_matches('.'), MAX_DESCRIPTION_CHARACTERS);
    let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
    format!("What is the {name}{about}?")
}

/// Returns the question about a parameter of a known tool, in natural words.
fn known_question(tool: &str, parameter: &str) -> Option<&'static str> {
    Some(match (tool, parameter) {
        ("exec_shell" | "exec_background", "command") => "Which command should I run?",
        ("exec_status" | "exec_stop", "id") => "Which background command do you mean?",
        ("browser_navigate", "url") => "Which page should I open?",
        ("browser_click", _) => "What should I click on?",
        ("browser_type", "text") => "What should I type?",
        ("browser_type", _) => "Into which field should I type?",
        ("save_knowledge", "key") => "Under which name should I save it?",
        ("save_knowledge", "content") => "What should I save?",
        ("save_learning", "trigger") => "When does it happen?",
        ("save_learning", "fix") => "What helps?",
        ("memory_store" | "observe_event", "content") => "What should I remember?",
        ("memory_forget", _) => "What should I forget?",
        (
            "memory_search" | "search_knowledge" | "search_learnings" | "rag_retrieve"
            | "search_web",
            "query",
        ) => "What should I look for?",
        ("rag_ingest", _) => "Which file or page should I read into the documents?",
        ("graph_add", "subject") => "Who or what is it about?",
        ("graph_add", "predicate") => "How are the two related?",
        ("graph_add", "object") => "To whom or what is it related?",
        ("graph_traverse", _) => "Where should I start?",
        ("cron_add", "schedule") => "When should it happen?",
        ("cron_add", "task") => "What should be done then?",
        ("cron_add", "name") => "What should the job be called?",
        ("workflow_save" | "workflow_run", "yaml") => {
            "I cannot write workflows. Write its steps into a file, then: lango workflow save FILE. \
             What is its YAML?"
        }
        ("workflow_run", _) => "Which workflow should I run?",
        ("workflow_status" | "workflow_cancel", _) => {
            "Which workflow do you mean? To see them: lango workflow list"
        }
        ("bg_status" | "bg_result" | "bg_cancel", _) => "Which background task do you mean?",
        ("cron_remove" | "cron_pause" | "cron_resume", _) => "Which job do you mean?",
        ("secrets_set" | "secrets_get" | "secrets_delete", "name") => "What is the secret called?",
        ("payment_send", "to") => "Who should get it?",
        ("payment_send", "amount") => "How much should be sent?",
        ("payment_send", "purpose") => "What is it for?",
        ("create_skill", "name") => "What should the skill be called?",
        ("create_skill", "description") => "What is the skill for?",
        _ => return None,
    })
}

/// Says which step of a plan a question is about; nothing where that cannot be read back.
pub(crate) fn describe_step(step: &str) -> Option<String> {
    (quoted_line(step, usize::MAX) == step).then(|| format!("{STEP_PREFIX}{step}"))
}

fn find_step(question: &str) -> Option<&str> {
    question.lines().find_map(|line| line.strip_prefix(STEP_PREFIX))
}

/// Interprets an answer to one of our questions; `None` if the question is not ours, or the text is
/// no answer.
fn interpret_answer(
    author: Option<&str>,
    question: &str,
    before: &str,
    words: &str,
    judge: &dyn AnswerJudge,
) -> Option<UserAnswer> {
    if let Some(rest) = question.strip_prefix(READING_QUESTION) {
        let tools: Vec<&ToolDeclaration> = rest
            .lines()
            .filter_map(|line| line.strip_prefix("1. ").or_else(|| line.strip_prefix("2. ")))
            .filter_map(|line| {
                judge.tools(author).into_iter().find(|tool| describe_tool(tool) == line)
            })
            .collect();
        let [first, second] = tools.as_slice() else { return None };
        let said = words.trim().trim_end_matches(['.', '!', ')']).to_lowercase();
        return match said.trim_start_matches("the ").trim_end_matches(" one") {
            "1" | "one" | "first" | "a" => Some(UserAnswer::Tool(first.name.to_string())),
            "2" | "two" | "second" | "b" => Some(UserAnswer::Tool(second.name.to_string())),
            _ => is_refusal(words).then_some(UserAnswer::Nothing),
        };
    }
    let asked = question.lines().next()?;
    let (tool, parameter) = judge.find_asked_parameter(author, asked, before)?;
    if is_refusal(words) {
        return Some(UserAnswer::Nothing);
    }
    let value = words.trim();
    (!value.is_empty() && !judge.is_request(words)).then(|| UserAnswer::Value {
        tool,
        parameter,
        value: value.to_owned(),
    })
}

/// Returns the parameter of a tool that a question asks for.
pub(crate) fn asked_parameter(tool: &ToolDeclaration, question: &str) -> Option<String> {
    let mut parameters = read_parameters(tool).into_iter();
    parameters
        .find(|parameter| ask_value(tool, parameter) == question)
        .map(|parameter| parameter.name)
}

/// Tells whether an answer cancels the request.
pub(crate) fn is_refusal(words: &str) -> bool {
    const REFUSALS: [&str; 20] = [
        "no",
        "nope",
        "no thanks",
        "no thank you",
        "stop",
        "cancel",
        "cancel it",
        "never mind",
        "nevermind",
        "forget it",
        "leave it",
        "leave it be",
        "don't",
        "do not",
        "nothing",
        "neither",
        "none",
        "skip it",
        "abort",
        "quit",
    ];
    let said = words.trim().trim_end_matches(['.', '!']).replace('’', "'").to_lowercase();
    let said = said.trim_end_matches(" please").trim_end_matches(',');
    REFUSALS.contains(&said)
}

#[cfg(test)]
mod tests;
