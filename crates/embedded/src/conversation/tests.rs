use lango_tool::SafetyLevel;

use super::*;

/// Knows the tools of every author but "stranger"; the flag says whether texts are requests.
struct FixedJudge {
    takes_requests: bool,
    tools: Vec<ToolDeclaration>,
}

fn judge(takes_requests: bool) -> FixedJudge {
    let names = ["fs_read", "fs_list", "fs_delete", "fs_mkdir"];
    FixedJudge { takes_requests, tools: names.map(tool).to_vec() }
}

impl AnswerJudge for FixedJudge {
    fn is_request(&self, _: &str) -> bool {
        self.takes_requests
    }

    fn tools(&self, author: Option<&str>) -> Vec<&ToolDeclaration> {
        if author == Some("stranger") { Vec::new() } else { self.tools.iter().collect() }
    }

    fn find_asked_parameter(
        &self,
        author: Option<&str>,
        question: &str,
        _: &str,
    ) -> Option<(String, String)> {
        self.tools(author)
            .into_iter()
            .find_map(|tool| Some((tool.name.to_string(), asked_parameter(tool, question)?)))
    }
}

fn tool(name: &'static str) -> ToolDeclaration {
    let schema = r#"{"required":["path"],"properties":{"path":{"type":"string"}}}"#;
    ToolDeclaration {
        name: name.into(),
        description: format!("Does {name}. And more.").into(),
        parameters: std::sync::Arc::from(
            serde_json::value::RawValue::from_string(schema.to_owned()).unwrap(),
        ),
        ..ToolDeclaration::new::<()>("", "", SafetyLevel::Safe)
    }
}

fn path() -> Parameter {
    Parameter {
        name: "path".into(),
        kind: ValueKind::Text,
        description: String::new(),
        required: true,
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
    let request = request(vec![
        Message::user("show me"),
        says(ask_reading(&tool("fs_read"), &tool("fs_list"))),
        Message::user("The first one."),
        says(ask_value(&tool("fs_read"), &path())),
        Message::user("`notes.txt`"),
    ]);
    let found = Conversation::of(&request, &judge(false));
    assert_eq!(found.words, "show me");
    assert_eq!(found.chosen_tool(), Some("fs_read"));
    assert_eq!(found.given_values("fs_read"), [("path".to_owned(), "`notes.txt`".to_owned())]);
    assert!(found.follows_question);
    let other = Conversation::of(&request, &judge(true));
    assert_eq!((other.words.as_str(), other.chosen_tool()), ("`notes.txt`", None));
}

fn words_of(text: &str, attachment: Option<&str>, task: Option<&str>) -> String {
    let message = UserMessage {
        attachment: attachment.map(str::to_owned),
        task: task.map(str::to_owned),
        ..UserMessage::new(text)
    };
    Conversation::of(&request(vec![Message::User(message)]), &judge(true)).words
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
    let asked = ask_value(&tool("fs_mkdir"), &path());
    for refusal in ["no thanks", "Never mind.", "forget it!", "cancel"] {
        let messages = vec![Message::user("make one"), says(asked.clone()), Message::user(refusal)];
        let request = request(messages);
        let found = Conversation::of(&request, &judge(false));
        assert!(found.is_cancelled() && found.chosen_tool().is_none(), "{refusal}");
    }
}

#[test]
fn a_question_of_a_stranger_is_not_ours() {
    let asked = ask_reading(&tool("fs_delete"), &tool("fs_read"));
    let stranger = Message::Assistant { author: Some("stranger".into()), text: asked };
    let request = request(vec![Message::user("hello"), stranger, Message::user("1")]);
    let found = Conversation::of(&request, &judge(false));
    assert_eq!((found.words.as_str(), found.chosen_tool()), ("1", None));
}

#[test]
fn a_question_within_a_plan_is_about_its_step() {
    let asked = ask_reading(&tool("fs_delete"), &tool("fs_read"));
    let asked = format!("{asked}\n\n{}", describe_step("wipe it").unwrap());
    let messages =
        vec![Message::user("- wipe it\n- read notes.txt"), says(asked), Message::user("1")];
    let request = request(messages);
    let found = Conversation::of(&request, &judge(false));
    assert_eq!((found.words.as_str(), found.chosen_tool()), ("wipe it", Some("fs_delete")));
    assert_eq!(describe_step("a\nb"), None);
}
