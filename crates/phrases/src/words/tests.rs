use super::*;

#[test]
fn words_have_no_punctuation_around_them_and_names_keep_their_dots() {
    let text = "Move (old) notes.txt, \"My File.md\" to ../x/. Please… v1.2.";
    let words = RequestWords::of(text);
    let found: Vec<&str> = words.words.iter().map(|word| word.text.as_str()).collect();
    assert_eq!(
        found,
        ["move", "old", "notes.txt", "my", "file.md", "to", "../x/.", "please", "v1.2"]
    );
    assert!(words.words[3].is_quoted && !words.words[2].is_quoted);
    assert!(words.has_phrase(&["move old"]) && !words.has_phrase(&["my file.md"]));
}
