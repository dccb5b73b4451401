//! The figures about labelled requests.

use serde::Serialize;

use super::clock::TimeFigures;

/// How many of how many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(in crate::commands) struct Share {
    /// None of nothing.
    pub(in crate::commands) percent: Option<f64>,
    pub(in crate::commands) count: u32,
    pub(in crate::commands) of: u32,
}

impl Share {
    pub(in crate::commands) fn new(count: u32, of: u32) -> Self {
        let percent = (of > 0).then(|| rounded(100.0 * f64::from(count) / f64::from(of)));
        Self { percent, count, of }
    }

    pub(in crate::commands) fn shown(&self) -> String {
        shown(self.percent)
    }
}

/// A percentage for a table.
pub(in crate::commands) fn shown(percent: Option<f64>) -> String {
    percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent:.1}"))
}

/// With two digits: there are never so many requests that more would say something.
pub(super) fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// About a set of requests. `docs/models.md` says what each figure means.
#[derive(Debug, Clone, Serialize)]
pub(in crate::commands) struct Figures {
    pub(in crate::commands) requests: u32,
    /// Of all.
    pub(in crate::commands) agent_right: Share,
    /// Of those whose label has a tool.
    pub(in crate::commands) tool_right: Share,
    /// Of those with the right tool whose arguments can be compared.
    pub(in crate::commands) arguments_exact: Share,
    /// The mean of the same ones, in percent.
    pub(in crate::commands) arguments_overlap: Option<f64>,
    /// Of those labelled so.
    pub(in crate::commands) small_talk_right: Share,
    /// Of those whose label has a tool: some tool was really called.
    pub(in crate::commands) acted: Share,
    /// Of the same ones: the right tool was really called.
    pub(in crate::commands) acted_right: Share,
    /// Of all.
    pub(in crate::commands) asked: Share,
    /// Of all.
    pub(in crate::commands) dangerous_misread: Share,
    pub(in crate::commands) time_per_decision: TimeFigures,
}
