use super::*;

#[test]
fn the_vectors_are_those_of_the_page() {
    let page = HelpPage::shared();
    let count: usize = page.entries.iter().map(|entry| entry.questions.len()).sum();
    assert!(page.entries.len() > 80, "{}", page.entries.len());
    assert_eq!(
        (VECTORS.get(..DIGEST_BYTES), VECTORS.len()),
        (Some(&page.digest()[..]), DIGEST_BYTES + HIDDEN * count),
        "write them again: cargo run -p lango-embedded --example write_help_vectors"
    );
}

#[test]
fn every_question_of_the_page_finds_its_answer() {
    let page = HelpPage::shared();
    for entry in &page.entries {
        let found = page.find(entry.questions[0]).map(|found| found.entry.questions[0]);
        assert_eq!(found, Some(entry.questions[0]));
    }
}

#[test]
fn questions_in_other_words_find_their_answer() {
    for (question, expected) in [
        ("how do i hook up openai", "OPENAI_API_KEY"),
        ("how do I take back what you just did", "lango undo"),
        ("is there an http api for our bot", "serve"),
    ] {
        let answer = answer_help_question(question).unwrap_or_default();
        assert!(answer.contains(expected), "{question}: {answer}");
    }
}
