//! `lango eval calls`: how well a model understands requests.

use lango_app::provider::{self, ModelPurpose, ModelSource};
use lango_eval::calls::{
    CallsReport, EvaluatedTeam, Examiner, MeasurementEnd, measure_requests, read_requests,
    unknown_tools,
};

use super::calls_text::render_calls;
use crate::commands::CommandContext;
use crate::failure::{ExitStatus, Failure};
use lango_arguments::CallsArguments;
use lango_terminal::{show_progress, stderr_is_terminal};

pub(super) async fn calls(
    context: &CommandContext,
    arguments: &CallsArguments,
) -> Result<ExitStatus, Failure> {
    let team = EvaluatedTeam::new()?;
    let requests = read_requests(&arguments.files, arguments.limit, &team)?;
    let unknown = unknown_tools(&requests, &team);
    if let Some(first) = unknown.first() {
        context.printer.note(&format!(
            "{} labels name tools that are not in the team, such as {first:?}: they cannot be right",
            unknown.len()
        ));
    }
    let config = &context.app.config_with_keys().await?;
    let choice = provider::choose_model(config, arguments.model.as_deref(), None).await?;
    let runs_here = matches!(choice.source, ModelSource::Embedded);
    let ready = provider::load_models(config, choice, ModelPurpose::Examine).await?;
    let examiner = Examiner {
        team: &team,
        model: ready.model.model.as_ref(),
        options: ready.model.options,
        id: &ready.choice.id,
    };
    let mut report = CallsReport::new(&ready.choice.id, &requests, arguments.failures, runs_here);
    let shows_progress = stderr_is_terminal();
    let progress = |number: usize| {
        if shows_progress {
            show_progress(&format!("{number}/{} requests ", requests.len()));
        }
    };
    let stop = tokio::signal::ctrl_c();
    let end = measure_requests(&mut report, &examiner, &requests, stop, progress).await;
    if shows_progress {
        show_progress("");
    }
    let view = report.view(matches!(end, MeasurementEnd::Measured));
    if arguments.json {
        context.printer.json(&view)?;
    } else {
        context.printer.print(&render_calls(&view))?;
    }
    match end {
        MeasurementEnd::Measured => Ok(ExitStatus::Success),
        MeasurementEnd::Interrupted => Ok(ExitStatus::Interrupted),
        MeasurementEnd::Failed(error) => Err(Failure::provider(error.to_string())),
    }
}
