//! Finds the part of a text that is a value, given the span that the model points at: whole words,
//! whole quotations, and not the punctuation of the sentence around it. `training/examples.py`
//! cleans in the same way.

use std::ops::Range;

use lango_phrases::quotations::{Quotation, find_quotations};

const QUOTES: &str = "\"'`“”‘’«»";
/// Lists the characters that join the parts of a name.
const NAME_JOINERS: [char; 5] = ['.', '/', '\\', '-', '@'];
/// Is about the number of bytes that remain at each end of a quotation that is too long.
const QUOTATION_END_BYTES: usize = 80;

/// The part of a text that is a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueSpan {
    pub(crate) range: Range<usize>,
    /// True if it is all that two marks enclose: then nothing of it can be missing.
    pub(crate) is_quoted: bool,
}

/// Returns the part of a text that a span of it stands for.
pub(crate) fn locate_value(text: &str, span: Range<usize>) -> ValueSpan {
    let all = find_quotations(text);
    let span = trim_span(text, span);
    // Quotes around the whole text do not count.
    let around = |quotation: &&Quotation| {
        quotation.whole.start <= span.start
            && span.start < quotation.inside.end
            && trim_span(text, 0..text.len()) != quotation.whole
    };
    if let Some(quotation) = all.iter().find(around)
        && (span.start > quotation.whole.start
            || clean_span_among(text, span.clone(), &all).end <= quotation.whole.end)
    {
        return ValueSpan { range: inside_of_quotation(text, quotation), is_quoted: true };
    }
    let Range { start, mut end } = widen_span(text, span);
    if let Some(open) = all.iter().find(|q| q.whole.start < end && end < q.whole.end)
        && start <= open.whole.start
    {
        end = open.whole.end;
    }
    ValueSpan { range: clean_span_among(text, start..end, &all), is_quoted: false }
}

/// Returns a part of a text without the quotes and the sentence's punctuation around it.
pub(crate) fn clean_span(text: &str, span: Range<usize>) -> Range<usize> {
    clean_span_among(text, span, &find_quotations(text))
}

fn clean_span_among(text: &str, span: Range<usize>, all: &[Quotation]) -> Range<usize> {
    let Range { mut start, mut end } = trim_span(text, span);
    loop {
        let before = (start, end);
        let part = &text[start..end];
        if let Some(whole) = all.iter().find(|q| q.whole == (start..end)) {
            return trim_span(text, whole.inside.clone());
        }
        let mut characters = part.chars();
        if let Some(first) = characters.next() {
            let rest = characters.as_str();
            let is_pause = matches!(first, ',' | ':' | ';')
                && rest.starts_with(|next: char| next.is_whitespace() || QUOTES.contains(next));
            let is_lone = QUOTES.contains(first)
                && !all.iter().any(|q| q.whole.start == start && q.whole.end <= end);
            if is_pause || is_lone || rest.is_empty() && is_punctuation(first) {
                start += first.len_utf8();
            }
        }
        if start < end && ends_with_punctuation(text, start..end, all) {
            end -= text[start..end].chars().next_back().map_or(0, char::len_utf8);
        }
        let next = trim_span(text, start..end);
        (start, end) = (next.start, next.end);
        if (start, end) == before {
            return start..end;
        }
    }
}

/// Tells whether the last character belongs to the sentence, or is a mark without its partner in
/// the span.
fn ends_with_punctuation(text: &str, span: Range<usize>, all: &[Quotation]) -> bool {
    let part = &text[span.clone()];
    let Some(last) = part.chars().next_back() else { return false };
    let before = &part[..part.len() - last.len_utf8()];
    if QUOTES.contains(last) {
        let is_closing = |q: &Quotation| q.whole.end == span.end && span.start <= q.whole.start;
        // An inch sign, as in 19".
        let is_sign = last == '"' && before.ends_with(|c: char| c.is_ascii_digit());
        let closes_outside = all.iter().any(|q| q.whole.end == span.end);
        return !all.iter().any(is_closing) && (closes_outside || !is_sign);
    }
    let after = text[span.end..].chars().next();
    let ends_here = after.is_none_or(|c| c.is_whitespace() || QUOTES.contains(c) || c == ')');
    ends_here
        && match last {
            // A name may be made of dots, and end with them.
            '.' => !before.is_empty() && !before.ends_with(['.', '/', ' ']),
            // It ends a command, unless more text follows.
            ';' => !text[span.end..].trim().is_empty(),
            _ => is_punctuation(last),
        }
}

