use super::*;

fn steps(words: &str) -> Vec<&str> {
    RequestStructure::of(words).steps()
}

#[test]
fn what_stands_around_a_list_counts() {
    assert_eq!(steps("Could you please do these things:\n- a\n- b"), ["a", "b"]);
    for words in [
        "Do not do any of the following:\n1. make a folder\n2. delete it",
        "Remember these for later:\n- delete notes.txt\n- make a folder",
        "- a\n- b\nThat is what she wrote.",
    ] {
        assert_eq!(RequestStructure::of(words), RequestStructure::OtherList, "{words}");
    }
    assert!(is_negated("Don't do any of these:\n- a\n- b"));
    assert!(!is_negated("Save as a rule:\n- never a\n- b"));
    let many: String = (0..13).map(|_| "- a\n").collect();
    assert_eq!(RequestStructure::of(&many), RequestStructure::OtherList);
}

#[test]
fn lists_and_sequences_are_split() {
    assert_eq!(
        steps("First list the files in src, then read README.md and finally make a folder x"),
        ["list the files in src", "read README.md", "make a folder x"]
    );
    assert_eq!(steps("Do this:\n1. read a.txt\n2) delete b.txt\n"), ["read a.txt", "delete b.txt"]);
    assert_eq!(steps("- one\n- two"), ["one", "two"]);
}

#[test]
fn what_has_no_structure_is_left_alone() {
    assert!(steps("plan my wedding").is_empty());
    assert!(steps("run \"make and then make test\"").is_empty());
    assert!(steps("read a and b").is_empty());
    assert!(steps("I ran it at noon, then a cow happened").is_empty());
    assert!(steps("1. only one").is_empty());
}

#[test]
fn every_step_is_a_part_of_the_words() {
    let words = "Ärger: öffne a.txt, then ß, and then “x, then y”";
    for step in steps(words) {
        assert!(words.contains(step));
    }
}

#[test]
fn what_is_counted_is_split() {
    assert_eq!(
        split_counted("2 things: line count of log.txt, and the first line of notes.txt"),
        Some(vec!["line count of log.txt", "the first line of notes.txt"])
    );
    assert_eq!(
        split_counted("two questions: who wrote a.txt and how big is it"),
        Some(vec!["who wrote a.txt", "how big is it"])
    );
    assert_eq!(split_counted("three things: a, b"), None);
    assert_eq!(split_counted("write to a.txt: two things, and more"), None);
}

#[test]
fn the_end_of_an_input_is_no_step() {
    for text in
        ["type hello into e15, then enter", "the field should say hinge and then be submitted"]
    {
        assert_eq!(RequestStructure::of(text), RequestStructure::One, "{text}");
    }
}

#[test]
fn a_reminder_after_something_to_remember_is_a_step() {
    assert_eq!(
        RequestStructure::of("please remember that the meeting is on thursday, and remind me on wednesday at 4 pm to prepare").steps(),
        ["remember that the meeting is on thursday", "remind me on wednesday at 4 pm to prepare"]
    );
    let one = "remember to buy milk and remind me at 5";
    assert_eq!(RequestStructure::of(one), RequestStructure::One);
}
