//! Reports a measurement.

use std::collections::BTreeMap;

use lango_model::ModelId;
use lango_text::truncate_characters;
use serde::Serialize;

use super::arguments::Arguments;
use super::{
    CountShare, DecisionTimes, LabelledRequest, ObservedDecision, RequestFigures, RequestTally,
    RequestVerdict, TimeFigures,
};

/// Stands in the confusion matrix for a question that names no tool, or a reply that decides
/// nothing.
pub const UNDECIDED: &str = "undecided";
/// Limits the characters of a model's text in a failure.
const MAX_SHOWN_CHARACTERS: usize = 300;

/// Collects the results of a measurement.
pub struct CallsReport {
    model: String,
    given: usize,
    wanted_failures: usize,
    runs_here: bool,
    all: RequestTally,
    levels: BTreeMap<String, RequestTally>,
    confusion: BTreeMap<String, BTreeMap<String, u32>>,
    as_orchestrator: DecisionTimes,
    as_specialist: DecisionTimes,
    routed: u32,
    routed_wrong: u32,
    failures: Vec<FailureView>,
}

/// Reports a measurement. The keys in JSON are a promise: scripts read them.
#[derive(Serialize)]
pub struct CallsView<'a> {
    /// The model.
    pub model: &'a str,
    /// False if the measurement was stopped before the last request.
    pub complete: bool,
    /// The number of given requests.
    pub given: usize,
    /// The figures of all requests.
    pub all: RequestFigures,
    /// The figures of each level.
    pub levels: BTreeMap<&'a str, RequestFigures>,
    /// The confusion matrix: how often each agent was chosen, by the agent of the label.
    pub confusion: &'a BTreeMap<String, BTreeMap<String, u32>>,
    /// The time of a decision as the orchestrator.
    pub time_as_orchestrator: TimeFigures,
    /// The time of a decision as a specialist.
    pub time_as_specialist: TimeFigures,
    /// The decisions of the fast path, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_path: Option<FastPath>,
    /// Requests that were not understood, if the caller asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<&'a [FailureView]>,
}

/// The decisions of the fast path, without the model.
#[derive(Debug, Serialize)]
pub struct FastPath {
    /// The share of all requests that it decided.
    pub decided: CountShare,
    /// The share of all requests that it decided wrongly.
    pub wrong: CountShare,
}

/// A request that was not understood.
#[derive(Debug, Serialize)]
pub struct FailureView {
    /// The request.
    pub text: String,
    /// Its level of difficulty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The call in its label.
    pub expected: ExpectedCall,
    /// The model's call.
    pub got: ActualCall,
}

/// The call that a label expects.
#[derive(Debug, Serialize)]
pub struct ExpectedCall {
    /// The agent.
    pub agent: String,
    /// The tool.
    pub tool: Option<String>,
    /// Its arguments.
    pub args: Arguments,
}

/// The call that a model made.
#[derive(Debug, Serialize)]
pub struct ActualCall {
    /// The agent; `None` if nothing was decided.
    pub agent: Option<String>,
    /// The tool that was called, or asked about.
    pub tool: Option<String>,
    /// The arguments of the call.
    pub args: Option<Arguments>,
    /// True if the user was asked something instead.
    pub asked: bool,
    /// True if a tool was really called.
    pub called: bool,
    /// Its last text.
    pub said: String,
}

impl CallsReport {
    /// Returns a report without any request in it. `failures` limits how many are described;
    /// `runs_here` says that the model is part of this process.
    pub fn new(
        model: &ModelId,
        requests: &[LabelledRequest],
        failures: u32,
        runs_here: bool,
    ) -> Self {
        Self {
            model: model.to_string(),
            given: requests.len(),
            wanted_failures: usize::try_from(failures).unwrap_or(usize::MAX),
            runs_here,
            all: RequestTally::default(),
            levels: BTreeMap::new(),
            confusion: BTreeMap::new(),
            as_orchestrator: DecisionTimes::default(),
            as_specialist: DecisionTimes::default(),
            routed: 0,
            routed_wrong: 0,
            failures: Vec::new(),
        }
    }

    pub(crate) fn add(
        &mut self,
        label: &LabelledRequest,
        observed: &ObservedDecision,
        verdict: &RequestVerdict,
    ) {
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

    /// Returns the view of the report. `complete` says that every request was examined.
    pub fn view(&self, complete: bool) -> CallsView<'_> {
        let figures = |tally: &RequestTally| tally.figures(self.runs_here);
        let all = figures(&self.all);
        let requests = all.requests;
        CallsView {
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
                decided: CountShare::new(self.routed, requests),
                wrong: CountShare::new(self.routed_wrong, requests),
            }),
            failures: (self.wanted_failures > 0).then_some(&self.failures),
        }
    }
}

impl FailureView {
    fn of(label: &LabelledRequest, observed: &ObservedDecision) -> Self {
        Self {
            text: label.text.clone(),
            level: label.level.clone(),
            expected: ExpectedCall {
                agent: label.agent.clone(),
                tool: label.tool.clone(),
                args: label.arguments(),
            },
            got: ActualCall {
                agent: observed.agent.clone(),
                tool: observed.tool.clone(),
                args: observed.arguments.clone(),
                asked: observed.asked,
                called: !observed.called.is_empty(),
                said: truncate_characters(&observed.said, MAX_SHOWN_CHARACTERS).to_owned(),
            },
        }
    }
}
