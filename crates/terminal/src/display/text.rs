//! Output for the terminal.

use std::io;

use lango_app::provider::PriceList;
use lango_model::Cost;
use lango_protocol::{CallStatus, Event, EventBody, Outcome, OutcomeStatus, RUNTIME};
use lango_text::{VisibleStream, plural, to_one_line};

use crate::printer::{Printer, stdout_is_terminal, try_write_stderr};
use crate::styled_text::StyledText;

/// Shows progress on standard error as it happens, and the answer on standard output. At a terminal
/// the answer is streamed; in a pipe it comes whole, so that nothing else is ever in it.
#[derive(Debug)]
pub(super) struct TextDisplay {
    printer: Printer,
    quiet: bool,
    streams: bool,
    /// Makes the streamed text visible, whatever pieces it comes in.
    visible: VisibleStream,
    /// The agent and the step that were streamed last.
    streamed: Option<(String, u32)>,
    /// True while the streamed line has no end.
    open_line: bool,
    prices: PriceList,
    /// The costs of the turn's model calls so far, if they are known.
    costs: Vec<Option<Cost>>,
}

impl TextDisplay {
    pub(super) fn new(printer: Printer, quiet: bool, prices: PriceList) -> Self {
        Self {
            printer,
            quiet,
            streams: stdout_is_terminal(),
            visible: VisibleStream::default(),
            streamed: None,
            open_line: false,
            prices,
            costs: Vec::new(),
        }
    }

    pub(super) fn event(&mut self, event: &Event) -> io::Result<()> {
        let line = StyledText::default();
        let author = event.author.as_deref().unwrap_or(RUNTIME);
        match &event.body {
            EventBody::TextDelta { text, .. } => {
                return self.stream(author, event.step.unwrap_or(0), text);
            }
            EventBody::Message { text, answer } => {
                return self.message(event, author, text, *answer);
            }
            EventBody::Usage { provider, model, usage, estimated } => {
                let cost = self.prices.cost(provider, model, usage);
                self.costs.push(cost.filter(|_| !estimated));
                return Ok(());
            }
            EventBody::ToolStarted { .. } | EventBody::Reasoning { .. } => return Ok(()),
            _ => self.end_line()?,
        }
        match &event.body {
            EventBody::Transfer { to, task, .. } => {
                let task = to_one_line(task, 100);
                self.progress(line.plain("→ ").name(to.as_str()).plain("  ").faint(task))
            }
            EventBody::ToolCall { tool, arguments, .. } => {
                let tool = to_one_line(tool, 60);
                let arguments = to_one_line(arguments, 100);
                self.progress(line.plain(format!("  {tool}  ")).faint(arguments))
            }
            EventBody::ToolResult { tool, status, milliseconds, output, report, .. } => {
                let said = report.as_ref().map_or(output.as_str(), |report| &report.summary);
                let unsuccessful = report.as_ref().is_some_and(|report| report.unsuccessful);
                let shown = ShownStatus { status: *status, unsuccessful };
                self.result(&to_one_line(tool, 60), shown, *milliseconds, said)
            }
            EventBody::Rejected { reason } => {
                let reason = to_one_line(reason, 120);
                self.progress(line.plain("← ").name(author).plain(format!(" passes: {reason}")))
            }
            EventBody::TransferRefused { requested, .. } => {
                let requested = to_one_line(requested, 60);
                self.progress(line.warning(format!("  no transfer to {requested:?}")))
            }
            EventBody::Setback { model, fault, next, wait_milliseconds, .. } => {
                // The streamed text of this step is void: the step is named again and starts over.
                self.streamed = None;
                let setback = describe_setback(model, fault, next, *wait_milliseconds);
                self.progress(line.warning(setback))
            }
            EventBody::Warning { text, .. } => {
                self.progress(line.warning(format!("  {}", to_one_line(text, 500))))
            }
            _ => Ok(()),
        }
    }

