use super::*;

#[derive(Debug)]
struct FixedFiles;

impl Surroundings for FixedFiles {
    fn list_files(&self) -> Vec<FileEntry> {
        let files = [
            "Meeting Notes.txt",
            "README.md",
            "budget.csv",
            "build.log",
            "client files/",
            "client files/Vertrag Müller.txt",
            "client files/invoice 07.txt",
            "config.yaml",
            "docs/",
            "docs/faq.md",
            "docs/guide.md",
            "log.txt",
            "notes.txt",
            "old/",
            "old/report-2023.txt",
            "old/report-2024.txt",
            "photos/",
            "photos/cat.jpg",
            "photos/beach.jpg",
            "src/",
            "src/app.py",
            "todo.txt",
            "회의록.txt",
        ];
        files
            .iter()
            .map(|path| FileEntry {
                path: path.trim_end_matches('/').to_owned(),
                is_directory: path.ends_with('/'),
            })
            .collect()
    }

    fn read_text(&self, _: &str) -> Option<String> {
        None
    }
}

#[test]
fn names_are_found_however_they_are_typed() {
    let names = FileNames::new(&FixedFiles);
    for (mention, expected) in [
        ("notes.txt", "notes.txt"),
        ("notes", "notes.txt"),
        ("the meeting notes", "Meeting Notes.txt"),
        ("meeting_notes", "Meeting Notes.txt"),
        ("readme", "README.md"),
        ("confg.yaml", "config.yaml"),
        ("budjet.csv", "budget.csv"),
        ("the budget", "budget.csv"),
        ("the to do list", "todo.txt"),
        ("my to-do list", "todo.txt"),
        ("invoice 07", "client files/invoice 07.txt"),
        ("the Müller contract", "client files/Vertrag Müller.txt"),
        ("the FAQ", "docs/faq.md"),
        ("app.py", "src/app.py"),
        ("picture of the cat", "photos/cat.jpg"),
        ("회의록", "회의록.txt"),
        ("report from 2023", "old/report-2023.txt"),
        ("the log", "log.txt"),
    ] {
        assert_eq!(
            names.find(mention, WantedEntry::File),
            FoundEntry::One(expected.into()),
            "{mention}"
        );
    }
    for (mention, expected) in
        [("the client files folder", "client files"), ("photo folder", "photos"), ("docs/", "docs")]
    {
        assert_eq!(
            names.find(mention, WantedEntry::Directory),
            FoundEntry::One(expected.into()),
            "{mention}"
        );
    }
}

#[test]
fn several_are_listed_and_none_is_invented() {
    let names = FileNames::new(&FixedFiles);
    let both = ["old/report-2023.txt".to_owned(), "old/report-2024.txt".to_owned()];
    assert_eq!(names.find("the report", WantedEntry::File), FoundEntry::Several(both.to_vec()));
    for mention in ["invoice.pdf", "the presentation", "it", "german", "notes.md"] {
        assert!(
            matches!(names.find(mention, WantedEntry::File), FoundEntry::Nothing(_)),
            "{mention}"
        );
    }
}

#[test]
fn patterns_match_names_and_paths() {
    let names = FileNames::new(&FixedFiles);
    assert_eq!(names.match_pattern("*.MD", "."), ["README.md", "docs/faq.md", "docs/guide.md"]);
    assert_eq!(names.match_pattern("old/*.txt", ".").len(), 2);
    assert_eq!(names.match_pattern("*.md", "docs").len(), 2);
}
