use super::*;

#[test]
fn what_is_replaced_by_what_is_read() {
    for (text, old, new) in [
        ("now swap every foo in it for baz", "foo", "baz"),
        ("swap every foo for baz in a.txt", "foo", "baz"),
        ("replace all occurrences of the word red with dark blue please", "red", "dark blue"),
        ("change TODO to DONE in README.md", "TODO", "DONE"),
        ("please use tea instead of coffee in menu.txt", "coffee", "tea"),
        ("it should say Friday rather than Thursday", "Thursday", "Friday"),
    ] {
        let request = RequestWords::of(text);
        let (a, b) = find_replacement(&request).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((&text[a], &text[b]), (old, new), "{text}");
    }
    assert_eq!(find_replacement(&RequestWords::of("show a.txt")), None);
}

#[test]
fn values_of_the_same_shape_belong_together() {
    let text = "the backups run at 03:30 now and not 02:00 any more, correct that";
    let (a, b) = find_alike_values(&RequestWords::of(text)).unwrap();
    assert_eq!((&text[a], &text[b]), ("03:30", "02:00"));
    assert_eq!(find_alike_values(&RequestWords::of("at 03:30 on 4 May")), None);
}

#[test]
fn a_number_within_another_is_not_it() {
    assert_eq!(whole_occurrences("port: 8080", "80"), Vec::<usize>::new());
    assert_eq!(whole_occurrences("80 of 8080", "80"), [0]);
    assert_eq!(whole_occurrences("v1.2, 11.2", "1.2"), [1]);
    assert_eq!(whole_occurrences("cat, category", "cat"), [0]);
}
