use super::*;

#[test]
fn words_that_tie_a_request_to_the_one_before_are_taken_off() {
    for (text, expected) in [
        ("and docs?", Some("docs")),
        ("No, I meant docs", Some("docs")),
        ("what about the faq", Some("the faq")),
        ("same for b.txt please", Some("b.txt please")),
        ("b.txt too", Some("b.txt")),
        ("and the folder tmp the same", Some("the folder tmp")),
        ("only in src", Some("src")),
        ("sorry, src", Some("src")),
        ("android", None),
        ("delete it", None),
    ] {
        assert_eq!(strip_lead(text).map(|(rest, _)| rest), expected, "{text}");
    }
}
