//! From a request to what the user wants now: their words, and what was done about them so far.

use lango_model::{AnsweredCall, Message, ModelRequest, UserMessage};
use lango_tool::ToolDeclaration;

use super::schema::{Kind, Parameter};
use super::talk::quiet;

/// What an agent is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Conversation<'a> {
    /// The user's words: the newest, or those before a question that the newest answer.
    pub(crate) words: String,
    /// What they answered to questions.
    pub(crate) answers: Vec<Answered>,
    /// What was done about them, oldest first.
    pub(crate) done: Vec<&'a AnsweredCall>,
    /// Whether somebody asked the user something right before the newest words.
    pub(crate) follows_question: bool,
}

/// An answer to one of our questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answered {
    /// Which of two readings.
    Tool(String),
    /// A parameter's value.
    Value { tool: String, parameter: String, value: String },
    /// That it shall be left.
    Nothing,
}

/// What an answer is judged by.
pub(crate) trait Judge {
    /// Whether words are a new request rather than an answer.
    fn is_request(&self, words: &str) -> bool;
    /// Whether a question about a tool, by this author, is one that we asked. None is the agent that
    /// is asked now.
    fn is_ours(&self, author: Option<&str>, tool: &str) -> bool;
}

impl<'a> Conversation<'a> {
    pub(crate) fn of(request: &'a ModelRequest, judge: &dyn Judge) -> Self {
        let newest = request.newest_user().unwrap_or_default();
        let done = request.messages[newest.min(request.messages.len())..].iter();
        let done = done.filter_map(|message| match message {
            Message::Exchange { calls, .. } => Some(calls),
            _ => None,
        });
        let (words, answers) = resolved(&request.messages, newest, judge);
        let follows_question =
            before(&request.messages, newest).is_some_and(|(_, text)| text.contains('?'));
        Self { words, answers, done: done.flatten().collect(), follows_question }
    }

    /// The tool that the user chose, if there was a question.
    pub(crate) fn chosen(&self) -> Option<&str> {
        match self.answers.last()? {
            Answered::Tool(tool) | Answered::Value { tool, .. } => Some(tool),
            Answered::Nothing => None,
        }
    }

    /// Whether the user does not want it any more.
    pub(crate) fn is_dropped(&self) -> bool {
        self.answers.last() == Some(&Answered::Nothing)
    }

    /// What the user told about the parameters of a tool.
    pub(crate) fn given(&self, tool: &str) -> Vec<(String, String)> {
        let values = self.answers.iter().filter_map(|answer| match answer {
            Answered::Value { tool: of, parameter, value } if of == tool => {
                Some((parameter.clone(), value.clone()))
            }
            _ => None,
        });
        values.collect()
    }
}

/// The words that started it all, and the answers since.
fn resolved(messages: &[Message], at: usize, judge: &dyn Judge) -> (String, Vec<Answered>) {
    let Some(Message::User(message)) = messages.get(at) else {
        return (String::new(), Vec::new());
    };
    let own = own_words(message);
    let question = before(messages, at);
    let answer = question.and_then(|(author, text)| answered(author, text, own, judge));
    let earlier = messages[..at].iter().rposition(|m| matches!(m, Message::User(_)));
    match (answer, earlier, question) {
        (Some(answer), Some(earlier), Some((_, question))) => {
            let (mut words, mut answers) = resolved(messages, earlier, judge);
            if let Some(step) = step_of(question).filter(|step| words.contains(step)) {
                words = step.to_owned();
            }
            answers.push(answer);
            (words, answers)
        }
        _ => (own.to_owned(), Vec::new()),
    }
}

/// The agent's words right before a user message, and whose they are.
fn before(messages: &[Message], at: usize) -> Option<(Option<&str>, &str)> {
    match messages[..at.min(messages.len())].last() {
        Some(Message::Assistant { author, text }) => Some((author.as_deref(), text)),
        _ => None,
    }
}

/// Returns what the user said, without what came with it; of that the part that is the task. What
/// another model wrote is not theirs.
fn own_words(message: &UserMessage) -> &str {
    match &message.task {
        Some(task) if message.text.contains(task.as_str()) => task,
        _ => &message.text,
    }
}

const READINGS: &str = "Do you mean";
const STEP: &str = "It is about this step: ";
/// Characters of a description in a question.
const LONGEST_ABOUT: usize = 160;

/// Asks which of two tools is meant. [`answered`] understands it later.
pub(crate) fn ask_reading(first: &ToolDeclaration, second: &ToolDeclaration) -> String {
    let line = |tool: &ToolDeclaration| {
        let about = tool.description.split_inclusive(". ").next().unwrap_or_default();
        format!("`{}`: {}", tool.name, quiet(about, LONGEST_ABOUT))
    };
    format!(
        "{READINGS}\n1. {}\n2. {}\nAnswer 1 or 2, or say it in other words?",
        line(first),
        line(second)
    )
}

