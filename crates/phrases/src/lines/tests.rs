use super::*;

#[test]
fn lines_are_read_in_many_words() {
    for (text, expected) in [
        ("show me the last 20 lines of log.txt", LineRange::Last(20)),
        ("i want to see last twelve lines from log.txt", LineRange::Last(12)),
        ("please show me first 5 line of log.txt", LineRange::First(5)),
        ("first three lines of report-2023.txt", LineRange::First(3)),
        ("lines 10 to 20 of log.txt", LineRange::Between(10, 20)),
        ("lines 3-5 of budget.csv, nothing else", LineRange::Between(3, 5)),
        ("From log.txt I only want lines twenty to twenty-five", LineRange::Between(20, 25)),
        ("log.txt. last entry. quick", LineRange::Last(1)),
        ("give me the tail of log.txt, like 7 lines", LineRange::Last(7)),
        ("line 4 of notes.txt", LineRange::Between(4, 4)),
        ("tail log.txt", LineRange::Last(10)),
        ("only the 2nd line of todo.txt pls", LineRange::Between(2, 2)),
        ("the third row of budget.csv", LineRange::Between(3, 3)),
        ("second and third lines of notes.txt", LineRange::Between(2, 3)),
        ("what is the first line of notes.txt", LineRange::First(1)),
        ("In churn.sql, from line 120, give me forty lines", LineRange::Between(120, 159)),
        ("show lines from 200 on of error.log, 40 lines", LineRange::Between(200, 239)),
        ("I want to hear lola.txt from line 30 on", LineRange::From(30)),
        ("from line 3 to line 5 of a.txt", LineRange::Between(3, 5)),
    ] {
        assert_eq!(find_lines(&RequestWords::of(text)), Some(expected), "{text}");
    }
    for text in ["show notes.txt", "open report-2023.txt", "when did I last open it"] {
        assert_eq!(find_lines(&RequestWords::of(text)), None, "{text}");
    }
}

#[test]
fn items_are_put_on_lines_where_that_is_wanted() {
    let text = "make me a file shopping.txt with milk, bread and teabags in, one on each line, nothing else";
    for content in
        ["milk, bread and teabags", "milk, bread and teabags in, one on each line, nothing else"]
    {
        assert_eq!(put_items_on_lines(text, content).as_deref(), Some("milk\nbread\nteabags"));
    }
    assert_eq!(
        put_items_on_lines("write milk, bread and teabags", "milk, bread and teabags"),
        None
    );
    assert_eq!(put_items_on_lines("write tea, one per line", "tea"), None);
}
