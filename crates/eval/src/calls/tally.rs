//! Counts how well a model understood requests.

use super::clock::{DecisionTimes, ElapsedTime};
use super::compare::{are_equal, word_overlap};
use super::examine::ObservedDecision;
use super::figures::{CountShare, RequestFigures, round_percentage};
use super::labelled::LabelledRequest;
use super::team::{EvaluatedTeam, ToolFacts};

/// The verdict about one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestVerdict {
    pub(crate) agent_right: bool,
    /// `None` if the label has no tool.
    pub(crate) tool_right: Option<bool>,
    /// `None` if there is nothing to compare.
    arguments: Option<ArgumentComparison>,
    pub(crate) dangerous_misread: bool,
}

#[derive(Debug, Clone, Copy)]
struct ArgumentComparison {
    is_equal: bool,
    overlap: f64,
}

impl RequestVerdict {
    pub(crate) fn of(
        label: &LabelledRequest,
        observed: &ObservedDecision,
        team: &EvaluatedTeam,
    ) -> Self {
        let meant = label.tool.as_deref();
        let is_misread = |tool: &String| {
            team.tool(tool).is_some_and(|tool| tool.is_dangerous) && Some(tool.as_str()) != meant
        };
        Self {
            agent_right: observed.agent.as_deref() == Some(label.agent.as_str()),
            tool_right: meant.map(|meant| observed.tool.as_deref() == Some(meant)),
            arguments: compare_arguments(label, observed, team),
            dangerous_misread: observed.called.iter().any(is_misread),
        }
    }

    /// Tells whether anything about it is wrong.
    pub(crate) fn is_failure(&self) -> bool {
        !self.agent_right
            || self.tool_right == Some(false)
            || self.arguments.is_some_and(|compared| !compared.is_equal)
            || self.dangerous_misread
    }
}

/// Compares the arguments of a call of the right tool. A question for a parameter that the label
/// has is a call with wrong ones; a label that itself lacks something required says nothing about
/// arguments, and neither does a question about which tool is meant.
fn compare_arguments(
    label: &LabelledRequest,
    observed: &ObservedDecision,
    team: &EvaluatedTeam,
) -> Option<ArgumentComparison> {
    let meant = label.tool.as_deref().filter(|meant| observed.tool.as_deref() == Some(meant))?;
    let wanted = label.arguments();
    let mut required = team.tool(meant).into_iter().flat_map(ToolFacts::required);
    if required.any(|name| !wanted.0.contains_key(name)) {
        return None;
    }
    if let Some(parameter) = &observed.lacks {
        let has = wanted.0.contains_key(parameter);
        return has.then_some(ArgumentComparison { is_equal: false, overlap: 0.0 });
    }
    if observed.called.is_empty() {
        return None;
    }
    Some(match &observed.arguments {
        Some(got) => ArgumentComparison {
            is_equal: are_equal(&wanted, got),
            overlap: word_overlap(&wanted, got),
        },
        None => ArgumentComparison { is_equal: false, overlap: 0.0 },
    })
}

/// The counts of a set of requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestTally {
    requests: u32,
    agent_right: u32,
    with_tool: u32,
    tool_right: u32,
    compared: u32,
    equal: u32,
    overlap: f64,
    small_talk: u32,
    small_talk_right: u32,
    acted: u32,
    acted_right: u32,
    asked: u32,
    dangerous_misread: u32,
    times: DecisionTimes,
}

impl RequestTally {
    pub(crate) fn add(
        &mut self,
        label: &LabelledRequest,
        observed: &ObservedDecision,
        verdict: &RequestVerdict,
    ) {
        self.requests += 1;
        self.agent_right += u32::from(verdict.agent_right);
        if let Some(meant) = &label.tool {
            self.with_tool += 1;
            self.tool_right += u32::from(verdict.tool_right == Some(true));
            self.acted += u32::from(!observed.called.is_empty());
            self.acted_right += u32::from(observed.called.first() == Some(meant));
        }
        if let Some(compared) = verdict.arguments {
            self.compared += 1;
            self.equal += u32::from(compared.is_equal);
            self.overlap += compared.overlap;
        }
        if label.is_small_talk() {
            self.small_talk += 1;
            self.small_talk_right += u32::from(verdict.agent_right);
        }
        self.asked += u32::from(observed.asked);
        self.dangerous_misread += u32::from(verdict.dangerous_misread);
        for spent in observed.spent() {
            self.times.add(spent);
        }
    }

    /// Returns the figures. `runs_here` says that the model is part of this process.
    pub(crate) fn figures(&self, runs_here: bool) -> RequestFigures {
        let mean = 100.0 * self.overlap / f64::from(self.compared);
        RequestFigures {
            requests: self.requests,
            agent_right: CountShare::new(self.agent_right, self.requests),
            tool_right: CountShare::new(self.tool_right, self.with_tool),
            arguments_exact: CountShare::new(self.equal, self.compared),
            arguments_overlap: (self.compared > 0).then(|| round_percentage(mean)),
            small_talk_right: CountShare::new(self.small_talk_right, self.small_talk),
            acted: CountShare::new(self.acted, self.with_tool),
            acted_right: CountShare::new(self.acted_right, self.with_tool),
            asked: CountShare::new(self.asked, self.requests),
            dangerous_misread: CountShare::new(self.dangerous_misread, self.requests),
            time_per_decision: self.times.figures(runs_here),
        }
    }
}

impl ObservedDecision {
    fn spent(&self) -> impl Iterator<Item = ElapsedTime> {
        self.as_orchestrator.into_iter().chain(self.as_specialist)
    }
}
