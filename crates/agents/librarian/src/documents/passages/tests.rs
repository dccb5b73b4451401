use proptest::prelude::*;

use super::super::read::{DocumentBlock, DocumentKind, PositionUnit};
use super::*;

fn read(kind: DocumentKind, text: &str) -> Document {
    let bytes = text.as_bytes().to_vec();
    super::super::read::read_text(kind, None, bytes).unwrap()
}

fn cut(kind: DocumentKind, text: &str) -> Vec<Passage> {
    cut_into_passages(&read(kind, text))
}

#[test]
fn sections_have_their_headings_and_lines() {
    let text =
        "# Install\n\nIntro.\n\n## Linux\n\nUse the package.\n\n## Mac\n\n# Use\n\nType it.\n";
    let found: Vec<(String, String, String)> = cut(DocumentKind::Markdown, text)
        .into_iter()
        .map(|passage| (passage.heading, passage.text, passage.span.to_string()))
        .collect();
    let row = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(
        found,
        [
            row("Install", "Intro.", "lines 1-3"),
            row("Install > Linux", "Use the package.", "lines 5-7"),
            row("Install > Mac", "Mac", "line 9"),
            row("Use", "Type it.", "lines 11-13"),
        ]
    );
}

#[test]
fn neighbours_of_one_section_share_a_sentence_or_two() {
    let sentences: Vec<String> =
        (0..40).map(|n| format!("Sentence number {n} tells of the lamp and the sea.")).collect();
    let found = cut(DocumentKind::Text, &sentences.join(" "));
    assert!(found.len() > 2, "{found:?}");
    for pair in found.windows(2) {
        let shared = sentences
            .iter()
            .filter(|one| pair[0].text.contains(*one) && pair[1].text.contains(*one))
            .count();
        assert!((1..=2).contains(&shared), "{shared} in {pair:?}");
    }
}

#[test]
fn a_long_table_repeats_its_head() {
    let rows: String = (0..80).map(|n| format!("| key {n} | some value of it {n} |\n")).collect();
    let found = cut(DocumentKind::Markdown, &format!("| name | value |\n|---|---|\n{rows}"));
    assert!(found.len() > 2);
    assert!(found.iter().all(|one| one.text.starts_with("| name | value |\n|---|---|\n| key")));
}

#[test]
fn code_is_cut_at_blank_lines_and_keeps_its_indentation() {
    let part = "    let one = first(alpha, beta);\n    let two = second(one);\n\n";
    let text = format!("fn long() {{\n{}}}\n", part.repeat(30));
    let found = cut(DocumentKind::Code, &text);
    assert!(found.len() > 2);
    assert!(found[1].text.starts_with("    let one"), "{:?}", found[1].text);
    assert!(found[1].text.contains("\n\n    let one"));
}

#[test]
fn a_page_of_a_pdf_stays_on_its_page_where_a_passage_does() {
    let block = |page, text: &str| DocumentBlock {
        kind: BlockKind::Paragraph,
        text: text.to_owned(),
        span: PositionSpan::single(PositionUnit::Page, page),
    };
    let blocks = vec![block(3, "One."), block(4, "Two.")];
    let document = Document { title: None, kind: DocumentKind::Pdf, blocks, notes: Vec::new() };
    assert_eq!(cut_into_passages(&document)[0].span.to_string(), "pages 3-4");
}

/// Generates lines of every kind; each word is unique, so that it can be searched for.
fn lines() -> impl Strategy<Value = Vec<(u8, usize)>> {
    proptest::collection::vec((0u8..12, 1usize..30), 1..30)
}

fn text_of(shapes: &[(u8, usize)]) -> (String, Vec<Vec<String>>) {
    let (mut text, mut words, mut next) = (String::new(), Vec::new(), 0);
    for (shape, length) in shapes {
        let mut line = Vec::new();
        for position in 0..*length {
            next += 1;
            let end = if position % 9 == 8 { "." } else { "" };
            line.push(match shape {
                9 => format!("語彙{next}漢字{end}"),
                10 => format!("Éa{next}{}{end}", "ü".repeat(position * 25)),
                _ => format!("Wort{next}{end}"),
            });
        }
        let body = line.join(" ");
        let (shown, kept) = match shape {
            0 | 1 => (String::new(), Vec::new()),
            2 => (format!("# {body}"), line),
            3 => (format!("### {body}"), line),
            4 => (format!("- {body}"), line),
            5 => (format!("    {body}"), line),
            6 => (format!("> {body}"), line),
            7 => (format!("| {} |", line.join(" | ")), line),
            _ => (body, line),
        };
        text.push_str(&shown);
        text.push('\n');
        words.push(kept);
    }
    (text, words)
}

fn holds(kind: DocumentKind, shapes: &[(u8, usize)]) -> Result<(), TestCaseError> {
    let (text, words) = text_of(shapes);
    let document = read(kind, &text);
    let found = cut_into_passages(&document);
    prop_assert_eq!(&found, &cut_into_passages(&document));
    let last = u32::try_from(words.len()).unwrap();
    for passage in &found {
        prop_assert!(text_weight(&passage.text) <= MAX_WEIGHT + 4, "{:?}", passage);
        prop_assert!(passage.text.split_whitespace().count() <= 222);
        prop_assert!(
            passage.heading.chars().count() <= MAX_HEADING_PATH_CHARACTERS + MAX_HEADING_CHARACTERS
        );
        let PositionSpan { first, last: end, .. } = passage.span;
        prop_assert!(1 <= first && first <= end && end <= last, "{:?}", passage.span);
    }
    for (line, number) in words.iter().zip(1u32..) {
        for word in line {
            // Only a word that is longer than a passage is cut.
            let whole = text_weight(word) <= MAX_WEIGHT - MAX_OVERLAP_WEIGHT;
            let is_there = |passage: &&Passage| {
                passage.text.contains(word.as_str()) || passage.heading.contains(word.as_str())
            };
            let here =
                |passage: &Passage| passage.span.first <= number && number <= passage.span.last;
            let in_place = found.iter().filter(is_there).any(here);
            // A heading above others is found with them.
            let above = found.iter().any(|passage| passage.heading.contains(word.as_str()));
            prop_assert!(!whole || in_place || above, "{} of line {}", word, number);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_line_of_markdown_is_in_a_passage(shapes in lines()) {
        holds(DocumentKind::Markdown, &shapes)?;
    }

    #[test]
    fn every_line_of_text_is_in_a_passage(shapes in lines()) {
        holds(DocumentKind::Text, &shapes)?;
    }

    #[test]
    fn every_line_of_code_is_in_a_passage(shapes in lines()) {
        holds(DocumentKind::Code, &shapes)?;
    }

    #[test]
    fn nothing_breaks_over_any_text(text in "\\PC{0,400}", noise in any::<Vec<u8>>()) {
        for kind in [DocumentKind::Markdown, DocumentKind::Html, DocumentKind::Code, DocumentKind::Text] {
            for bytes in [text.as_bytes().to_vec(), noise.clone()] {
                if let Ok(document) = super::super::read::read_text(kind, None, bytes) {
                    for passage in cut_into_passages(&document) {
                        prop_assert!(!passage.text.trim().is_empty());
                        prop_assert!(text_weight(&passage.text) <= MAX_WEIGHT + 4);
                    }
                }
            }
        }
    }
}
