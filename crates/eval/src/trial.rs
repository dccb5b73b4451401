//! Tests what works with a model: makes real calls and judges each.

use bytes::Bytes;
use lango_model::{
    Image, Message, Model, ModelError, ModelFault, ModelRequest, ReplyOptions, RequestedCall,
    UserMessage,
};
use lango_tool::{SafetyLevel, ToolDeclaration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reply::{ModelReply, collect_reply};

/// The verdict of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TestVerdict {
    /// It works.
    Works,
    /// Some of it works.
    Partly,
    /// It does not work.
    Fails,
}

/// The finding of one test.
#[derive(Debug, Serialize)]
pub struct TestFinding {
    /// The tested feature.
    pub what: &'static str,
    /// The verdict.
    pub verdict: TestVerdict,
    /// The observation.
    pub detail: String,
}

impl TestFinding {
    /// Tells whether agents cannot work with a model that has this finding.
    pub fn breaks_agents(&self) -> bool {
        self.verdict == TestVerdict::Fails && matches!(self.what, "answers" | "tools")
    }
}

/// Tests a model with real calls. Passes each finding to `found` at once; an error from it ends the
/// trial.
pub async fn try_model<E>(
    model: &dyn Model,
    options: ReplyOptions,
    mut found: impl FnMut(&TestFinding) -> Result<(), E>,
) -> Result<Vec<TestFinding>, E> {
    let mut findings = Vec::new();
    for test in [ModelTest::Text, ModelTest::Tool, ModelTest::ParallelTools, ModelTest::Image] {
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
enum ModelTest {
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

impl ModelTest {
    fn request(self, options: ReplyOptions) -> ModelRequest {
        let (text, images, tools) = match self {
            Self::Text => ("Count from one to ten, in words.", Vec::new(), Vec::new()),
            Self::Tool => {
                ("What is the weather in Oslo? Use the tool.", Vec::new(), vec![weather_tool()])
            }
            Self::ParallelTools => (
                "What is the weather in Oslo and in Rome? Call the tool for both at once.",
                Vec::new(),
                vec![weather_tool()],
            ),
            Self::Image => (
                "Which colour is this square? Answer with one word.",
                vec![red_square_image()],
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
    fn is_about(self, fault: ModelFault) -> bool {
        match self {
            Self::Text => false,
            Self::Tool | Self::ParallelTools => {
                matches!(
                    fault,
                    ModelFault::ToolsUnsupported | ModelFault::BadRequest | ModelFault::Malformed
                )
            }
            Self::Image => true,
        }
    }

    fn judge(self, heard: Result<ModelReply, ModelError>) -> Vec<TestFinding> {
        let what = match self {
            Self::Text => "answers",
            Self::Tool => "tools",
            Self::ParallelTools => "parallel tools",
            Self::Image => "images",
        };
        let heard = match heard {
            Ok(heard) => heard,
            Err(error) => {
                return vec![TestFinding {
                    what,
                    verdict: TestVerdict::Fails,
                    detail: error.to_string(),
                }];
            }
        };
        let shown: String = heard.text.chars().filter(|c| !c.is_control()).take(60).collect();
        let finding = |what, verdict, detail: String| TestFinding { what, verdict, detail };
        match self {
            Self::Text => text_findings(&heard, &shown),
            Self::Tool => vec![match cities_in_calls(&heard.calls).as_slice() {
                [city] if city.contains("oslo") => {
                    finding(what, TestVerdict::Works, "called with the right argument".into())
                }
                [] => finding(what, TestVerdict::Fails, format!("no call; it said {shown:?}")),
                other => {
                    finding(what, TestVerdict::Partly, format!("called for {}", other.join(", ")))
                }
            }],
            Self::ParallelTools => vec![match cities_in_calls(&heard.calls).as_slice() {
                [_, _, ..] => finding(what, TestVerdict::Works, "two calls in one reply".into()),
                [_] => finding(what, TestVerdict::Partly, "one call at a time".into()),
                [] => finding(what, TestVerdict::Fails, format!("no call; it said {shown:?}")),
            }],
            Self::Image => {
                let seen = heard.text.to_lowercase().contains("red");
                let verdict = if seen { TestVerdict::Works } else { TestVerdict::Fails };
                vec![finding(what, verdict, format!("a red square is {shown:?}"))]
            }
        }
    }
}

fn text_findings(heard: &ModelReply, shown: &str) -> Vec<TestFinding> {
    let mut findings = Vec::new();
    let mut add =
        |what, verdict, detail: String| findings.push(TestFinding { what, verdict, detail });
    let verdict =
        if heard.text.trim().is_empty() { TestVerdict::Fails } else { TestVerdict::Works };
    add("answers", verdict, format!("{shown:?}"));
    let verdict = if heard.pieces > 1 { TestVerdict::Works } else { TestVerdict::Partly };
    add("streaming", verdict, format!("{} pieces", heard.pieces));
    match heard.usage {
        Some(usage) => {
            let detail = format!("{} in, {} out", usage.input, usage.output);
            add("usage", TestVerdict::Works, detail);
        }
        None => add("usage", TestVerdict::Fails, "not counted; estimates are used".into()),
    }
    if heard.reasoned {
        add("reasoning", TestVerdict::Works, "kept apart from the answer".into());
    }
    if heard.setbacks > 0 {
        add("connection", TestVerdict::Partly, format!("{} tries failed first", heard.setbacks));
    }
    findings
}

fn cities_in_calls(calls: &[RequestedCall]) -> Vec<String> {
    let city = |call: &RequestedCall| {
        let arguments: WeatherArguments = serde_json::from_str(&call.arguments).ok()?;
        (call.name == "get_weather").then(|| arguments.city.to_lowercase())
    };
    calls.iter().filter_map(city).collect()
}

fn weather_tool() -> ToolDeclaration {
    ToolDeclaration::new::<WeatherArguments>(
        "get_weather",
        "The weather in a city.",
        SafetyLevel::Safe,
    )
}

/// Returns a small test image: sixteen by sixteen pixels, all red.
fn red_square_image() -> Image {
    Image {
        media_type: "image/png".to_owned(),
        data: Bytes::from_static(include_bytes!("red.png")),
    }
}
