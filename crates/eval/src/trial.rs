//! Tests what works with a model: makes real calls and judges each.

use bytes::Bytes;
use lango_model::{
    Fault, Image, Message, Model, ModelError, ModelRequest, Options, RequestedCall, UserMessage,
};
use lango_tool::{SafetyLevel, ToolDeclaration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reply::{ModelReply, collect_reply};

/// The verdict of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It works.
    Works,
    /// Some of it works.
    Partly,
    /// It does not work.
    Fails,
}

/// The finding of one test.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// The tested feature.
    pub what: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// The observation.
    pub detail: String,
}

impl Finding {
    /// Tells whether agents cannot work with a model that has this finding.
    pub fn breaks_agents(&self) -> bool {
        self.verdict == Verdict::Fails && matches!(self.what, "answers" | "tools")
    }
}

/// Tests a model with real calls. Passes each finding to `found` at once; an error from it ends the
/// trial.
pub async fn try_model<E>(
    model: &dyn Model,
    options: Options,
    mut found: impl FnMut(&Finding) -> Result<(), E>,
) -> Result<Vec<Finding>, E> {
    let mut findings = Vec::new();
    for test in [Test::Text, Test::Tool, Test::ParallelTools, Test::Image] {
        let reply = collect_reply(model, test.request(options)).await;
        // A model that cannot be reached at all is not asked four times.
        let is_hopeless = reply.as_ref().is_err_and(|error| !test.is_about(error.fault));
        for finding in test.judge(reply) {
            found(&finding)?;
            findings.push(finding);
        }
        if is_hopeless {
            break;
        }
    }
    Ok(findings)
}

#[derive(Clone, Copy)]
enum Test {
    Text,
    Tool,
    ParallelTools,
    Image,
}

/// What the test tool takes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
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
            messages: vec![Message::User(UserMessage { images, ..UserMessage::new(text) })],
            tools,
            options,
            ..ModelRequest::default()
        }
    }

    /// Tells whether such an error concerns only this test.
    fn is_about(self, fault: Fault) -> bool {
        match self {
            Self::Text => false,
            Self::Tool | Self::ParallelTools => {
                matches!(fault, Fault::ToolsUnsupported | Fault::BadRequest | Fault::Malformed)
            }
            Self::Image => true,
        }
    }

    fn judge(self, heard: Result<ModelReply, ModelError>) -> Vec<Finding> {
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

fn text_findings(heard: &ModelReply, shown: &str) -> Vec<Finding> {
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

/// Returns a small test image: sixteen by sixteen pixels, all red.
fn red_square() -> Image {
    Image {
        media_type: "image/png".to_owned(),
        data: Bytes::from_static(include_bytes!("red.png")),
    }
}
