use super::*;

#[test]
fn the_line_that_shall_be_gone_is_read() {
    let with = |words: &str| LinePlace::With(words.to_owned());
    for (text, place) in [
        ("take the debug line out of config.yaml entirely", with("debug")),
        ("get rid of the last line in notes.txt, we have enough rope", LinePlace::Last),
        ("delete line 2 of notes.txt", LinePlace::Number(2)),
        ("remove the third line from a.txt", LinePlace::Number(3)),
        ("drop the first row of budget.csv", LinePlace::First),
        ("delete the line about rope in notes.txt", with("rope")),
        ("remove the line that says \"fix the pump\"", with("fix the pump")),
        ("kill the 'log level' line in config.yaml", with("log level")),
        ("remove everything about rope from notes.txt", with("rope")),
        ("strip the entry for May from budget.csv", with("May")),
    ] {
        assert_eq!(find_removed_line(&RequestWords::of(text)), Some(place), "{text}");
    }
    for text in
        ["delete notes.txt", "show line 2 of notes.txt", "remove the line", "delete every log"]
    {
        assert_eq!(find_removed_line(&RequestWords::of(text)), None, "{text}");
    }
}

#[test]
fn what_comes_first_is_not_added_at_the_end() {
    for text in [
        "draft.md needs a very first line saying status: draft",
        "add \"# tasks\" at the top of todo.txt",
        "put hello at the beginning of a.txt",
        "prepend hello to a.txt",
    ] {
        assert!(adds_at_beginning(&RequestWords::of(text)), "{text}");
    }
    for text in ["add hello to a.txt", "show the first line of a.txt", "put a.txt on the desk"] {
        assert!(!adds_at_beginning(&RequestWords::of(text)), "{text}");
    }
    let text = "draft.md needs a very first line saying status: draft";
    assert_eq!(added_text(&RequestWords::of(text)), Some("status: draft"));
}

#[test]
fn lines_are_added_and_replaced_where_it_is_said() {
    for (text, expected) in [
        ("add a line \"rope\" after line 2 of notes.txt", (false, LinePlace::Number(2))),
        ("insert 'x' above the last line in a.txt", (true, LinePlace::Last)),
        ("put rope before the third line of notes.txt", (true, LinePlace::Number(3))),
    ] {
        assert_eq!(find_insertion(&RequestWords::of(text)), Some(expected), "{text}");
    }
    assert_eq!(
        find_insertion(&RequestWords::of("add rope to notes.txt, after that show it")),
        None
    );
    for (text, expected) in [
        ("replace the second line of a.txt with hello", (LinePlace::Number(2), "hello")),
        (
            "change line 2 of todo.txt to [ ] paint the mast",
            (LinePlace::Number(2), "[ ] paint the mast"),
        ),
        ("set the last line in a.txt to \"the end\"", (LinePlace::Last, "the end")),
    ] {
        assert_eq!(find_replaced_line(&RequestWords::of(text)), Some(expected), "{text}");
    }
    assert_eq!(find_replaced_line(&RequestWords::of("replace foo with bar")), None);
}
