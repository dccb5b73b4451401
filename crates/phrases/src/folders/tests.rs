use super::*;

#[test]
fn folders_within_folders_are_read() {
    for (text, outer, inner) in [
        (
            "I would need new folder with name archive, inside it a folder 2026. Thank you.",
            "archive",
            vec!["2026"],
        ),
        ("make a folder archive and inside it a folder 2026", "archive", vec!["2026"]),
        ("create a directory called archive with a subfolder 2026 in it", "archive", vec!["2026"]),
        (
            "new folder Reports, in it folders May, June and July",
            "Reports",
            vec!["May", "June", "July"],
        ),
        (
            "a folder photos with subfolders summer and winter please",
            "photos",
            vec!["summer", "winter"],
        ),
        (
            "make an archive folder with a folder called old stuff inside",
            "archive",
            vec!["old stuff"],
        ),
        ("make a dir x, inside another folder called y", "x", vec!["y"]),
    ] {
        let nested = read_nested_folders(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(
            (nested.outer.as_str(), nested.inner),
            (outer, inner.iter().map(|name| (*name).to_owned()).collect()),
            "{text}"
        );
    }
    for text in [
        "make a folder archive",
        "make a folder 2026 in docs",
        "put a.txt in it",
        "create folders a and b",
    ] {
        assert_eq!(read_nested_folders(text), None, "{text}");
    }
}

#[test]
fn names_of_folders_end_with_their_words() {
    assert_eq!(names_of_folders("a folder 2026. Thank you."), ["2026"]);
    assert_eq!(names_of_folders("folders a, b and c in docs"), ["a", "b", "c"]);
    assert_eq!(names_of_folders("put a new folder"), Vec::<String>::new());
}
