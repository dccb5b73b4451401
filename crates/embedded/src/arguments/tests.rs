use std::sync::Arc;

use lango_tool::SafetyLevel;
use serde_json::value::RawValue;

use super::*;

impl PartialEq<&str> for Argument {
    fn eq(&self, text: &&str) -> bool {
        self.as_text() == Some(text)
    }
}

#[test]
fn lists_are_taken_apart() {
    assert_eq!(split_list("a, `b` and c"), ["a", "b", "c"]);
}

fn tool(name: &str, schema: &str) -> ToolDeclaration {
    ToolDeclaration {
        name: name.to_owned().into(),
        description: "Does it.".into(),
        parameters: Arc::from(RawValue::from_string(schema.to_owned()).unwrap()),
        level: SafetyLevel::Moderate,
    }
}

fn known(name: &str) -> ToolDeclaration {
    let mut tools = crate::known_team().into_iter().flat_map(|one| one.tools);
    tools.find(|tool| *tool.name == *name).unwrap()
}

fn filled(tool: &ToolDeclaration, words: &str, given: &[(&str, &str)]) -> FilledArguments {
    let given: Vec<_> = given.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
    fill_arguments(RequestReader::shared(), tool, words, &given)
}

fn names(filled: &FilledArguments) -> Vec<&str> {
    filled.missing.iter().map(|parameter| parameter.name.as_str()).collect()
}

#[test]
fn a_quoted_content_is_whole_however_long_it_is() {
    let content = "It was decided, after \"some\" talk, that no one needs this. ".repeat(13);
    let content = content.trim();
    for words in [
        format!("create the file minutes.txt with the content “{content}”"),
        format!("write “{content}” into minutes.txt"),
    ] {
        let filled = filled(&known("fs_write"), &words, &[]);
        assert!(filled.missing.is_empty(), "{:?}", names(&filled));
        assert_eq!(filled.arguments["content"], content);
        assert_eq!(filled.arguments["path"], "minutes.txt");
    }
}

#[test]
fn what_is_too_long_to_read_is_asked_for() {
    let clauses = "the neighbour plays the trumpet, the dog barks and it rains, ".repeat(20);
    let long = filled(&known("fs_write"), &format!("write {clauses} into noise.txt"), &[]);
    assert!(names(&long).contains(&"content"), "{:?}", long.arguments);
    // The answer to the question is then taken as it is.
    let told = [("content", clauses.as_str()), ("path", "noise.txt")];
    let told = filled(&known("fs_write"), &format!("write {clauses} into noise.txt"), &told);
    assert_eq!(told.arguments["content"], clauses.trim().trim_end_matches(','));
    assert!(told.missing.is_empty());
}

#[test]
fn a_command_keeps_its_quotes() {
    let filled = filled(&known("exec_shell"), "run echo \"hello world\"", &[]);
    assert_eq!(filled.arguments["command"], "echo \"hello world\"");
}

#[test]
fn durations_are_added_up() {
    let words = "run `cargo test` and give it 1 minute 30 seconds";
    let filled = filled(&known("exec_shell"), words, &[]);
    assert_eq!(filled.arguments["timeout_seconds"], Argument::Integer(90));
}

#[test]
fn the_last_answer_counts() {
    let tool = tool("resize", r#"{"required":["size"],"properties":{"size":{"type":"integer"}}}"#);
    assert_eq!(names(&filled(&tool, "resize it", &[("size", "a lot")])), ["size"]);
    let twice = filled(&tool, "resize it", &[("size", "a lot"), ("size", "5")]);
    assert_eq!(twice.arguments["size"], Argument::Integer(5));
}

#[test]
fn a_sentence_is_not_the_value() {
    let read = known("fs_read");
    for (answer, expected) in [
        ("it's notes.txt please", "notes.txt"),
        ("notes.txt", "notes.txt"),
        ("the file \"my notes.txt\", thanks", "my notes.txt"),
    ] {
        let filled = filled(&read, "read it", &[("path", answer)]);
        assert_eq!(filled.arguments["path"], expected, "{answer}");
    }
    let command = "git log --oneline | head -5";
    let filled = filled(&known("exec_shell"), "run something", &[("command", command)]);
    assert_eq!(filled.arguments["command"], command);
}

#[test]
fn yes_and_choices_are_heard_however_they_are_written() {
    let tool = tool(
        "paint",
        r#"{"required":["wet","colour"],"properties":{"wet":{"type":"boolean"},
        "colour":{"enum":["dark_red","RED","sky-blue"]}}}"#,
    );
    for (wet, expected) in [("Yes", true), ("yep!", true), ("NO", false), ("no thanks", false)] {
        let filled = filled(&tool, "paint it", &[("wet", wet), ("colour", "red")]);
        assert_eq!(filled.arguments["wet"], Argument::Boolean(expected), "{wet}");
    }
    for (said, expected) in [
        ("Dark red", "dark_red"),
        ("red.", "RED"),
        ("Sky Blue", "sky-blue"),
        ("the dark red one", "dark_red"),
    ] {
        let filled = filled(&tool, "paint it", &[("wet", "y"), ("colour", said)]);
        assert_eq!(filled.arguments["colour"], expected, "{said}");
    }
    let two = filled(&tool, "paint it", &[("wet", "perhaps"), ("colour", "red or sky blue")]);
    assert_eq!(names(&two), ["colour", "wet"]);
}

#[test]
fn of_more_choices_than_can_be_read_only_a_named_one_is_taken() {
    let zones: Vec<String> = (0..60).map(|n| format!("\"zone_{}\"", spelled(n))).collect();
    let schema = format!(
        r#"{{"required":["zone"],"properties":{{"zone":{{"enum":[{}]}}}}}}"#,
        zones.join(",")
    );
    let tool = tool("show_clock", &schema);
    assert_eq!(names(&filled(&tool, "show me the clock", &[])), ["zone"]);
    let named = filled(&tool, "show me the clock of Zone abbaba", &[]);
    assert_eq!(named.arguments["zone"], "zone_abbaba");
    // A long description does not hide the choices.
    let long = "It says in which colour the clock is shown. ".repeat(60);
    let schema = format!(
        r#"{{"required":["colour"],"properties":{{"colour":{{"enum":["green","red"],
        "description":"{long}"}}}}}}"#
    );
    let tool = self::tool("show_clock", &schema);
    let found = filled(&tool, "show me the clock in red", &[]);
    assert_eq!(found.arguments["colour"], "red");
}

/// Returns a word for a number.
fn spelled(number: u32) -> String {
    (0..6).map(|bit| if number >> bit & 1 == 1 { 'b' } else { 'a' }).collect()
}
