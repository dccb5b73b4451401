//! What is told about a measurement.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::commands::calls::{
    Figures, Labelled, Observed, Share, Tally, TimeFigures, Times, Verdict, shown,
};
use crate::commands::table::table;
use crate::display::one_line;
use lango_app::provider::Choice;

/// In the confusion of agents: a question that names no tool, or a reply that decides nothing.
const UNDECIDED: &str = "undecided";
/// Characters of what a model said, in a failure.
const LONGEST_WORDS: usize = 300;
/// Levels that are shown in this order, before others.
const LEVELS: [&str; 3] = ["plain", "indirect", "hard"];

/// Collects what is told.
pub(super) struct Report {
    model: String,
    given: usize,
    wanted_failures: usize,
    runs_here: bool,
    all: Tally,
    levels: BTreeMap<String, Tally>,
    confusion: BTreeMap<String, BTreeMap<String, u32>>,
    as_orchestrator: Times,
    as_specialist: Times,
    routed: u32,
    routed_wrong: u32,
    failures: Vec<FailureView>,
}

/// The same as JSON. The keys are a promise: scripts read them.
#[derive(Serialize)]
pub(super) struct Shown<'a> {
    model: &'a str,
    /// False: stopped before the last request.
    complete: bool,
    /// Requests that were given.
    given: usize,
    all: Figures,
    levels: BTreeMap<&'a str, Figures>,
    /// By the agent of the label: how often which agent was chosen.
    confusion: &'a BTreeMap<String, BTreeMap<String, u32>>,
    time_as_orchestrator: TimeFigures,
    time_as_specialist: TimeFigures,
    /// Decided by the fast path, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fast_path: Option<FastPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failures: Option<&'a [FailureView]>,
}

#[derive(Serialize)]
struct FastPath {
    /// Of all requests.
    decided: Share,
    /// Of all requests.
    wrong: Share,
}

#[derive(Serialize)]
struct FailureView {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<String>,
    expected: Meant,
    got: Got,
}

#[derive(Serialize)]
struct Meant {
    agent: String,
    tool: Option<String>,
    args: Map<String, Value>,
}

#[derive(Serialize)]
struct Got {
    agent: Option<String>,
    tool: Option<String>,
    args: Option<Map<String, Value>>,
    asked: bool,
    called: bool,
    said: String,
}

impl Report {
    pub(super) fn new(
        choice: &Choice,
        requests: &[Labelled],
        failures: u32,
        runs_here: bool,
    ) -> Self {
        Self {
            model: choice.id.to_string(),
            given: requests.len(),
            wanted_failures: usize::try_from(failures).unwrap_or(usize::MAX),
            runs_here,
            all: Tally::default(),
            levels: BTreeMap::new(),
            confusion: BTreeMap::new(),
            as_orchestrator: Times::default(),
            as_specialist: Times::default(),
            routed: 0,
            routed_wrong: 0,
            failures: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, label: &Labelled, observed: &Observed, verdict: &Verdict) {
        self.all.add(label, observed, verdict);
        if let Some(level) = &label.level {
            self.levels.entry(level.clone()).or_default().add(label, observed, verdict);
        }
        let chosen = observed.agent.as_deref().unwrap_or(UNDECIDED).to_owned();
        *self.confusion.entry(label.agent.clone()).or_default().entry(chosen).or_default() += 1;
        observed.as_orchestrator.into_iter().for_each(|spent| self.as_orchestrator.add(spent));
        observed.as_specialist.into_iter().for_each(|spent| self.as_specialist.add(spent));
        if observed.routed {
            self.routed += 1;
            self.routed_wrong += u32::from(!verdict.agent_right);
        }
        if verdict.is_failure() && self.failures.len() < self.wanted_failures {
            self.failures.push(FailureView::of(label, observed));
        }
    }

    pub(super) fn shown(&self, complete: bool) -> Shown<'_> {
        let figures = |tally: &Tally| tally.figures(self.runs_here);
        let all = figures(&self.all);
        let requests = all.requests;
        Shown {
            model: &self.model,
            complete,
            given: self.given,
            all,
            levels: self
                .levels
                .iter()
                .map(|(name, tally)| (name.as_str(), figures(tally)))
                .collect(),
            confusion: &self.confusion,
            time_as_orchestrator: self.as_orchestrator.figures(self.runs_here),
            time_as_specialist: self.as_specialist.figures(self.runs_here),
            fast_path: (self.routed > 0).then(|| FastPath {
                decided: Share::new(self.routed, requests),
                wrong: Share::new(self.routed_wrong, requests),
            }),
            failures: (self.wanted_failures > 0).then_some(&self.failures),
        }
    }
}

