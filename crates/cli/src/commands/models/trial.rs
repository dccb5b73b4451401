//! `lango models test`: real calls, and what works.

use bytes::Bytes;
use lango_model::{Fault, Image, Message, ModelError, ModelRequest, Options, RequestedCall};
use lango_tool::{SafetyLevel, ToolDeclaration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::embedded;
use crate::commands::Printer;
use crate::commands::hear::{Heard, hear};
use crate::display::Style;
use crate::failure::{ExitStatus, Failure};
use lango_app::config::Config;
use lango_app::provider::{self, Purpose, Source};

/// What one test found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Works,
    Partly,
    Fails,
}

#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) what: &'static str,
    pub(super) verdict: Verdict,
    pub(super) detail: String,
}

#[derive(Serialize)]
struct TestReport {
    model: String,
    why: String,
    findings: Vec<Finding>,
}

pub(super) async fn test(
    printer: Printer,
    config: &Config,
    wanted: Option<&str>,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let choice = provider::choose(config, wanted).await?;
    if matches!(choice.source, Source::Embedded) {
        return embedded::test(printer, config, choice, json).await;
    }
    let (model, why) = (choice.id.to_string(), choice.why.clone());
    let ready = provider::prepare(config, choice, Purpose::Examine).await?;
    let model_under_test = ready.model.model.as_ref();
    let options = ready.model.options;
    let style = Style::of(&std::io::stdout());
    if !json {
        printer.print(&format!("{model} ({why})\n"))?;
    }
    let mut findings = Vec::new();
    for test in [Test::Text, Test::Tool, Test::ParallelTools, Test::Image] {
        let heard = hear(model_under_test, test.request(options)).await;
        // What cannot be reached at all is not asked four times.
        let hopeless = heard.as_ref().is_err_and(|error| !test.is_about(error.fault));
        for finding in test.judge(heard) {
            if !json {
                printer.print(&line(&finding, style))?;
            }
            findings.push(finding);
        }
        if hopeless {
            break;
        }
    }
    let broken = findings.iter().any(|finding| {
        finding.verdict == Verdict::Fails && matches!(finding.what, "answers" | "tools")
    });
    if json {
        printer.json(&TestReport { model, why, findings })?;
    }
    Ok(if broken { ExitStatus::ProviderFailed } else { ExitStatus::Success })
}

pub(super) fn line(finding: &Finding, style: Style) -> String {
    let mark = match finding.verdict {
        Verdict::Works => style.good("yes   "),
        Verdict::Partly => style.warn("partly"),
        Verdict::Fails => style.bad("no    "),
    };
    format!("  {mark}  {:<15} {}\n", finding.what, finding.detail)
}

#[derive(Clone, Copy)]
enum Test {
    Text,
    Tool,
    ParallelTools,
    Image,
}

/// What the test tool takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct WeatherArguments {
    /// The city.
    city: String,
}

impl Test {
    fn request(self, options: Options) -> ModelRequest {
        let (text, images, tools) = match self {
            Self::Text => ("Count from one to ten, in words.", Vec::new(), Vec::new()),
            Self::Tool => {
                ("What is the weather in Oslo? Use the tool.", Vec::new(), vec![weather()])
            }
            Self::ParallelTools => (
                "What is the weather in Oslo and in Rome? Call the tool for both at once.",
                Vec::new(),
                vec![weather()],
            ),
            Self::Image => (
                "Which colour is this square? Answer with one word.",
                vec![red_square()],
                Vec::new(),
            ),
        };
        ModelRequest {
            instruction: "You are being tested. Do exactly what is asked, briefly.".into(),
            context: Vec::new(),
            messages: vec![Message::User { text: text.to_owned(), images }],
            tools,
            colleagues: Vec::new(),
            options,
        }
    }

    /// Whether such an error says something about this test only.
    fn is_about(self, fault: Fault) -> bool {
        match self {
            Self::Text => false,
            Self::Tool | Self::ParallelTools => {
                matches!(fault, Fault::ToolsUnsupported | Fault::BadRequest | Fault::Malformed)
            }
            Self::Image => true,
        }
    }

    fn judge(self, heard: Result<Heard, ModelError>) -> Vec<Finding> {
        let what = match self {
            Self::Text => "answers",
            Self::Tool => "tools",
            Self::ParallelTools => "parallel tools",
            Self::Image => "images",
        };
        let heard = match heard {
            Ok(heard) => heard,
            Err(error) => {
                return vec![Finding { what, verdict: Verdict::Fails, detail: error.to_string() }];
            }
        };
        let shown: String = heard.text.chars().filter(|c| !c.is_control()).take(60).collect();
        let finding = |what, verdict, detail: String| Finding { what, verdict, detail };
        match self {
            Self::Text => text_findings(&heard, &shown),
            Self::Tool => vec![match cities(&heard.calls).as_slice() {
                [city] if city.contains("oslo") => {
                    finding(what, Verdict::Works, "called with the right argument".into())
                }
                [] => finding(what, Verdict::Fails, format!("no call; it said {shown:?}")),
                other => finding(what, Verdict::Partly, format!("called for {}", other.join(", "))),
            }],
            Self::ParallelTools => vec![match cities(&heard.calls).as_slice() {
                [_, _, ..] => finding(what, Verdict::Works, "two calls in one reply".into()),
                [_] => finding(what, Verdict::Partly, "one call at a time".into()),
                [] => finding(what, Verdict::Fails, format!("no call; it said {shown:?}")),
            }],
            Self::Image => {
                let seen = heard.text.to_lowercase().contains("red");
                let verdict = if seen { Verdict::Works } else { Verdict::Fails };
                vec![finding(what, verdict, format!("a red square is {shown:?}"))]
            }
        }
    }
}

fn text_findings(heard: &Heard, shown: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |what, verdict, detail: String| findings.push(Finding { what, verdict, detail });
    let verdict = if heard.text.trim().is_empty() { Verdict::Fails } else { Verdict::Works };
    add("answers", verdict, format!("{shown:?}"));
    let verdict = if heard.pieces > 1 { Verdict::Works } else { Verdict::Partly };
    add("streaming", verdict, format!("{} pieces", heard.pieces));
    match heard.usage {
        Some(usage) => {
            let detail = format!("{} in, {} out", usage.input, usage.output);
            add("usage", Verdict::Works, detail);
        }
        None => add("usage", Verdict::Fails, "not counted; estimates are used".into()),
    }
    if heard.reasoned {
        add("reasoning", Verdict::Works, "kept apart from the answer".into());
    }
    if heard.setbacks > 0 {
        add("connection", Verdict::Partly, format!("{} tries failed first", heard.setbacks));
    }
    findings
}

fn cities(calls: &[RequestedCall]) -> Vec<String> {
    let city = |call: &RequestedCall| {
        let arguments: WeatherArguments = serde_json::from_str(&call.arguments).ok()?;
        (call.name == "get_weather").then(|| arguments.city.to_lowercase())
    };
    calls.iter().filter_map(city).collect()
}

fn weather() -> ToolDeclaration {
    ToolDeclaration::new::<WeatherArguments>(
        "get_weather",
        "The weather in a city.",
        SafetyLevel::Safe,
    )
}

/// A picture small enough to write down: sixteen by sixteen, all red.
fn red_square() -> Image {
    Image {
        media_type: "image/png".to_owned(),
        data: Bytes::from_static(include_bytes!("../red.png")),
    }
}
