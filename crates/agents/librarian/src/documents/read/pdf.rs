//! Reads PDF: the text of each page.
//!
//! Call this in the helper process only: a hostile file can make the parser panic, hang or take all
//! the memory it gets.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Dictionary, Document as Pdf, Object, PlainTextOutput, output_doc_page};

use super::document::{
    BlockKind, Document, DocumentBlock, DocumentKind, PositionSpan, PositionUnit, saturating_count,
};
use super::unreadable::UnreadableReason;

/// Reads a PDF.
pub(crate) fn read_pdf(bytes: &[u8]) -> Result<Document, UnreadableReason> {
    let loaded = catch_unwind(AssertUnwindSafe(|| Pdf::load_mem(bytes)));
    let mut pdf = match loaded {
        Ok(Ok(pdf)) => pdf,
        Ok(Err(error)) if needs_password(&error) => return Err(UnreadableReason::Encrypted),
        Ok(Err(error)) => return Err(UnreadableReason::corrupt(error)),
        Err(_) => return Err(UnreadableReason::corrupt("its structure makes no sense")),
    };
    // Many files are encrypted with an empty password, only to forbid printing.
    let opened = !pdf.is_encrypted()
        || catch_unwind(AssertUnwindSafe(|| pdf.decrypt("").is_ok())).unwrap_or(false);
    if !opened {
        return Err(UnreadableReason::Encrypted);
    }
    let pages = pdf.get_pages();
    if pages.is_empty() {
        return Err(UnreadableReason::corrupt("it has no pages"));
    }
    let (mut blocks, mut broken) = (Vec::new(), 0usize);
    for number in pages.keys() {
        match read_page(&pdf, *number) {
            Some(text) => blocks.extend(split_page(&text, *number)),
            None => broken += 1,
        }
    }
    if broken == pages.len() {
        return Err(UnreadableReason::corrupt("none of its pages can be read"));
    }
    let note = format!("{broken} of {} pages could not be read", pages.len());
    let notes = if broken > 0 { vec![note] } else { Vec::new() };
    Ok(Document { title: read_title(&pdf), kind: DocumentKind::Pdf, blocks, notes })
}

fn needs_password(error: &pdf_extract::Error) -> bool {
    let text = error.to_string().to_ascii_lowercase();
    text.contains("password") || text.contains("decrypt") || text.contains("encrypt")
}

/// Returns the text of a page. Returns none if it cannot be read: one bad page does not cost the
/// others.
fn read_page(pdf: &Pdf, number: u32) -> Option<String> {
    let read = catch_unwind(AssertUnwindSafe(|| {
        let mut text = String::new();
        output_doc_page(pdf, &mut PlainTextOutput::new(&mut text), number).map(|()| text)
    }));
    // The page counts as unreadable, whether the library panicked or refused it.
    read.ok()?.ok()
}

fn split_page(page: &str, number: u32) -> Vec<DocumentBlock> {
    let mut blocks = Vec::new();
    let mut open = String::new();
    for line in page.lines().map(str::trim).chain([""]) {
        if line.is_empty() {
            let text = std::mem::take(&mut open);
            if !text.is_empty() {
                let span =
                    PositionSpan::single(PositionUnit::Page, saturating_count(number as usize));
                blocks.push(DocumentBlock { kind: BlockKind::Paragraph, text, span });
            }
            continue;
        }
        append_printed_line(&mut open, line);
    }
    blocks
}

/// Adds a printed line. A word that was hyphenated at the end of the line before is joined.
fn append_printed_line(text: &mut String, line: &str) {
    let divided = text.strip_suffix('-').is_some_and(|rest| rest.ends_with(char::is_lowercase))
        && line.starts_with(char::is_lowercase);
    if divided {
        text.pop();
    } else if !text.is_empty() {
        text.push(' ');
    }
    text.extend(line.chars().map(|c| if c.is_control() { ' ' } else { c }));
}

/// Returns the title, if the file has one that can be read.
fn read_title(pdf: &Pdf) -> Option<String> {
    let info: &Dictionary = match pdf.trailer.get(b"Info").ok()? {
        Object::Reference(id) => pdf.get_dictionary(*id).ok()?,
        Object::Dictionary(info) => info,
        _ => return None,
    };
    let bytes = info.get(b"Title").ok()?.as_str().ok()?;
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => encoding_rs::UTF_16BE.decode(rest).0.into_owned(),
        bytes => encoding_rs::WINDOWS_1252.decode(bytes).0.into_owned(),
    };
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_on_their_pages() {
        let document = read_pdf(include_bytes!("../../../tests/fixtures/lighthouse.pdf")).unwrap();
        let page = |words: &str| {
            let block = document.blocks.iter().find(|block| block.text.contains(words)).unwrap();
            block.span.to_string()
        };
        assert_eq!(page("one hour before sunset"), "page 1");
        assert_eq!(page("The café at the pier"), "page 2");
        assert_eq!(page("second ring"), "page 3");
    }

    #[test]
    fn printed_lines_become_paragraphs() {
        let text = "\n\nA light-\nhouse stands\nhere.\n\nSecond X-\nRay.\n";
        let found: Vec<String> = split_page(text, 2).into_iter().map(|block| block.text).collect();
        assert_eq!(found, ["A lighthouse stands here.", "Second X- Ray."]);
    }
}
