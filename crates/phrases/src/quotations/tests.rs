use super::*;

#[test]
fn marks_that_belong_together_are_found() {
    for (text, expected) in [
        (r#"write "a b" to 'c d'"#, vec!["a b", "c d"]),
        ("it's Tom's file, don't ‘read it’", vec!["read it"]),
        ("a 19\" screen and “two” «three» `four`", vec!["two", "three", "four"]),
        (r#"say "he said "hi there" to me" now"#, vec![r#"he said "hi there" to me"#]),
        (r#"echo "a" "b""#, vec!["a", "b"]),
        (r#"'it is "it's" here'"#, vec![r#"it is "it's" here"#]),
        (r#""a \"b\" c""#, vec![r#"a \"b\" c"#]),
        ("```\na `b` c\n``` and `", vec!["\na `b` c\n"]),
        (r#"replace " " by "_""#, vec![" ", "_"]),
        ("\"never closed", vec![]),
    ] {
        let found: Vec<&str> =
            find_quotations(text).into_iter().map(|found| &text[found.inside]).collect();
        assert_eq!(found, expected, "{text}");
    }
}
