//! `lango models`: which there are, and what works with one.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::join_all;
use lango_model::{
    Fault, Image, Message, Model, ModelError, ModelEvent, ModelRequest, Options, RequestedCall,
};
use lango_protocol::Usage;
use lango_tool::{SafetyLevel, ToolDeclaration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::table;
use super::{Setting, print, print_json};
use crate::arguments::ModelsCommand;
use crate::config::Config;
use crate::display::Style;
use crate::failure::{self, Failure};
use crate::provider::{self, Purpose, Server};

pub(crate) async fn models(setting: &Setting, command: ModelsCommand) -> Result<u8, Failure> {
    match command {
        ModelsCommand::List { provider, json } => {
            list(setting.config(), provider.as_deref(), json).await
        }
        ModelsCommand::Test { model, json } => test(setting.config(), model.as_deref(), json).await,
    }
}

#[derive(Debug, Serialize)]
struct Row {
    id: String,
    context_window: Option<u64>,
    tools: Option<bool>,
    images: Option<bool>,
    /// US dollars for a million tokens.
    input_price: Option<f64>,
    output_price: Option<f64>,
}

async fn list(config: &Config, only: Option<&str>, json: bool) -> Result<u8, Failure> {
    const PATIENCE: Duration = Duration::from_secs(10);
    let servers = match only {
        Some(id) => vec![Server::named(config, id)?],
        None => provider::servers(config),
    };
    let asked = servers.iter().map(|server| async {
        match tokio::time::timeout(PATIENCE, provider::list(config, server)).await {
            Ok(answer) => answer,
            Err(_) => Err(ModelError::new(Fault::Silent, "no list within 10 s")),
        }
    });
    let answers = join_all(asked).await;
    let facts = provider::facts(config)?;
    let (mut rows, mut troubles) = (Vec::new(), Vec::new());
    for (server, answer) in servers.iter().zip(answers) {
        match answer {
            Ok(models) => rows.extend(models.into_iter().map(|model| {
                let known = facts.find(&server.id, &model.name);
                Row {
                    id: format!("{}/{}", server.id, model.name),
                    context_window: model.window.or(known.window),
                    tools: model.tools.or(known.tools),
                    images: model.images.or(known.images),
                    input_price: known.prices.map(|prices| prices.input),
                    output_price: known.prices.map(|prices| prices.output),
                }
            })),
            // A server that nobody asked for may well not be there.
            Err(error) if only.is_some() || !server.is_guess() => troubles.push(error.to_string()),
            Err(_) => {}
        }
    }
    if json {
        print_json(&rows)?;
    } else if !rows.is_empty() {
        print(&listing(&rows))?;
    }
    for trouble in &troubles {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            format!("lango: {trouble}\n").as_bytes(),
        );
    }
    match (rows.is_empty(), troubles.is_empty()) {
        (false, _) => Ok(failure::ANSWERED),
        (true, false) => Ok(failure::PROVIDER_FAILED),
        (true, true) => Err(provider::nothing()),
    }
}

fn listing(rows: &[Row]) -> String {
    let yes_no = |known: Option<bool>| match known {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    };
    let price = |price: Option<f64>| price.map_or_else(|| "?".to_owned(), |p| format!("${p}"));
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.id.clone(),
                row.context_window.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string()),
                yes_no(row.tools).to_owned(),
                yes_no(row.images).to_owned(),
                format!("{} / {}", price(row.input_price), price(row.output_price)),
            ]
        })
        .collect();
    table(&["MODEL", "WINDOW", "TOOLS", "IMAGES", "PRICE IN/OUT PER MILLION"], &rows)
}

/// What one test found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Works,
    Partly,
    Fails,
}

#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    verdict: Verdict,
    detail: String,
}

#[derive(Serialize)]
struct TestReport {
    model: String,
    why: String,
    findings: Vec<Finding>,
}

async fn test(config: &Config, wanted: Option<&str>, json: bool) -> Result<u8, Failure> {
    let choice = provider::choose(config, wanted).await?;
    let (model, why) = (choice.id.to_string(), choice.why.clone());
    let ready = provider::prepare(config, choice, Purpose::Examine).await?;
    let model_under_test = ready.model.model.as_ref();
    let options = ready.model.options;
    let style = Style::of(&std::io::stdout());
    if !json {
        print(&format!("{model} ({why})\n"))?;
    }
    let mut findings = Vec::new();
    for test in [Test::Text, Test::Tool, Test::ParallelTools, Test::Image] {
        let heard = hear(model_under_test, test.request(options)).await;
        // What cannot be reached at all is not asked four times.
        let hopeless = heard.as_ref().is_err_and(|error| !test.is_about(error.fault));
        for finding in test.judge(heard) {
            if !json {
                print(&line(&finding, style))?;
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
        print_json(&TestReport { model, why, findings })?;
    }
    Ok(if broken { failure::PROVIDER_FAILED } else { failure::ANSWERED })
}

fn line(finding: &Finding, style: Style) -> String {
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

/// What was heard of a model in one test.
#[derive(Default)]
struct Heard {
    text: String,
    pieces: usize,
    reasoned: bool,
    calls: Vec<RequestedCall>,
    usage: Option<Usage>,
    setbacks: usize,
}

async fn hear(model: &dyn Model, request: ModelRequest) -> Result<Heard, ModelError> {
    let mut heard = Heard::default();
    let mut stream = model.stream(Arc::new(request));
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Text(piece) => {
                heard.text.push_str(&piece);
                heard.pieces += 1;
            }
            ModelEvent::Reasoning(_) => heard.reasoned = true,
            ModelEvent::Call(call) => heard.calls.push(call),
            ModelEvent::Usage(usage) => heard.usage = Some(usage),
            ModelEvent::Setback(_) => {
                heard = Heard { setbacks: heard.setbacks + 1, ..Heard::default() };
            }
            _ => {}
        }
    }
    Ok(heard)
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
        data: Bytes::from_static(include_bytes!("red.png")),
    }
}
