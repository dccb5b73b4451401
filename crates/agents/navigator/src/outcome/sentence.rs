//! Reports pages to users.

use lango_protocol::CallReport;
use lango_text::to_one_line;
use serde::Serialize;

use super::{ActionOutcome, LoadState, PageExcerpt, PageView, Remainder};
use crate::page::{ReadMode, clean_line, display_address};

/// Limits how many bytes of a page's text come with its title.
const MAX_BEGINNING_BYTES: usize = 1_500;
/// Limits how many characters of a title are shown.
const MAX_TITLE_CHARACTERS: usize = 200;
/// The first status that says that the page is not what was asked for.
const FIRST_ERROR_STATUS: u16 = 400;

/// Reports to programs which page is shown.
#[derive(Serialize)]
struct PageFacts {
    address: String,
    title: String,
    status: Option<u16>,
}

impl PageView {
    /// Reports to users that the page was opened. A preface comes before, a remark below.
    pub(crate) fn report_opened(&self, preface: Option<&str>, remark: Option<&str>) -> CallReport {
        let (address, title) = (display_address(&self.url), self.quoted_title());
        let summary = match (self.error_status(), preface) {
            (Some(status), _) => format!("{address} answered with status {status}: {title}."),
            (None, Some(preface)) => format!("{preface} Opened {title}, {address}"),
            (None, None) => format!("Opened {title}, {address}"),
        };
        self.report(summary, remark)
    }

    /// Builds a report with the beginning of the page below a sentence.
    fn report(&self, summary: String, remark: Option<&str>) -> CallReport {
        let report = CallReport::new(summary).data(&PageFacts {
            address: display_address(&self.url),
            title: self.clean_title(),
            status: self.status,
        });
        let report = if self.error_status().is_some() { report.unsuccessful() } else { report };
        let text = first_words(&self.outline.words);
        let report = if text.is_empty() { report } else { report.quoted(text) };
        let report = remark.into_iter().fold(report, CallReport::note);
        let report = with_note(report, &self.incidents.lines);
        match self.load {
            LoadState::Complete => report,
            LoadState::Partial => report.note("Parts of the page are still loading."),
            LoadState::TimedOut(seconds) => {
                report.note(format!("The page was not complete after {seconds} s."))
            }
        }
    }

    fn error_status(&self) -> Option<u16> {
        self.status.filter(|status| *status >= FIRST_ERROR_STATUS)
    }

    fn clean_title(&self) -> String {
        clean_line(&to_one_line(&self.title, MAX_TITLE_CHARACTERS))
    }

    fn quoted_title(&self) -> String {
        match self.clean_title().as_str() {
            "" => "a page without a title".to_owned(),
            title => format!("\"{title}\""),
        }
    }
}

impl ActionOutcome {
    /// Reports to users what was done, and which page is shown then.
    pub(crate) fn report(&self) -> CallReport {
        let Self { headline, page } = self;
        let (address, title) = (display_address(&page.url), page.quoted_title());
        let summary = match page.error_status() {
            Some(status) => {
                format!("{headline} The page {address} answered with status {status}: {title}.")
            }
            None => format!("{headline} The page is {title}, {address}"),
        };
        page.report(summary, None)
    }
}

impl PageExcerpt {
    /// Shows users what was read, in this mode and from the beginning or later.
    pub(crate) fn report(&self, mode: ReadMode, from_beginning: bool) -> CallReport {
        let (address, words) = (self.text.address(), self.text.words());
        let report = if !words.trim().is_empty() {
            CallReport::new(format!("From the page {address}:")).quoted(words)
        } else if from_beginning {
            CallReport::new(format!("The page {address} has no {}.", describe_mode(mode)))
        } else {
            CallReport::new(format!("There is nothing more to read on the page {address}."))
        };
        let report = with_note(report, &self.lines);
        match self.rest {
            Remainder::End | Remainder::Nothing => report,
            Remainder::More { number, unit, .. } => {
                report.note(format!("{number} more {unit} follow."))
            }
        }
    }
}

/// Returns what is read in a mode.
fn describe_mode(mode: ReadMode) -> &'static str {
    match mode {
        ReadMode::Article | ReadMode::Text => "text",
        ReadMode::Links => "links",
        ReadMode::Tables => "tables",
        ReadMode::Outline => "elements",
    }
}

/// Adds what happened meanwhile as one note: a report has only few.
pub(super) fn with_note(report: CallReport, lines: &[String]) -> CallReport {
    if lines.is_empty() { report } else { report.note(lines.join("\n")) }
}

/// Returns the first words of a page, line by line.
fn first_words(words: &[String]) -> String {
    let mut text = String::new();
    for line in words {
        if text.len() + line.len() > MAX_BEGINNING_BYTES && !text.is_empty() {
            text.push_str("\n…");
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&clean_line(line));
    }
    text
}
