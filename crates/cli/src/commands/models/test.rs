//! `lango models test`: tests a model with real calls.

use lango_app::config::Config;
use lango_app::provider::{self, ModelChoice, ModelPurpose, ModelSource};
use lango_eval::embedded::{EmbeddedFigures, judge_figures, measure_embedded};
use lango_eval::trial::{TestFinding, TestVerdict, try_model};
use serde::Serialize;

use crate::commands::Printer;
use crate::display::Style;
use crate::failure::{ExitStatus, Failure};

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
    let choice = provider::choose_model(config, wanted).await?;
    if matches!(choice.source, ModelSource::Embedded) {
        return test_embedded(printer, config, choice, json).await;
    }
    let (model, why) = (choice.id.to_string(), choice.why.clone());
    let ready = provider::load_models(config, choice, ModelPurpose::Examine).await?;
    let style = Style::of(&std::io::stdout());
    if !json {
        printer.print(&format!("{model} ({why})\n"))?;
    }
    let found = |finding: &TestFinding| {
        if json { Ok(()) } else { printer.print(&line(finding, style)) }
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
        let style = Style::of(&std::io::stdout());
        let lines: String = findings.iter().map(|finding| line(finding, style)).collect();
        printer.print(&format!("{model} ({why})\n{lines}"))?;
    }
    Ok(if is_broken { ExitStatus::ProviderFailed } else { ExitStatus::Success })
}

fn line(finding: &TestFinding, style: Style) -> String {
    let mark = match finding.verdict {
        TestVerdict::Works => style.good("yes   "),
        TestVerdict::Partly => style.warn("partly"),
        TestVerdict::Fails => style.bad("no    "),
    };
    format!("  {mark}  {:<15} {}\n", finding.what, finding.detail)
}
