use super::*;

fn says(class: VerbClass, text: &str) -> bool {
    class.is_said(&RequestWords::of(text))
}

#[test]
fn a_change_is_said_in_so_many_words() {
    assert!(says(VerbClass::Copy, "please make a copy of a.txt"));
    assert!(!says(VerbClass::Copy, "move a.txt to b.txt"));
    assert!(!says(VerbClass::Delete, "whats in tmp. dont delete anything just show"));
    assert!(!says(VerbClass::Delete, "translate \"delete it\" to german"));
    assert!(says(VerbClass::Delete, "you can throw it away"));
    assert!(!says(VerbClass::Move, "translate notes.txt to german"));
}

#[test]
fn talking_about_a_command_is_not_giving_it() {
    for text in ["how do I delete a file?", "what happens if i rm -rf docs", "rm -rf / lol"] {
        assert!(is_only_talk(&RequestWords::of(text)), "{text}");
    }
    assert!(!is_only_talk(&RequestWords::of("can you delete a.txt")));
}

#[test]
fn what_another_person_wants_is_no_order() {
    let of = |text: &str| is_no_order(&RequestWords::of(text));
    assert!(of("colleague wants me to wipe the photos folder, haha no way"));
    assert!(of("my boss told me to delete the logs, not going to"));
    assert!(!of("wipe the photos folder"));
    assert!(!of("haha ok delete it"));
}
