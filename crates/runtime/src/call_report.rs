//! Writes the reports about calls that failed or did not run. A successful call is reported by its
//! tool.

use lango_protocol::CallReport;
use lango_text::{code_span, to_one_line, to_single_spaced};
use lango_tool::ToolError;

/// Limits the length of the reason in the first sentence.
const MAX_REASON_CHARACTERS: usize = 600;

/// Says why a call was not run, to the model and to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallRefusal {
    /// The reason, without a full stop.
    pub(crate) reason: String,
    /// The instruction for the model; not shown to people.
    pub(crate) instruction: &'static str,
}

impl CallRefusal {
    pub(crate) fn new(reason: impl Into<String>, instruction: &'static str) -> Self {
        Self { reason: reason.into(), instruction }
    }

    /// Returns the text for the model.
    pub(crate) fn render_for_model(&self) -> String {
        format!("Not run: {}. {}", self.reason, self.instruction).trim_end().to_owned()
    }
}

/// Names a call in sentences about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallSubject {
    /// The tool's own description, such as "Reading `notes.md`".
    Described(String),
    /// The tool's name.
    Tool(String),
}

impl CallSubject {
    /// Takes the tool's own description, or its name.
    pub(crate) fn new(description: Option<String>, tool: &str) -> Self {
        description.map_or_else(|| Self::Tool(code_span(tool)), Self::Described)
    }

    /// Names a call by its tool alone.
    pub(crate) fn of_tool(name: &str) -> Self {
        Self::new(None, name)
    }

    fn text(&self) -> &str {
        match self {
            Self::Described(text) | Self::Tool(text) => text,
        }
    }

    /// Reports a call that was not run.
    pub(crate) fn report_not_run(&self, reason: &str) -> CallReport {
        let what = match self {
            Self::Described(text) => format!("{text} was not done"),
            Self::Tool(text) => format!("{text} was not run"),
        };
        report_reason(&what, reason)
    }

    /// Reports a call that was stopped while it ran.
    pub(crate) fn report_stopped(&self) -> CallReport {
        let text = self.text();
        report_failure(format!("{text} was stopped; it may have had a part of its effect."))
    }

    /// Reports a call that was running when the process ended.
    pub(crate) fn report_unknown(&self) -> CallReport {
        report_failure(format!(
            "What came of this is not known: the process ended in the middle of it. {} may or may \
             not have had its effect, and was not tried again.",
            self.text()
        ))
        .note("Look at the state of things before you ask for it again.")
    }

    /// Reports a call whose tool ended in a panic.
    pub(crate) fn report_panic(&self, reason: &str) -> CallReport {
        report_reason(&format!("{} failed, because the tool broke down", self.text()), reason)
    }

    /// Reports a call that ended with an error.
    pub(crate) fn report_failed(&self, error: &ToolError) -> CallReport {
        let text = self.text();
        match error {
            ToolError::Arguments(_) => self.report_not_run(&error.to_string()).invalid_arguments(),
            ToolError::Cancelled => self.report_stopped(),
            ToolError::Forbidden(reason) => {
                report_reason(&format!("{text} is not permitted"), reason)
            }
            ToolError::Failed(reason) => report_reason(&format!("{text} failed"), reason),
            ToolError::TimedOut { seconds, partial } => {
                let report = report_failure(format!(
                    "{text} was stopped, because it did not end within {seconds} s."
                ));
                let report = match partial.trim_matches('\n') {
                    "" => report,
                    partial => report.verbatim(partial),
                };
                report.note("Give it more time, or do less at once.")
            }
        }
    }
}

fn report_failure(summary: String) -> CallReport {
    CallReport::new(summary).unsuccessful()
}

/// Writes "What: why.", with the rest of a long reason below.
fn report_reason(what: &str, reason: &str) -> CallReport {
    let reason = reason.trim();
    let (first, rest) = reason.split_once('\n').unwrap_or((reason, ""));
    let line = to_single_spaced(first);
    let shown = to_one_line(first, MAX_REASON_CHARACTERS);
    let is_cut = shown.len() < line.len();
    let report = match shown.trim_end_matches('.') {
        "" => report_failure(format!("{what}. No reason was given.")),
        _ if shown.ends_with(['.', '!', '?', '…']) => report_failure(format!("{what}: {shown}")),
        // A command to type ends without a full stop, so that it can be copied.
        _ if shown.contains(": lango ") => report_failure(format!("{what}: {shown}")),
        reason => report_failure(format!("{what}: {reason}.")),
    };
    match (rest.trim(), is_cut) {
        ("", false) => report,
        ("", true) => report.quoted(first),
        (rest, false) => report.quoted(rest),
        (_, true) => report.quoted(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading() -> CallSubject {
        CallSubject::new(Some("Reading `a`".into()), "fs_read")
    }

    fn summary(report: &CallReport) -> &str {
        assert!(report.unsuccessful);
        &report.summary
    }

    #[test]
    fn a_failure_is_told_in_the_tools_words() {
        let failed = |why: &str| reading().report_failed(&ToolError::Failed(why.into()));
        assert_eq!(summary(&failed("a does not exist")), "Reading `a` failed: a does not exist.");
        assert_eq!(summary(&failed("")), "Reading `a` failed. No reason was given.");
        assert_eq!(
            summary(&reading().report_failed(&ToolError::Forbidden("it leads outside".into()))),
            "Reading `a` is not permitted: it leads outside."
        );
        assert_eq!(
            summary(&failed("it is private. To allow it: lango config set egress.allow x")),
            "Reading `a` failed: it is private. To allow it: lango config set egress.allow x"
        );
        let long = format!("{}\nmore", "word ".repeat(300));
        let report = failed(&long);
        assert!(report.summary.len() < 700 && report.details.is_some());
    }

    #[test]
    fn what_was_not_run_is_told_as_such() {
        let refusal = CallRefusal::new("not approved (--approve none)", "Do not try it again.");
        assert_eq!(
            refusal.render_for_model(),
            "Not run: not approved (--approve none). Do not try it again."
        );
        assert_eq!(
            summary(&reading().report_not_run(&refusal.reason)),
            "Reading `a` was not done: not approved (--approve none)."
        );
        let arguments = ToolError::Arguments("unknown field `id`".into());
        let report = CallSubject::of_tool("fs_read").report_failed(&arguments);
        assert_eq!(
            summary(&report),
            "`fs_read` was not run: the arguments do not fit: unknown field `id`."
        );
        assert!(report.invalid_arguments);
        assert!(!reading().report_not_run(&refusal.reason).invalid_arguments);
    }

    #[test]
    fn what_is_half_done_is_told_as_such() {
        let late = ToolError::TimedOut { seconds: 1, partial: "\nstdout so far:\none".into() };
        let report = reading().report_failed(&late);
        assert_eq!(summary(&report), "Reading `a` was stopped, because it did not end within 1 s.");
        assert_eq!(report.details.as_ref().unwrap().text(), "stdout so far:\none");
        assert!(summary(&reading().report_unknown()).starts_with("What came of this is not known"));
    }
}
