use super::*;
use crate::surroundings::FileEntry;

#[derive(Debug)]
struct Files(Vec<(&'static str, &'static str)>);

impl Surroundings for Files {
    fn list_files(&self) -> Vec<FileEntry> {
        let entry =
            |(path, _): &(&str, &str)| FileEntry { path: (*path).to_owned(), is_directory: false };
        self.0.iter().map(entry).collect()
    }

    fn read_text(&self, path: &str) -> Option<String> {
        self.0.iter().find(|(own, _)| *own == path).map(|(_, text)| (*text).to_owned())
    }
}

#[test]
fn questions_are_told_from_orders() {
    for question in [
        "whats a skipper? i told u before",
        "which host is staging again",
        "hmm where did I write down the gate code",
        "nas ip?",
        "Is input VAT deductible on client dinners?",
    ] {
        assert!(is_question(question), "{question}");
    }
    for order in ["remember that the gate code is 12", "delete tmp", "list my skills"] {
        assert!(!is_question(order), "{order}");
    }
    assert!(!is_open_question("what do my documents say about berths?"));
}

#[test]
fn the_file_that_may_answer_is_found_by_its_name_or_its_words() {
    let long: String = (0..60).map(|n| format!("line {n}\n")).collect();
    let long: &'static str = format!("{long}The gate code changes in May.\n").leak();
    let files = Files(vec![("notes.txt", long), ("budget.csv", "month,income\nMar,4900\n")]);
    let found = |words: &str| find_in_files(words, &files);
    assert_eq!(
        found("where did I write down the gate code?").as_deref(),
        Some("search for \"gate\" in \"notes.txt\"")
    );
    assert_eq!(
        found("what is the income in the budget?").as_deref(),
        Some("show me \"budget.csv\"")
    );
    assert_eq!(found("Is input VAT deductible?"), None);
}

#[test]
fn what_was_stored_a_moment_ago_is_looked_up_there() {
    let earlier = [EarlierCall {
        tool: "graph_add".to_owned(),
        arguments: r#"{"subject":"Yuki","predicate":"maintains","object":"parser"}"#.to_owned(),
        succeeded: true,
        files: Vec::new(),
    }];
    assert_eq!(store_of_subject("who maintains the parser?", &earlier), Some("graph_add"));
    assert_eq!(store_of_subject("who feeds the cat?", &earlier), None);
}

#[test]
fn questions_about_details_and_durations_are_known() {
    for question in ["name of my cat?", "whats the number of our berth?", "code of my locker?"] {
        assert!(asks_for_detail_of_user(question), "{question}");
    }
    for question in ["name of my newest file?", "address of my wallet?", "name of the cat?"] {
        assert!(!asks_for_detail_of_user(question), "{question}");
    }
    assert!(asks_how_long("how long till a refund is paid out?"));
    assert!(!asks_how_long("how much did I pay this week?"));
    assert!(!is_question("\"Is it connected?\" they ask me. So let the graph say it"));
}
