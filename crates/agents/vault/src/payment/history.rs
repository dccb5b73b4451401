//! Implements `payment_history`, which lists payments and their sums.

use lango_payments::{PaymentDesk, PaymentView, SpendingView};
use lango_protocol::CallReport;
use lango_text::{make_line_visible, plural};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{check_owner, convert_error};

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 200;

pub(crate) struct ListPayments {
    desk: PaymentDesk,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryArguments {
    /// The most payments to list.
    limit: Option<u32>,
}

#[derive(Debug, Serialize)]
pub(crate) struct PaymentHistory {
    /// The sums of what was paid, or may have been.
    spent: SpendingView,
    payments: Vec<PaymentView>,
    /// What cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<String>,
}

impl ListPayments {
    pub(crate) fn new(desk: PaymentDesk) -> Self {
        Self { desk }
    }
}

impl Tool for ListPayments {
    type Arguments = HistoryArguments;
    type Output = PaymentHistory;
    const NAME: &'static str = "payment_history";
    const DESCRIPTION: &'static str =
        "Lists the latest payments, and the sums of the last day, week and month.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: HistoryArguments,
        context: ToolContext,
    ) -> Result<PaymentHistory, ToolError> {
        check_owner(&context)?;
        let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        let payments = self.desk.payments();
        let latest = payments.list_latest(limit).await.map_err(convert_error)?;
        let spent = payments.view_spending().await.map_err(convert_error)?;
        let damaged = latest.damaged.iter().map(ToString::to_string).collect();
        let payments = latest.payments.iter().map(PaymentView::from).collect();
        Ok(PaymentHistory { spent, payments, damaged })
    }

    fn describe(&self, _: &HistoryArguments) -> Option<String> {
        Some("Looking at the payments".to_owned())
    }

    fn report(&self, _: &HistoryArguments, output: &PaymentHistory) -> Option<CallReport> {
        let PaymentHistory { spent, payments, damaged } = output;
        let count = plural(payments.len(), "payment", "payments");
        let SpendingView { day, week, month } = spent;
        let summary = format!("{count}: {day} today, {week} in 7 days, {month} in 30 days.");
        let lines: Vec<String> = payments.iter().map(render_line).collect();
        let report = CallReport::new(summary).data(output);
        let report =
            damaged.iter().fold(report, |report, damaged| report.note(make_line_visible(damaged)));
        Some(if lines.is_empty() { report } else { report.verbatim(lines.join("\n")) })
    }
}

fn render_line(payment: &PaymentView) -> String {
    let PaymentView { at, state, amount, to, purpose, .. } = payment;
    make_line_visible(&format!("{} {state}: {amount} to {to} for {purpose}", at.day()))
}
