use super::*;

#[test]
fn actions_are_told_from_lists_of_names() {
    for (text, expected) in [
        ("make a folder x and move the jpgs there", vec!["make a folder x", "move the jpgs there"]),
        ("copy a.txt and b.txt to docs", vec!["copy a.txt and b.txt to docs"]),
        ("please create x.txt, then show it", vec!["create x.txt", "show it"]),
        ("add \"eggs and make tea\" to todo.txt", vec!["add \"eggs and make tea\" to todo.txt"]),
        ("delete a.txt. then list the folder", vec!["delete a.txt", "list the folder"]),
    ] {
        assert_eq!(split_actions(text), expected, "{text}");
    }
}