fn is_punctuation(character: char) -> bool {
    matches!(character, ',' | ';' | ':' | '!' | '?')
}

fn trim_span(text: &str, span: Range<usize>) -> Range<usize> {
    let part = &text[span.clone()];
    let start = span.start + part.len() - part.trim_start().len();
    start..start + part.trim().len()
}

/// Widens a span to the whole words and names that it touches.
fn widen_span(text: &str, span: Range<usize>) -> Range<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let Range { mut start, mut end } = span;
    // "/b.wav" in "a/b.wav" begins within a name.
    let mut first = text[start..].chars();
    if first.next().is_some_and(|c| NAME_JOINERS.contains(&c))
        && first.next().is_some_and(is_word)
        && let Some(before) = text[..start].chars().next_back().filter(|c| is_word(*c))
    {
        start -= before.len_utf8();
    }
    while text[start..].starts_with(is_word) {
        let mut before = text[..start].chars().rev();
        let (next, further) = (before.next(), before.next());
        match (next, further) {
            (Some(next), _) if is_word(next) => start -= next.len_utf8(),
            (Some(joint), Some(further)) if NAME_JOINERS.contains(&joint) && is_word(further) => {
                start -= joint.len_utf8() + further.len_utf8();
            }
            _ => break,
        }
    }
    while text[..end].ends_with(is_word) {
        let mut after = text[end..].chars();
        let (next, further) = (after.next(), after.next());
        match (next, further) {
            (Some(next), _) if is_word(next) => end += next.len_utf8(),
            (Some(joint), Some(further)) if NAME_JOINERS.contains(&joint) && is_word(further) => {
                end += joint.len_utf8() + further.len_utf8();
            }
            _ => break,
        }
    }
    start..end
}

/// Returns the inside of a quotation; for a block of code, without the line that names its
/// language.
fn inside_of_quotation(text: &str, quotation: &Quotation) -> Range<usize> {
    let Quotation { whole, inside } = quotation;
    let is_block = text[whole.clone()].starts_with("```");
    match text[inside.clone()].split_once('\n') {
        Some((language, rest)) if is_block && !language.trim().contains(' ') => {
            inside.end - rest.len()..inside.start + text[inside.clone()].trim_end().len()
        }
        _ => inside.clone(),
    }
}

/// A text without the middles of its long quotations, so that the rest of it can be read.
#[derive(Debug)]
pub(crate) struct ShortenedText {
    pub(crate) text: String,
    /// The position and the length of each part that was left out.
    cuts: Vec<(usize, usize)>,
}

impl ShortenedText {
    /// Returns the text unchanged.
    pub(crate) fn unchanged(text: &str) -> Self {
        Self { text: text.to_owned(), cuts: Vec::new() }
    }

    pub(crate) fn of(text: &str) -> Self {
        let mut short = Self { text: String::new(), cuts: Vec::new() };
        let mut done = 0;
        for Quotation { inside, .. } in find_quotations(text) {
            if inside.len() <= 3 * QUOTATION_END_BYTES {
                continue;
            }
            let from = text.ceil_char_boundary(inside.start + QUOTATION_END_BYTES);
            let to = text.floor_char_boundary(inside.end.saturating_sub(QUOTATION_END_BYTES));
            // Cuts are made between words.
            let from = from + text[from..].find(' ').unwrap_or_default();
            let to = text[..to].rfind(' ').unwrap_or_default();
            if from < to && to < inside.end {
                short.text.push_str(&text[done..from]);
                short.cuts.push((short.text.len(), to - from));
                done = to;
            }
        }
        short.text.push_str(&text[done..]);
        short
    }

    /// Converts a span of the shortened text to a span of the original.
    pub(crate) fn original(&self, span: &Range<usize>) -> Range<usize> {
        let moved = |end: usize, is_before: &dyn Fn(usize) -> bool| {
            let cuts = self.cuts.iter().filter(|(at, _)| is_before(*at));
            end + cuts.map(|(_, length)| length).sum::<usize>()
        };
        moved(span.start, &|at| at <= span.start)..moved(span.end, &|at| at < span.end)
    }
}

#[cfg(test)]
mod tests;
