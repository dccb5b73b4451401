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
