use super::*;

#[test]
fn words_for_types_are_known() {
    for (word, extension) in [
        ("jpgs", "jpg"),
        (".tmp", "tmp"),
        ("*.py", "py"),
        ("Python", "py"),
        ("movies", "mov"),
        ("PDFs", "pdf"),
        ("md", "md"),
    ] {
        assert!(extensions_of(word).is_some_and(|found| found.contains(&extension)), "{word}");
    }
    assert!(extensions_of("files").is_none() && extensions_of("docs").is_none());
    assert!(is_plural_type("pictures") && !is_plural_type("js") && !is_plural_type("picture"));
}