/// Asks for a parameter. [`answered`] understands it later.
pub(crate) fn ask_value(tool: &ToolDeclaration, parameter: &Parameter) -> String {
    let mut about = quiet(parameter.description.trim_end_matches('.'), LONGEST_ABOUT);
    if let Kind::Choice(values) = &parameter.kind {
        about = quiet(&format!("one of {}", values.join(", ")), LONGEST_ABOUT);
    }
    let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
    format!("For `{}` I need its `{}`{about}. What shall it be?", tool.name, parameter.name)
}

/// Says which step of a plan a question is about; nothing where that cannot be read back.
pub(crate) fn about_step(step: &str) -> Option<String> {
    (quiet(step, usize::MAX) == step).then(|| format!("{STEP}{step}"))
}

fn step_of(question: &str) -> Option<&str> {
    question.lines().find_map(|line| line.strip_prefix(STEP))
}

/// What an answer to one of our questions says; none if it is no question of ours, or no answer.
fn answered(
    author: Option<&str>,
    question: &str,
    words: &str,
    judge: &dyn Judge,
) -> Option<Answered> {
    if let Some(rest) = question.strip_prefix(READINGS) {
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
            "1" | "one" | "first" | "a" => Some(Answered::Tool((*first).to_owned())),
            "2" | "two" | "second" | "b" => Some(Answered::Tool((*second).to_owned())),
            name if name == *first || name == *second => Some(Answered::Tool(name.to_owned())),
            _ => is_refusal(words).then_some(Answered::Nothing),
        };
    }
    let rest = question.strip_prefix("For `")?;
    let (tool, rest) = rest.split_once("` I need its `")?;
    let (parameter, rest) = rest.split_once('`')?;
    let asks = rest.lines().next().is_some_and(|line| line.ends_with("What shall it be?"));
    if !asks || !judge.is_ours(author, tool) {
        return None;
    }
    if is_refusal(words) {
        return Some(Answered::Nothing);
    }
    let value = words.trim();
    (!value.is_empty() && !judge.is_request(words)).then(|| Answered::Value {
        tool: tool.to_owned(),
        parameter: parameter.to_owned(),
        value: value.to_owned(),
    })
}

/// Whether an answer says that it shall be left.
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

    /// Everything is ours but what a stranger says.
    struct Says(bool);

    impl Judge for Says {
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
            kind: Kind::Text,
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
        let found = Conversation::of(&request, &Says(false));
        assert_eq!(found.words, "show me");
        assert_eq!(found.chosen(), Some("fs_read"));
        assert_eq!(found.given("fs_read"), [("path".to_owned(), "`notes.txt`".to_owned())]);
        assert!(found.follows_question);
        let other = Conversation::of(&request, &Says(true));
        assert_eq!((other.words.as_str(), other.chosen()), ("`notes.txt`", None));
    }

    fn words_of(text: &str, attachment: Option<&str>, task: Option<&str>) -> String {
        let message = UserMessage {
            attachment: attachment.map(str::to_owned),
            task: task.map(str::to_owned),
            ..UserMessage::new(text)
        };
        Conversation::of(&request(vec![Message::User(message)]), &Says(true)).words
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
            kind: Kind::Text,
            description: String::new(),
            required: true,
        };
        let asked = ask_value(&tool("fs_mkdir"), &path);
        for refusal in ["no thanks", "Never mind.", "forget it!", "cancel"] {
            let messages =
                vec![Message::user("make one"), says(asked.clone()), Message::user(refusal)];
            let request = request(messages);
            let found = Conversation::of(&request, &Says(false));
            assert!(found.is_dropped() && found.chosen().is_none(), "{refusal}");
        }
    }

    #[test]
    fn a_question_of_a_stranger_is_not_ours() {
        let asked = ask_reading(&tool("fs_delete"), &tool("fs_read"));
        let stranger = Message::Assistant { author: Some("stranger".into()), text: asked };
        let request = request(vec![Message::user("hello"), stranger, Message::user("1")]);
        let found = Conversation::of(&request, &Says(false));
        assert_eq!((found.words.as_str(), found.chosen()), ("1", None));
    }

    #[test]
    fn a_question_within_a_plan_is_about_its_step() {
        let asked = ask_reading(&tool("fs_delete"), &tool("fs_read"));
        let asked = format!("{asked}\n\n{}", about_step("wipe it").unwrap());
        let messages =
            vec![Message::user("- wipe it\n- read notes.txt"), says(asked), Message::user("1")];
        let request = request(messages);
        let found = Conversation::of(&request, &Says(false));
        assert_eq!((found.words.as_str(), found.chosen()), ("wipe it", Some("fs_delete")));
        assert_eq!(about_step("a\nb"), None);
    }
}
