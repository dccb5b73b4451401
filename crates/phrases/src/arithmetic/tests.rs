use super::*;

#[test]
fn sums_are_computed_and_other_texts_are_not() {
    for (text, expected) in [
        ("whats 12 times 12 its for homework", Some("144")),
        ("17*23", Some("391")),
        ("what is 10 / 4", Some("2.5")),
        ("2 + 3 * 4", Some("14")),
        ("set port to 9090", None),
        ("lines 10 - 20 of log.txt", None),
        ("2026-11-18", None),
        ("5", None),
    ] {
        assert_eq!(compute(&RequestWords::of(text)).as_deref(), expected, "{text}");
    }
}
