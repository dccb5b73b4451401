//! `lango models test`: tests a model with real calls.

use lango_app::config::Config;
use lango_app::provider::{self, ModelChoice, ModelPurpose, ModelSource};
use lango_eval::embedded::{EmbeddedFigures, judge_figures, measure_embedded};
use lango_eval::trial::{TestFinding, TestVerdict, try_model};
use serde::Serialize;

use crate::commands::Printer;
use crate::failure::{ExitStatus, Failure};
use lango_terminal::StyledText;

#[derive(Serialize)]
struct TestReport {
    model: String,
    why: String,
    findings: Vec<TestFinding>,
    /// The figures of the embedded model.
    #[serde(skip_serializing_if = "Option::is_none")]
    figures: Option<EmbeddedFigures>,
}

pub(super) async fn test(
    printer: Printer,
    config: &Config,
    wanted: Option<&str>,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let choice = provider::choose_model(config, wanted, None).await?;
    if matches!(choice.source, ModelSource::Embedded) {
        return test_embedded(printer, config, choice, json).await;
    }
    let (model, why) = (choice.id.to_string(), choice.why.clone());
    let ready = provider::load_models(config, choice, ModelPurpose::Examine).await?;
    if !json {
        printer.print(&format!("{model} ({why})\n"))?;
    }
    let found = |finding: &TestFinding| {
        if json { Ok(()) } else { printer.print_styled(&line(finding)) }
    };
    let findings = try_model(ready.model.model.as_ref(), ready.model.options, found).await?;
    let is_broken = findings.iter().any(TestFinding::breaks_agents);
    if json {
        printer.json(&TestReport { model, why, findings, figures: None })?;
    }
    Ok(if is_broken { ExitStatus::ProviderFailed } else { ExitStatus::Success })
}

async fn test_embedded(
    printer: Printer,
    config: &Config,
    choice: ModelChoice,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let (model, why) = (choice.id.to_string(), choice.why.clone());
    let ready = provider::load_models(config, choice, ModelPurpose::Examine).await?;
    let options = ready.model.options;
    let figures = measure_embedded(ready.model.model.as_ref(), options, &ready.choice.id).await?;
    let findings = judge_figures(&figures);
    let is_broken = findings.iter().any(|finding| finding.verdict == TestVerdict::Fails);
    if json {
        printer.json(&TestReport { model, why, findings, figures: Some(figures) })?;
    } else {
        printer.print(&format!("{model} ({why})\n"))?;
        printer.print_styled(&findings.iter().map(line).collect())?;
    }
    Ok(if is_broken { ExitStatus::ProviderFailed } else { ExitStatus::Success })
}

fn line(finding: &TestFinding) -> StyledText {
    let line = StyledText::default().plain("  ");
    let line = match finding.verdict {
        TestVerdict::Works => line.good("yes   "),
        TestVerdict::Partly => line.warning("partly"),
        TestVerdict::Fails => line.bad("no    "),
    };
    line.plain(format!("  {:<15} {}\n", finding.what, finding.detail))
}
