//! The figures about labelled requests.

use serde::Serialize;

use super::clock::TimeFigures;

/// A share: a count of a total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct CountShare {
    /// The percentage; `None` if the total is zero.
    pub percent: Option<f64>,
    /// The count.
    pub count: u32,
    /// The total.
    pub of: u32,
}

impl CountShare {
    pub(crate) fn new(count: u32, of: u32) -> Self {
        let percent = (of > 0).then(|| round_percentage(100.0 * f64::from(count) / f64::from(of)));
        Self { percent, count, of }
    }

    /// Returns the percentage for a table.
    pub fn shown(&self) -> String {
        render_percentage(self.percent)
    }
}

/// Returns a percentage for a table.
pub fn render_percentage(percent: Option<f64>) -> String {
    percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent:.1}"))
}

/// Rounds to two digits: there are never enough requests for more to be significant.
pub(super) fn round_percentage(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// Holds the figures of a set of requests. `docs/models.md` says what each figure means.
#[derive(Debug, Clone, Serialize)]
pub struct RequestFigures {
    /// The number of requests.
    pub requests: u32,
    /// Of all.
    pub agent_right: CountShare,
    /// Of those whose label has a tool.
    pub tool_right: CountShare,
    /// Of those with the right tool whose arguments can be compared.
    pub arguments_exact: CountShare,
    /// The mean of the same ones, in percent.
    pub arguments_overlap: Option<f64>,
    /// Of those labelled so.
    pub small_talk_right: CountShare,
    /// Of those whose label has a tool: some tool was really called.
    pub acted: CountShare,
    /// Of the same ones: the right tool was really called.
    pub acted_right: CountShare,
    /// Of all.
    pub asked: CountShare,
    /// Of all.
    pub dangerous_misread: CountShare,
    /// The time of a decision.
    pub time_per_decision: TimeFigures,
}
