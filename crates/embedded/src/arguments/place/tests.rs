use super::*;

#[test]
fn punctuation_of_the_sentence_is_not_part_of_a_value() {
    let of = |text: &str| text[clean_span(text, 0..text.len())].to_owned();
    for (text, expected) in [
        ("`notes.txt`.", "notes.txt"),
        ("\"a b\"?", "a b"),
        (".", "."),
        ("src/.", "src/."),
        ("..", ".."),
        ("v1.2.", "v1.2"),
        ("du -sh .", "du -sh ."),
        (" ‘x’, ", "x"),
        ("?!", ""),
        ("echo \"hello world\"", "echo \"hello world\""),
        ("npx stylelint \"src/**/*.css\"", "npx stylelint \"src/**/*.css\""),
        ("version = \"0.4.1\".", "version = \"0.4.1\""),
        ("SELECT 1;", "SELECT 1;"),
        ("`SELECT 1;`", "SELECT 1;"),
        ("\"Is it?\"", "Is it?"),
        ("\"a\" \"b\"", "\"a\" \"b\""),
        ("a 19\"", "a 19\""),
        ("\"unclosed", "unclosed"),
        (":8080", ":8080"),
    ] {
        assert_eq!(of(text), expected, "{text}");
    }
}

#[track_caller]
fn check(text: &str, pointed: &str, expected: &str, is_quoted: bool) {
    let start = text.find(pointed).unwrap();
    let place = locate_value(text, start..start + pointed.len());
    assert_eq!((&text[place.range], place.is_quoted), (expected, is_quoted), "{text}");
}

#[test]
fn a_value_is_whole_words_and_whole_quotations() {
    check("delete notes.txt, please", "note", "notes.txt", false);
    check("delete notes.txt.", "notes.txt.", "notes.txt", false);
    check("look into docs/a-b.md now", "b", "docs/a-b.md", false);
    check("ask Tom's brother", "Tom", "Tom", false);
    check("(see notes.txt)", "notes", "notes.txt", false);
    check("write \"a b, and c.\" to x", "b", "a b, and c.", true);
    check("write \"a b, and c.\" to x", "\"a b", "a b, and c.", true);
    check("run echo \"hello world\"", "echo \"hello", "echo \"hello world\"", false);
    check("run echo \"hello world\".", "echo \"hello world\".", "echo \"hello world\"", false);
    check("run \"my tool\" --all", "\"my tool\" --all", "\"my tool\" --all", false);
    check("\"read notes.txt\"", "notes.txt", "notes.txt", false);
    check("put «eins, zwei» there", "zwei", "eins, zwei", true);
    check("save ```rust\nlet a = 1;\n``` as a.rs", "let a", "let a = 1;", true);
}

#[test]
fn long_quotations_are_left_out_and_put_back() {
    let content = "many words of it ".repeat(40);
    let text = format!("write \"{content}\" and “{content}” into protocol.txt");
    let short = ShortenedText::of(&text);
    assert!(short.text.len() < 500, "{}", short.text.len());
    let start = short.text.find("protocol.txt").unwrap();
    assert_eq!(&text[short.original(&(start..start + 12))], "protocol.txt");
    let from = short.text.find("many").unwrap()..short.text.find("\" and").unwrap();
    assert_eq!(&text[short.original(&from)], content);
    let plain = ShortenedText::of("write \"a\" to b");
    assert_eq!(plain.text, "write \"a\" to b");
}
