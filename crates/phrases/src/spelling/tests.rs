use super::*;

#[test]
fn swapped_letters_are_one_error() {
    assert_eq!(typing_distance("shwo", "show", 3), 1);
    assert_eq!(typing_distance("abc", "abc", 2), 0);
    assert_eq!(typing_distance("abc", "xyzzy", 2), 2);
}

#[test]
fn wildcards_stay_within_a_part_of_a_path() {
    assert!(matches_wildcards("a/**/c?.x", "a/b/b/cd.x"));
    assert!(!matches_wildcards("a/*.x", "a/b/c.x"));
}

#[test]
fn names_with_other_numbers_are_other_names() {
    assert!(differ_in_numbers("invoice 08", "invoice 07.txt"));
    assert!(differ_in_numbers("notes2.txt", "notes.txt"));
    assert!(differ_in_numbers("v1.2", "v1.3"));
    assert!(!differ_in_numbers("invoice 7", "invoice 07.txt"));
    assert!(!differ_in_numbers("the 2nd report", "report"));
}

#[test]
fn only_the_verb_of_an_order_is_corrected() {
    for (text, corrected) in [
        ("chnage teh port", "change teh port"),
        ("can you delte a.txt", "can you delete a.txt"),
        ("please crate a folder", "please crate a folder"),
        ("Rmove the log", "remove the log"),
        ("shwo me the list", "show me the list"),
        ("slot 4 is free", "slot 4 is free"),
        ("add 'chnage the oil' to todo.txt", "add 'chnage the oil' to todo.txt"),
        ("charge the battery", "charge the battery"),
        ("delete.txt please", "delete.txt please"),
    ] {
        assert_eq!(correct_first_verb(text), corrected);
    }
}
