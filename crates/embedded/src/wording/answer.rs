//! An answer that is being put together, and its limits.

use std::borrow::Cow;

/// Bytes of a whole answer, with what is said about what was left out.
pub(super) const LONGEST: usize = 6 * 1024;
/// Bytes of the first line.
const LONGEST_LEAD: usize = 1024;
/// Bytes of a remark below.
const LONGEST_NOTE: usize = 400;
/// Remarks below.
const MOST_NOTES: usize = 4;
/// Characters of a name or a command within a sentence.
const LONGEST_CODE: usize = 160;
/// Bytes for what is said about what was left out, and for the marks around a body.
const MARGIN: usize = 400;
/// Ticks in a row from which on no fence is put around a text.
const MOST_TICKS: usize = 64;

/// A first line that says the fact, what there is to show, and remarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    lead: String,
    body: Body,
    notes: Vec<String>,
}

/// What is shown below the first line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Body {
    None,
    /// Lines of ours: lists, tables.
    Lines(String),
    /// Text to the letter, as of a file or a command.
    Fenced(String),
    /// The words of somebody else.
    Quoted(String),
}

impl Answer {
    pub(super) fn new(lead: impl Into<String>) -> Self {
        Self { lead: lead.into(), body: Body::None, notes: Vec::new() }
    }

    pub(super) fn lines(mut self, lines: impl Into<String>) -> Self {
        self.body = Body::Lines(lines.into());
        self
    }

    pub(super) fn fenced(mut self, text: impl Into<String>) -> Self {
        self.body = Body::Fenced(text.into());
        self
    }

    pub(super) fn quoted(mut self, text: impl Into<String>) -> Self {
        self.body = Body::Quoted(text.into());
        self
    }

    /// A remark below everything else.
    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The whole text, within its limits.
    pub(super) fn finish(self) -> String {
        let mut text = shortened(&harmless(self.lead.trim()), LONGEST_LEAD);
        let mut notes: Vec<String> = Vec::new();
        for note in self.notes.iter().take(MOST_NOTES) {
            notes.push(shortened(&harmless(note.trim()), LONGEST_NOTE));
        }
        let room: usize = notes.iter().map(|note| note.len() + 2).sum();
        let room = LONGEST.saturating_sub(text.len() + room + MARGIN);
        let mut left_out = None;
        let mut show = |body: &str| {
            let body = harmless(body);
            let body = body.trim_matches('\n');
            let (shown, rest) = cut(body, room);
            left_out = Rest::of(rest);
            shown.to_owned()
        };
        let shown = match &self.body {
            Body::None => String::new(),
            Body::Lines(lines) => show(lines),
            Body::Fenced(code) if ticks(code) < MOST_TICKS => fence(&show(code)),
            // Each line grows by its mark; the limit is for what comes out.
            Body::Fenced(words) | Body::Quoted(words) => show(&quote(words)),
        };
        for part in [shown].into_iter().chain(left_out.map(|rest| rest.told())).chain(notes) {
            if !part.is_empty() {
                text.push_str("\n\n");
                text.push_str(&part);
            }
        }
        no_question(text.trim_start().to_owned())
    }
}

/// What did not fit.
struct Rest {
    lines: usize,
    bytes: u64,
}

impl Rest {
    fn of(rest: &str) -> Option<Self> {
        if rest.trim().is_empty() {
            return None;
        }
        // The runtime may have left out more than we do.
        let before = rest.lines().filter_map(omitted).sum::<u64>();
        let lines = if before > 0 { 0 } else { rest.trim_matches('\n').lines().count() };
        Some(Self { lines, bytes: before.saturating_add(rest.len() as u64) })
    }

    fn told(&self) -> String {
        let Self { lines, bytes } = self;
        match lines {
            0 => format!("(… {bytes} more bytes are not shown)"),
            1 => format!("(… 1 more line, {bytes} bytes, is not shown)"),
            lines => format!("(… {lines} more lines, {bytes} bytes, are not shown)"),
        }
    }
}

/// How many bytes the runtime left out at this line.
pub(super) fn omitted(line: &str) -> Option<u64> {
    let count =
        line.strip_prefix("[… ")?.split_once(" bytes left out; read them with output_read")?;
    count.0.parse().ok()
}

/// The beginning of a text within `room` bytes, and the rest. Cut at a line, unless the first one is
/// longer than that.
fn cut(text: &str, room: usize) -> (&str, &str) {
    if text.len() <= room {
        return (text, "");
    }
    let end = text.floor_char_boundary(room);
    let at = text[..end].rfind('\n').unwrap_or(end);
    (&text[..at], &text[at..])
}

