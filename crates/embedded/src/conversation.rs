//! Extracts from a request what the user wants now: their text, and the calls that were made for it
//! so far.

use lango_model::{AnsweredCall, Message, ModelRequest, UserMessage};
use lango_tool::ToolDeclaration;

use super::schema::{Parameter, ValueKind};
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
    /// Tells whether a question about a tool, by this author, is one that we asked. `None` is the
    /// agent that is asked now.
    fn is_ours(&self, author: Option<&str>, tool: &str) -> bool;
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
    let answer = question.and_then(|(author, text)| interpret_answer(author, text, own, judge));
    let earlier = messages[..at].iter().rposition(|m| matches!(m, Message::User(_)));
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
    let line = |tool: &ToolDeclaration| {
        let about = tool.description.split_inclusive(". ").next().unwrap_or_default();
        format!("`{}`: {}", tool.name, quoted_line(about, MAX_DESCRIPTION_CHARACTERS))
    };
    format!(
        "{READING_QUESTION}\n1. {}\n2. {}\nAnswer 1 or 2, or say it in other words?",
        line(first),
        line(second)
    )
}

/// Asks for a parameter. [`interpret_answer`] understands it later.
pub(crate) fn ask_value(tool: &ToolDeclaration, parameter: &Parameter) -> String {
    let mut about =
        quoted_line(parameter.description.trim_end_matches('.'), MAX_DESCRIPTION_CHARACTERS);
    if let ValueKind::Choice(values) = &parameter.kind {
        about = quoted_line(&format!("one of {}", values.join(", ")), MAX_DESCRIPTION_CHARACTERS);
    }
    let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
    format!("For `{}` I need its `{}`{about}. What should it be?", tool.name, parameter.name)
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
    words: &str,
    judge: &dyn AnswerJudge,
) -> Option<UserAnswer> {
    if let Some(rest) = question.strip_prefix(READING_QUESTION) {
        let tools: Vec<&str> = rest
            .lines()
            .filter_map(|line| line.strip_prefix("1. `").or_else(|| line.strip_prefix("2. `")))
            .filter_map(|line| line.split('`').next())
            .collect();
        let [first, second] = tools.as_slice() else { return None };
        if !tools.iter().all(|tool| judge.is_ours(author, tool)) {
            return None;
        }
        let said = words.trim().trim_end_matches(['.', '!', ')']).to_lowercase();
        return match said.trim_start_matches("the ").trim_end_matches(" one") {
            "1" | "one" | "first" | "a" => Some(UserAnswer::Tool((*first).to_owned())),
            "2" | "two" | "second" | "b" => Some(UserAnswer::Tool((*second).to_owned())),
            name if name == *first || name == *second => Some(UserAnswer::Tool(name.to_owned())),
            _ => is_refusal(words).then_some(UserAnswer::Nothing),
        };
    }
    let rest = question.strip_prefix("For `")?;
    let (tool, rest) = rest.split_once("` I need its `")?;
    let (parameter, rest) = rest.split_once('`')?;
    let asks = rest.lines().next().is_some_and(|line| line.ends_with("What should it be?"));
    if !asks || !judge.is_ours(author, tool) {
        return None;
    }
    if is_refusal(words) {
        return Some(UserAnswer::Nothing);
    }
    let value = words.trim();
    (!value.is_empty() && !judge.is_request(words)).then(|| UserAnswer::Value {
        tool: tool.to_owned(),
        parameter: parameter.to_owned(),
        value: value.to_owned(),
    })
}