impl FailureView {
    fn of(label: &Labelled, observed: &Observed) -> Self {
        Self {
            text: label.text.clone(),
            level: label.level.clone(),
            expected: Meant {
                agent: label.agent.clone(),
                tool: label.tool.clone(),
                args: label.arguments(),
            },
            got: Got {
                agent: observed.agent.clone(),
                tool: observed.tool.clone(),
                args: observed.arguments.clone(),
                asked: observed.asked,
                called: !observed.called.is_empty(),
                said: observed.said.chars().take(LONGEST_WORDS).collect(),
            },
        }
    }

    fn text(&self) -> String {
        let Self { text, level, expected, got } = self;
        let level = level.as_ref().map(|level| format!(" ({level})")).unwrap_or_default();
        let call = |tool: Option<&String>, args: Option<&Map<String, Value>>| {
            let args = args.map(|args| Value::Object(args.clone()).to_string());
            let args = args.filter(|_| tool.is_some()).unwrap_or_default();
            one_line(&format!("{} {args}", tool.map_or("-", String::as_str)), 200)
        };
        let expected_call = call(expected.tool.as_ref(), Some(&expected.args));
        let manner = if got.asked { " (asked)" } else { "" };
        let said = format!("\n    said      {}", one_line(&got.said, 160));
        let said = if got.called { String::new() } else { said };
        format!(
            "\n  {}{level}\n    expected  {}, {expected_call}\n    got       {}, {}{manner}{said}\n",
            one_line(text, 200),
            expected.agent,
            got.agent.as_deref().unwrap_or(UNDECIDED),
            call(got.tool.as_ref(), got.args.as_ref()),
        )
    }
}

impl Shown<'_> {
    /// For people.
    pub(super) fn text(&self) -> String {
        let Self { model, all, given, .. } = self;
        let mut text = format!("{model}, {} of {given} requests, percent\n\n", all.requests);
        text.push_str(&self.figures());
        for (what, time) in [
            ("as orchestrator", &self.time_as_orchestrator),
            ("as specialist", &self.time_as_specialist),
        ] {
            text.push_str(&format!("\ntime per decision {what}: {}", time_text(time)));
        }
        text.push('\n');
        if let Some(FastPath { decided, wrong }) = &self.fast_path {
            let (share, decided) = (decided.shown(), decided.count);
            let (wrong_share, wrong) = (wrong.shown(), wrong.count);
            text.push_str(&format!(
                "fast path: {decided} requests ({share} %) decided without the model, {wrong} \
                 ({wrong_share} %) wrongly\n"
            ));
        }
        text.push_str(&self.misread());
        if let Some(failures) = self.failures.filter(|failures| !failures.is_empty()) {
            text.push_str("\nnot right:\n");
            text.extend(failures.iter().map(FailureView::text));
        }
        text
    }

    fn figures(&self) -> String {
        let known = LEVELS.iter().filter_map(|level| Some((*level, self.levels.get(level)?)));
        let others = self.levels.iter().filter(|(level, _)| !LEVELS.contains(level));
        let others = others.map(|(level, figures)| (*level, figures));
        let rows = known.chain(others).chain([("all", &self.all)]).map(|(level, figures)| {
            vec![
                level.to_owned(),
                figures.requests.to_string(),
                figures.agent_right.shown(),
                figures.tool_right.shown(),
                figures.arguments_exact.shown(),
                shown(figures.arguments_overlap),
                figures.small_talk_right.shown(),
                figures.acted.shown(),
                figures.acted_right.shown(),
                figures.asked.shown(),
                figures.dangerous_misread.percent.map_or("-".into(), |p| format!("{p:.2}")),
            ]
        });
        let header = [
            "LEVEL",
            "REQUESTS",
            "AGENT",
            "TOOL",
            "ARGUMENTS",
            "OVERLAP",
            "SMALL TALK",
            "ACTED",
            "RIGHTLY",
            "ASKED",
            "DANGEROUS",
        ];
        table(&header, &rows.collect::<Vec<_>>())
    }

    /// Which agents were taken for which others.
    fn misread(&self) -> String {
        let mut text = String::new();
        for (meant, chosen) in self.confusion {
            let others: Vec<String> = chosen
                .iter()
                .filter(|(agent, _)| *agent != meant)
                .map(|(agent, count)| format!("{agent} {count}"))
                .collect();
            if !others.is_empty() {
                let total: u32 = chosen.values().sum();
                text.push_str(&format!("{meant} ({total}) taken for: {}\n", others.join(", ")));
            }
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }
}

fn time_text(time: &TimeFigures) -> String {
    let (Some(median), Some(p95)) = (time.median_milliseconds, time.p95_milliseconds) else {
        return "-".to_owned();
    };
    let wall = format!("median {median:.1} ms, 95 of 100 within {p95:.1} ms");
    match (time.median_cpu_milliseconds, time.p95_cpu_milliseconds) {
        (Some(median), Some(p95)) => format!("{wall}; CPU {median:.1} and {p95:.1} ms"),
        _ => wall,
    }
}
