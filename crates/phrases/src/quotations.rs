//! Finds quotations in a text: the part between two marks that belong together.
//! `training/examples.py` finds the same ones.

use std::ops::Range;

/// Marks within a quotation that are paired with each other.
const MAX_MARK_COUNT: usize = 1000;

/// Represents a quotation with both of its marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quotation {
    /// The range with the marks.
    pub whole: Range<usize>,
    /// The text between the marks.
    pub inside: Range<usize>,
}

/// Returns the outermost complete quotations, in their order.
pub fn find_quotations(text: &str) -> Vec<Quotation> {
    let mut found = Vec::new();
    // Marks without an end: a later search would not find one either.
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(mark) = text[at..].chars().next() {
        let next = at + mark.len_utf8();
        let length = match mark {
            '`' => text[at..].len() - text[at..].trim_start_matches('`').len(),
            _ => mark.len_utf8(),
        };
        let can_open = is_opening(text, at, mark) && !open.contains(&(mark, length));
        let end = can_open.then(|| find_closing(text, at..at + length, mark)).flatten();
        if can_open && end.is_none() {
            open.push((mark, length));
        }
        match end {
            Some(closing) => {
                let inside = at + length..closing.start;
                found.push(Quotation { whole: at..closing.end, inside });
                at = closing.end;
            }
            None => at = if mark == '`' { at + length } else { next },
        }
    }
    found
}

/// Tells whether a mark can begin a quotation: an apostrophe and the inch sign follow a character.
fn is_opening(text: &str, at: usize, mark: char) -> bool {
    match mark {
        '"' | '\'' | '‘' => !text[..at].ends_with(is_word),
        '`' | '“' | '«' => true,
        _ => false,
    }
}

/// Returns the range of the marks that end what `opening` begins.
fn find_closing(text: &str, opening: Range<usize>, mark: char) -> Option<Range<usize>> {
    match mark {
        '`' => find_closing_backticks(text, opening),
        '"' => find_nested_closing(text, opening.end).or_else(|| find_mark(text, opening.end, '"')),
        '\'' => find_mark(text, opening.end, '\''),
        '‘' => find_mark(text, opening.end, '’'),
        '“' => text[opening.end..].find('”').map(|at| mark_at(opening.end + at, '”')),
        _ => text[opening.end..].find('»').map(|at| mark_at(opening.end + at, '»')),
    }
}

fn mark_at(at: usize, mark: char) -> Range<usize> {
    at..at + mark.len_utf8()
}

/// Returns the closing backticks: as many as the opening ones.
fn find_closing_backticks(text: &str, opening: Range<usize>) -> Option<Range<usize>> {
    let mut at = opening.end;
    loop {
        at += text[at..].find('`')?;
        let count = text[at..].len() - text[at..].trim_start_matches('`').len();
        if count == opening.len() {
            return Some(at..at + count);
        }
        at += count;
    }
}

/// Returns the first mark that is not followed by a letter and not preceded by a backslash.
fn find_mark(text: &str, from: usize, mark: char) -> Option<Range<usize>> {
    let mut marks = text[from..].match_indices(mark).map(|(at, _)| mark_at(from + at, mark));
    marks.find(|at| !text[at.end..].starts_with(is_word) && !text[..at.start].ends_with('\\'))
}

/// Returns the closing mark of a quotation that may contain others.
fn find_nested_closing(text: &str, from: usize) -> Option<Range<usize>> {
    let mut open = 1_usize;
    for (at, _) in text[from..].match_indices('"').take(MAX_MARK_COUNT) {
        let mark = mark_at(from + at, '"');
        let before = &text[..mark.start];
        let follows_word = text[mark.end..].starts_with(is_word);
        if before.ends_with('\\') {
            continue;
        }
        if follows_word && mark.start > from && before.ends_with([' ', '\n', '(']) {
            open += 1;
        } else if !follows_word {
            open -= 1;
            if open == 0 {
                return Some(mark);
            }
        }
    }
    None
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric()
}

#[cfg(test)]
mod tests;