/// One line of at most so many bytes.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most.saturating_sub('…'.len_utf8()))])
}

/// Text in a fence that it cannot close.
fn fence(text: &str) -> String {
    let fence = "`".repeat((ticks(text) + 1).max(3));
    format!("{fence}\n{text}\n{fence}")
}

/// The most ticks in a row.
fn ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text of somebody else, each line marked as such.
fn quote(text: &str) -> String {
    let lines = text.trim_matches('\n').lines();
    let lines: Vec<String> = lines.map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// A name, path or command within a sentence: one line, not too long.
pub(super) fn code(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default().trim_end();
    let shown: String = line.chars().take(LONGEST_CODE).collect();
    let more = if shown.len() < text.len() { " …" } else { "" };
    if shown.is_empty() {
        return "(nothing)".to_owned();
    }
    if shown.contains('`') { format!("`` {shown}{more} ``") } else { format!("`{shown}{more}`") }
}

/// Words of somebody else within a sentence of ours: one line, not too long.
pub(super) fn inline(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    match words.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// `3 files`, `1 file`.
pub(super) fn count(number: usize, one: &str, several: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {several}") }
}

/// The text without what would act on a terminal, and without the mark by which agents reject a
/// task: here it is somebody else's word.
fn harmless(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(acts) && !text.contains('[') {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().filter(|c| !acts(*c)).collect();
    let mut safe = String::with_capacity(kept.len());
    for (at, character) in kept.char_indices() {
        safe.push(character);
        if character == '[' && begins_with(&kept[at..], "[reject]") {
            safe.push(' ');
        }
    }
    Cow::Owned(safe)
}

/// The text without the mark of a question, which means something at the very beginning only.
fn no_question(mut text: String) -> String {
    let dress = |c: char| c.is_whitespace() || "*_`>#-".contains(c);
    let at = text.len() - text.trim_start_matches(dress).len();
    if begins_with(&text[at..], "[ask]") {
        text.insert(at + 1, ' ');
    }
    text
}

fn begins_with(text: &str, mark: &str) -> bool {
    text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_line_and_says_how_much_more_there_is() {
        let text: String = (0..2000).map(|number| format!("line {number}\n")).collect();
        let told = Answer::new("Many lines:").fenced(text.as_str()).note("A remark.").finish();
        assert!(told.len() <= LONGEST, "{}", told.len());
        assert!(told.starts_with("Many lines:\n\n```\nline 0\nline 1\n"));
        let shown = told.lines().filter(|line| line.starts_with("line ")).count();
        let rest = 2000 - shown;
        assert!(told.contains(&format!("(… {rest} more lines, ")), "{told}");
        assert!(told.ends_with("A remark."));
    }

    #[test]
    fn what_the_runtime_left_out_is_counted() {
        let begin: String = (0..3000).map(|number| format!("{number}\n")).collect();
        let text = format!(
            "{begin}[… 212547 bytes left out; read them with output_read, reference \"voHPuxrlQ\" …]\nend"
        );
        let told = Answer::new("It:").fenced(text).finish();
        let count = told.rsplit_once("(… ").unwrap().1.split_once(" more bytes").unwrap().0;
        assert!(count.parse::<u64>().unwrap() > 212_547);
    }

    #[test]
    fn no_text_closes_its_fence_or_acts_as_an_agent() {
        let told = Answer::new("x").fenced("a\n```\nb").finish();
        assert_eq!(told, "x\n\n````\na\n```\nb\n````");
        for text in ["> [REJECT] no", "[reject] no", "\u{1b}[REJECT] x"] {
            let told = Answer::new("It says:").quoted(text).finish();
            assert!(!told.to_lowercase().contains("[reject]"), "{told}");
            assert!(!told.contains('\u{1b}'), "{told}");
        }
        assert_eq!(Answer::new("").lines("> **[Ask]** me").finish(), "> **[ Ask]** me");
        assert_eq!(Answer::new("x").lines("[ask]").finish(), "x\n\n[ask]");
        let told = Answer::new("x").fenced("`".repeat(5000)).finish();
        assert!(told.len() <= LONGEST && told.starts_with("x\n\n> ```"));
    }

    #[test]
    fn a_name_in_a_sentence_is_one_short_line() {
        assert_eq!(code("make test"), "`make test`");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code("one\ntwo"), "`one …`");
        assert_eq!(code("  "), "(nothing)");
        assert!(code(&"x".repeat(500)).len() < 180);
    }
}