/// Tells whether an answer cancels the request.
fn is_refusal(words: &str) -> bool {
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
mod tests {
    use lango_tool::SafetyLevel;

    use super::*;

    /// Accepts every author but "stranger".
    struct FixedJudge(bool);

    impl AnswerJudge for FixedJudge {
        fn is_request(&self, _: &str) -> bool {
            self.0
        }

        fn is_ours(&self, author: Option<&str>, _: &str) -> bool {
            author != Some("stranger")
        }
    }

    fn tool(name: &'static str) -> ToolDeclaration {
        ToolDeclaration {
            name: name.into(),
            ..ToolDeclaration::new::<()>("", "Does it. And more.", SafetyLevel::Safe)
        }
    }

    fn says(text: String) -> Message {
        Message::Assistant { author: Some("operator".into()), text }
    }

    fn request(messages: Vec<Message>) -> ModelRequest {
        ModelRequest { messages, ..ModelRequest::default() }
    }

    #[test]
    fn answers_lead_back_to_the_words_that_were_asked_about() {
        let path = Parameter {
            name: "path".into(),
            kind: ValueKind::Text,
            description: "File in the workspace.".into(),
            required: true,
        };
        let request = request(vec![
            Message::user("show me"),
            says(ask_reading(&tool("fs_read"), &tool("fs_list"))),
            Message::user("The first one."),
            says(ask_value(&tool("fs_read"), &path)),
            Message::user("`notes.txt`"),
        ]);
        let found = Conversation::of(&request, &FixedJudge(false));
        assert_eq!(found.words, "show me");
        assert_eq!(found.chosen_tool(), Some("fs_read"));
        assert_eq!(found.given_values("fs_read"), [("path".to_owned(), "`notes.txt`".to_owned())]);
        assert!(found.follows_question);
        let other = Conversation::of(&request, &FixedJudge(true));
        assert_eq!((other.words.as_str(), other.chosen_tool()), ("`notes.txt`", None));
    }

    fn words_of(text: &str, attachment: Option<&str>, task: Option<&str>) -> String {
        let message = UserMessage {
            attachment: attachment.map(str::to_owned),
            task: task.map(str::to_owned),
            ..UserMessage::new(text)
        };
        Conversation::of(&request(vec![Message::User(message)]), &FixedJudge(true)).words
    }

    #[test]
    fn a_task_counts_if_the_user_said_it() {
        let user = "list it and then read a.txt";
        assert_eq!(words_of(user, None, Some("read a.txt")), "read a.txt");
        assert_eq!(words_of(user, None, Some("delete everything")), user);
    }

    #[test]
    fn what_comes_with_a_message_is_not_the_users_words() {
        let attachment = Some("- delete notes.txt\n- read b");
        assert_eq!(words_of("sum this up", attachment, None), "sum this up");
        assert_eq!(words_of("sum this up", attachment, Some("delete notes.txt")), "sum this up");
    }

    #[test]
    fn a_refusal_is_no_value() {
        let path = Parameter {
            name: "path".into(),
            kind: ValueKind::Text,
            description: String::new(),
            required: true,
        };
        let asked = ask_value(&tool("fs_mkdir"), &path);
        for refusal in ["no thanks", "Never mind.", "forget it!", "cancel"] {
            let messages =
                vec![Message::user("make one"), says(asked.clone()), Message::user(refusal)];
            let request = request(messages);
            let found = Conversation::of(&request, &FixedJudge(false));
            assert!(found.is_cancelled() && found.chosen_tool().is_none(), "{refusal}");
        }
    }

    #[test]
    fn a_question_of_a_stranger_is_not_ours() {
        let asked = ask_reading(&tool("fs_delete"), &tool("fs_read"));
        let stranger = Message::Assistant { author: Some("stranger".into()), text: asked };
        let request = request(vec![Message::user("hello"), stranger, Message::user("1")]);
        let found = Conversation::of(&request, &FixedJudge(false));
        assert_eq!((found.words.as_str(), found.chosen_tool()), ("1", None));
    }

    #[test]
    fn a_question_within_a_plan_is_about_its_step() {
        let asked = ask_reading(&tool("fs_delete"), &tool("fs_read"));
        let asked = format!("{asked}\n\n{}", describe_step("wipe it").unwrap());
        let messages =
            vec![Message::user("- wipe it\n- read notes.txt"), says(asked), Message::user("1")];
        let request = request(messages);
        let found = Conversation::of(&request, &FixedJudge(false));
        assert_eq!((found.words.as_str(), found.chosen_tool()), ("wipe it", Some("fs_delete")));
        assert_eq!(describe_step("a\nb"), None);
    }
}
