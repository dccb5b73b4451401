//! The figures about labelled requests.

use serde::Serialize;

use super::clock::TimeFigures;

/// A share: a count of a total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Share {
    /// The percentage; `None` if the total is zero.
    pub percent: Option<f64>,
    /// The count.
    pub count: u32,
    /// The total.
    pub of: u32,
}

impl Share {
    pub(crate) fn new(count: u32, of: u32) -> Self {
        let percent = (of > 0).then(|| rounded(100.0 * f64::from(count) / f64::from(of)));
        Self { percent, count, of }
    }

    /// Returns the percentage for a table.
    pub fn shown(&self) -> String {
        shown(self.percent)
    }
}

/// Returns a percentage for a table.
pub fn shown(percent: Option<f64>) -> String {
    percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent:.1}"))
}

/// Rounds to two digits: there are never enough requests for more to be significant.
pub(super) fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// Holds the figures of a set of requests. `docs/models.md` says what each figure means.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    /// The number of requests.
    pub requests: u32,
    /// Of all.
    pub agent_right: Share,
    /// Of those whose label has a tool.
    pub tool_right: Share,
    /// Of those with the right tool whose arguments can be compared.
    pub arguments_exact: Share,
    /// The mean of the same ones, in percent.
    pub arguments_overlap: Option<f64>,
    /// Of those labelled so.
    pub small_talk_right: Share,
    /// Of those whose label has a tool: some tool was really called.
    pub acted: Share,
    /// Of the same ones: the right tool was really called.
    pub acted_right: Share,
    /// Of all.
    pub asked: Share,
    /// Of all.
    pub dangerous_misread: Share,
    /// The time of a decision.
    pub time_per_decision: TimeFigures,
}
