//! Reports to users what was read.

use lango_protocol::CallReport;
use lango_text::code_span;
use serde::Serialize;

use super::ReadResult;
use crate::files::report::FilesReport;
use crate::sentence::count_with_noun;

/// Reports to programs which lines were read.
#[derive(Serialize)]
struct LineRange<'a> {
    path: &'a str,
    first_line: u64,
    last_line: u64,
    total_lines: Option<u64>,
}

/// Reports to programs how much of the end of a file was read.
#[derive(Serialize)]
struct EndOfFile<'a> {
    path: &'a str,
    lines: u64,
}

const REPLACED_NOTE: &str = "It is not UTF-8: some bytes are shown as �.";

impl ReadResult {
    pub(super) fn report(&self, file: String) -> CallReport {
        let (path, text, first_line, last_line, total_lines) = match self {
            Self::Binary { path, size, kind } => {
                let size = count_with_noun(*size, "byte", "bytes");
                let summary = format!("{} is not text: {kind}, {size}.", code_span(path));
                return CallReport::new(summary).data(&FilesReport::about(file, self));
            }
            Self::End { path, text, lines, replaced_bytes, is_cut } => {
                let counted = count_with_noun(*lines, "line", "lines");
                let summary = format!("{}, the last {counted}:", code_span(path));
                let mut report = CallReport::new(summary).verbatim(text.as_str());
                if *replaced_bytes {
                    report = report.note(REPLACED_NOTE);
                }
                if *is_cut {
                    report = report.note("More lines do not fit.");
                }
                let end = EndOfFile { path, lines: *lines };
                return report.data(&FilesReport::about(file, end));
            }
            Self::Text { path, text, first_line, last_line, total_lines, .. } => {
                (path, text, *first_line, *last_line, *total_lines)
            }
        };
        let name = code_span(path);
        let range = LineRange { path, first_line, last_line, total_lines };
        let range = FilesReport::about(file, range);
        let lines = if first_line == last_line {
            format!("line {first_line}")
        } else {
            format!("lines {first_line} to {last_line}")
        };
        let summary = match total_lines {
            Some(0) => return CallReport::new(format!("{name} is empty.")).data(&range),
            Some(total) if first_line == 1 && last_line == total => {
                format!("{name} ({}):", count_with_noun(total, "line", "lines"))
            }
            Some(total) => format!("{name}, {lines} of {total}:"),
            None => format!("{name}, {lines}; more follow:"),
        };
        let mut report = if text.trim_matches('\n').is_empty() {
            CallReport::new(format!("{summary} only empty lines."))
        } else {
            CallReport::new(summary).verbatim(text.as_str())
        };
        if let Self::Text { replaced_bytes: true, .. } = self {
            report = report.note(REPLACED_NOTE);
        }
        if let Self::Text { cut_bytes: cut @ 1.., .. } = self {
            let more = count_with_noun(*cut, "more byte", "more bytes");
            report = report.note(format!("Line {last_line} is cut: it has {more}."));
        }
        report.data(&range)
    }
}
