use super::*;

#[test]
fn a_line_that_is_there_twice_is_removed_with_its_neighbours() {
    assert_eq!(unique_block("a\nb\nc\n", 1, |_| String::new()), ("b\n".to_owned(), String::new()));
    assert_eq!(
        unique_block("a\nb\na\nc\n", 2, |_| String::new()),
        ("a\nc\n".to_owned(), "c\n".to_owned())
    );
    assert_eq!(
        unique_block("a\nb\na\n", 2, |_| String::new()),
        ("b\na\n".to_owned(), "b\n".to_owned())
    );
}

#[test]
fn whole_words_single_out_a_line() {
    let lines = ["port: 8080\n", "debug: true\n", "80: x\n"];
    assert_eq!(lines_with(&lines, "80"), [2]);
    assert_eq!(lines_with(&lines, "DEBUG"), [1]);
    assert_eq!(lines_with(&lines, "rope"), Vec::<usize>::new());
}

#[test]
fn a_part_of_a_file_is_not_the_file() {
    let part = |text: &str| object_before(&RequestWords::of(text), "notes.txt");
    assert_eq!(part("delete the typo in notes.txt").as_deref(), Some("typo"));
    assert_eq!(part("take the rope order out of notes.txt").as_deref(), Some("rope order"));
    for text in ["delete notes.txt", "get rid of notes.txt", "remove the file in old/notes.txt"] {
        assert_eq!(part(text), None, "{text}");
    }
}
