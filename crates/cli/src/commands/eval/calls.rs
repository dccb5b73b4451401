//! `lango eval calls`: how well a model understands requests.

mod report;

use std::io::{self, IsTerminal, Write as _};

use lango_model::ModelError;

use self::report::Report;
use crate::arguments::CallsArguments;
use crate::commands::calls::{Examiner, Labelled, Observed, Team, Verdict, read};
use crate::commands::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_app::provider::{self, Purpose, Source};

pub(super) async fn calls(
    context: &CommandContext,
    arguments: &CallsArguments,
) -> Result<ExitStatus, Failure> {
    let team = Team::new()?;
    let requests = requests(context.printer, arguments, &team)?;
    let config = context.config();
    let choice = provider::choose(config, arguments.model.as_deref()).await?;
    let runs_here = matches!(choice.source, Source::Embedded);
    let ready = provider::prepare(config, choice, Purpose::Examine).await?;
    let examiner = Examiner {
        team: &team,
        model: ready.model.model.as_ref(),
        options: ready.model.options,
        id: &ready.choice.id,
    };
    let mut report = Report::new(&ready.choice, &requests, arguments.failures, runs_here);
    let end = measure(&examiner, &requests, |label, observed| {
        report.add(label, observed, &Verdict::of(label, observed, &team));
    })
    .await;
    let shown = report.shown(matches!(end, End::Measured));
    if arguments.json {
        context.printer.json(&shown)?;
    } else {
        context.printer.print(&shown.text())?;
    }
    match end {
        End::Measured => Ok(ExitStatus::Success),
        End::Interrupted => Ok(ExitStatus::Interrupted),
        End::Failed(error) => Err(Failure::provider(error.to_string())),
    }
}

/// The requests of all files, as many as are wanted.
fn requests(
    printer: Printer,
    arguments: &CallsArguments,
    team: &Team,
) -> Result<Vec<Labelled>, Failure> {
    let mut requests = Vec::new();
    for file in &arguments.files {
        requests.extend(read(file, team)?);
    }
    if let Some(limit) = arguments.limit {
        requests.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    if requests.is_empty() {
        return Err(Failure::usage("there is no request in what was given"));
    }
    let strange = requests.iter().filter_map(|request| request.tool.as_deref());
    let strange: Vec<&str> = strange.filter(|tool| team.tool(tool).is_none()).collect();
    if let Some(first) = strange.first() {
        printer.note(&format!(
            "{} labels name tools that are not in the team, such as {first:?}: they cannot be right",
            strange.len()
        ));
    }
    Ok(requests)
}

/// How a measurement ended.
enum End {
    Measured,
    Interrupted,
    Failed(ModelError),
}

/// One request after the other, so that the time of each is its own.
async fn measure(
    examiner: &Examiner<'_>,
    requests: &[Labelled],
    mut observe: impl FnMut(&Labelled, &Observed),
) -> End {
    let shows_progress = io::stderr().is_terminal();
    let mut end = End::Measured;
    for (number, request) in (1_usize..).zip(requests) {
        let observed = tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => {
                end = End::Interrupted;
                break;
            }
            observed = examiner.examine(&request.text) => observed,
        };
        match observed {
            Ok(observed) => observe(request, &observed),
            Err(error) => {
                end = End::Failed(error);
                break;
            }
        }
        if shows_progress {
            // With standard error gone there is nobody to show it to.
            let _ = write!(io::stderr(), "\r{number}/{} requests ", requests.len());
        }
    }
    if shows_progress {
        let _ = write!(io::stderr(), "\r\x1b[2K");
    }
    end
}