    fn result(
        &self,
        tool: &str,
        shown: ShownStatus,
        milliseconds: u64,
        said: &str,
    ) -> io::Result<()> {
        let line = StyledText::default().plain(format!("  {tool}  "));
        let time = format!(" {milliseconds} ms  ");
        let line = match shown {
            ShownStatus { status: CallStatus::Ok, unsuccessful: false } => {
                line.good("ok").plain(time)
            }
            ShownStatus { status: CallStatus::Ok, unsuccessful: true } => {
                line.bad("unsuccessful").plain(time)
            }
            ShownStatus { status, .. } => line.bad(status.to_string()).plain(" "),
        };
        self.progress(line.faint(to_one_line(said, 120)))
    }

    fn stream(&mut self, author: &str, step: u32, text: &str) -> io::Result<()> {
        if !self.streams {
            return Ok(());
        }
        let speaker = (author.to_owned(), step);
        if self.streamed.as_ref() != Some(&speaker) {
            self.end_line()?;
            self.progress(StyledText::default().name(author).plain(":"))?;
            self.streamed = Some(speaker);
        }
        self.open_line = true;
        self.printer.write_result(&self.visible.push(text))
    }

    fn message(&mut self, event: &Event, author: &str, text: &str, answer: bool) -> io::Result<()> {
        self.end_line()?;
        let speaker = (author.to_owned(), event.step.unwrap_or(0));
        if self.streamed.as_ref() == Some(&speaker) {
            return Ok(());
        }
        if !answer {
            let text = format!(": {}", to_one_line(text, 200));
            return self.progress(StyledText::default().name(author).plain(text));
        }
        self.progress(StyledText::default().name(author).plain(":"))?;
        self.printer.write_result(&format!("{text}\n"))
    }

    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.open_line) {
            let rest = self.visible.finish();
            self.printer.write_result(&format!("{rest}\n"))?;
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.end_line()?;
        let work = &outcome.work;
        let how = match &outcome.status {
            OutcomeStatus::Done => "done",
            OutcomeStatus::NeedsInput => "waits for your answer",
            OutcomeStatus::Rejected { .. } => "rejected",
            OutcomeStatus::Failed { .. } => "failed",
            OutcomeStatus::TimedOut => "timed out",
            OutcomeStatus::Cancelled => "cancelled",
        };
        // No cost is shown for a turn whose cost is not completely known.
        let costs = std::mem::take(&mut self.costs);
        let known = costs.iter().copied().sum::<Option<Cost>>().filter(|_| !costs.is_empty());
        let cost = known.map(|cost| format!(" · {cost}"));
        let line = format!(
            "{how} · {} · {} · {} tokens{} · {}.{:01} s",
            plural(work.spent.model_calls, "model call", "model calls"),
            plural(work.spent.tool_calls, "tool call", "tool calls"),
            work.spent.tokens,
            cost.unwrap_or_default(),
            work.milliseconds / 1000,
            work.milliseconds % 1000 / 100,
        );
        self.progress(StyledText::default().faint(line))
    }

    fn progress(&self, line: StyledText) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        try_write_stderr(&line.plain("\n"))
    }
}

/// Says how the end of a call is shown.
#[derive(Clone, Copy)]
struct ShownStatus {
    status: CallStatus,
    /// True if the call ran and did not achieve what it was asked for.
    unsuccessful: bool,
}

fn describe_setback(model: &str, fault: &str, next: &str, wait: u64) -> String {
    let fault = fault.replace('_', " ");
    let (model, next) = (to_one_line(model, 60), to_one_line(next, 60));
    match (model == next, wait) {
        (true, 0) => format!("  {model}: {fault}; asking again"),
        (true, wait) => {
            format!("  {model}: {fault}; asking again in {}.{} s", wait / 1000, wait % 1000 / 100)
        }
        (false, _) => format!("  {model}: {fault}; asking {next} instead"),
    }
}
