//! Reports commands in the background to users.

use lango_protocol::CallReport;
use lango_text::code_span;
use serde::Serialize;

use super::{ProcessSnapshot, ProcessState, StartedProcess};
use crate::sentence::code;

/// Reports a command in the background to programs.
#[derive(Serialize)]
struct ProcessFacts<'a> {
    id: &'a str,
    state: &'static str,
    exit_code: Option<i32>,
    seconds: u64,
}

impl StartedProcess {
    pub(super) fn report(&self, command: &str) -> CallReport {
        let (command, id) = (code(command), code_span(&self.id));
        CallReport::new(format!("Started {command} in the background, as {id}.")).data(self)
    }
}

impl ProcessSnapshot {
    /// Reports the state of the command. The call was unsuccessful if the command failed.
    pub(super) fn status_report(&self) -> CallReport {
        let report = self.report();
        match self.state {
            ProcessState::Running | ProcessState::Stopped | ProcessState::Exited(Some(0)) => report,
            ProcessState::Exited(_) | ProcessState::Failed(_) => report.unsuccessful(),
        }
    }

    /// Reports the end of the command. The call was unsuccessful if it could not be ended.
    pub(super) fn stop_report(&self) -> CallReport {
        let report = self.report();
        match self.state {
            ProcessState::Stopped | ProcessState::Exited(_) => report,
            ProcessState::Running | ProcessState::Failed(_) => report.unsuccessful(),
        }
    }

    fn report(&self) -> CallReport {
        let Self { id, state, seconds, output } = self;
        let name = code_span(id);
        let state_sentence = match state {
            ProcessState::Running => format!("{name} has been running for {seconds} s"),
            ProcessState::Stopped => format!("{name} was stopped"),
            ProcessState::Exited(Some(code)) => format!("{name} has ended with exit code {code}"),
            ProcessState::Exited(None) => format!("{name} has ended"),
            ProcessState::Failed(reason) => format!("{name} failed: {reason}"),
        };
        let report = if output.trim_matches('\n').is_empty() {
            CallReport::new(format!("{state_sentence}. It printed nothing."))
        } else {
            let summary = format!("{state_sentence}. The last of what it printed:");
            CallReport::new(summary).verbatim(output.as_str())
        };
        let exit_code = state.exit_code();
        report.data(&ProcessFacts { id, state: state.name(), exit_code, seconds: *seconds })
    }
}

#[cfg(test)]
mod tests {
    use lango_protocol::ReportDetails;
    use serde_json::json;

    use super::*;

    fn snapshot(state: ProcessState, output: &str) -> ProcessSnapshot {
        ProcessSnapshot { id: "p1".to_owned(), state, seconds: 1, output: output.to_owned() }
    }

    #[test]
    fn a_command_in_the_background_says_how_it_stands() {
        let running = snapshot(ProcessState::Running, "up\n").status_report();
        assert_eq!(running.summary, "`p1` has been running for 1 s. The last of what it printed:");
        assert_eq!(running.details, Some(ReportDetails::Verbatim("up\n".to_owned())));
        let facts = json!({"id": "p1", "state": "running", "exit_code": null, "seconds": 1});
        assert_eq!(running.data, Some(facts));
        for (state, summary) in [
            (ProcessState::Exited(Some(0)), "`p1` has ended with exit code 0. It printed nothing."),
            (ProcessState::Exited(None), "`p1` has ended. It printed nothing."),
            (ProcessState::Stopped, "`p1` was stopped. It printed nothing."),
            (
                ProcessState::Failed("no pipe".to_owned()),
                "`p1` failed: no pipe. It printed nothing.",
            ),
        ] {
            let report = snapshot(state, "").status_report();
            assert_eq!((report.summary.as_str(), report.details), (summary, None));
        }
    }

    #[test]
    fn a_command_that_failed_or_goes_on_against_the_wish_is_no_success() {
        for (state, status, stop) in [
            (ProcessState::Running, false, true),
            (ProcessState::Stopped, false, false),
            (ProcessState::Exited(Some(0)), false, false),
            (ProcessState::Exited(Some(2)), true, false),
            (ProcessState::Exited(None), true, false),
            (ProcessState::Failed("no pipe".to_owned()), true, true),
        ] {
            let snapshot = snapshot(state, "");
            assert_eq!(snapshot.status_report().unsuccessful, status, "{snapshot:?}");
            assert_eq!(snapshot.stop_report().unsuccessful, stop, "{snapshot:?}");
        }
    }

    #[test]
    fn a_command_that_was_started_is_named_with_its_id() {
        let report = StartedProcess { id: "p1".to_owned() }.report("make\nmake test");
        assert_eq!(report.summary, "Started `make …` in the background, as `p1`.");
        assert_eq!(report.data, Some(json!({"id": "p1"})));
    }
}
