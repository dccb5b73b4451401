//! Implements `payment_balance`, `payment_limits` and `payment_wallet`, which only look.

use lango_payments::{BalanceView, LimitsView, PaymentDesk, SpendingView, WalletView};
use lango_protocol::CallReport;
use lango_text::code_span;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{check_owner, convert_error};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoArguments {}

pub(crate) struct ShowBalance {
    desk: PaymentDesk,
}

impl ShowBalance {
    pub(crate) fn new(desk: PaymentDesk) -> Self {
        Self { desk }
    }
}

impl Tool for ShowBalance {
    type Arguments = NoArguments;
    type Output = BalanceView;
    const NAME: &'static str = "payment_balance";
    const DESCRIPTION: &'static str = "Tells how much USDC the wallet holds, and ether for fees.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(&self, _: NoArguments, context: ToolContext) -> Result<BalanceView, ToolError> {
        check_owner(&context)?;
        let payments = self.desk.find_wallet().await.map_err(convert_error)?;
        tokio::select! {
            balance = payments.view_balance() => balance.map_err(convert_error),
            () = context.cancel.cancelled() => Err(ToolError::Cancelled),
        }
    }

    fn describe(&self, _: &NoArguments) -> Option<String> {
        Some("Looking at the balance".to_owned())
    }

    fn report(&self, _: &NoArguments, output: &BalanceView) -> Option<CallReport> {
        let BalanceView { balance, for_fees, network, .. } = output;
        let summary = format!("The wallet has {balance} on {network}, and {for_fees} for fees.");
        Some(CallReport::new(summary).data(output))
    }
}

pub(crate) struct ShowLimits {
    desk: PaymentDesk,
}

/// The limits, and what counts towards them and longer ago.
#[derive(Debug, Serialize)]
pub(crate) struct LimitsAnswer {
    #[serde(flatten)]
    limits: LimitsView,
    spent: SpendingView,
}

impl ShowLimits {
    pub(crate) fn new(desk: PaymentDesk) -> Self {
        Self { desk }
    }
}

impl Tool for ShowLimits {
    type Arguments = NoArguments;
    type Output = LimitsAnswer;
    const NAME: &'static str = "payment_limits";
    const DESCRIPTION: &'static str =
        "Tells the limits of payments, what is left of them, and what was spent.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(&self, _: NoArguments, context: ToolContext) -> Result<LimitsAnswer, ToolError> {
        check_owner(&context)?;
        let limits = self.desk.payments().view_limits().await.map_err(convert_error)?;
        let spent = self.desk.payments().view_spending().await.map_err(convert_error)?;
        Ok(LimitsAnswer { limits, spent })
    }

    fn describe(&self, _: &NoArguments) -> Option<String> {
        Some("Looking at the limits of payments".to_owned())
    }

    fn report(&self, _: &NoArguments, output: &LimitsAnswer) -> Option<CallReport> {
        let LimitsView { per_payment, per_day, left_in_24_hours, .. } = &output.limits;
        let SpendingView { day, week, month } = &output.spent;
        let summary = format!(
            "Spent: {day} today, {week} in 7 days, {month} in 30 days. At most {per_payment} for one \
             payment and {per_day} within 24 hours, of which {left_in_24_hours} are left."
        );
        Some(CallReport::new(summary).data(output))
    }
}

pub(crate) struct ShowWallet {
    desk: PaymentDesk,
}

impl ShowWallet {
    pub(crate) fn new(desk: PaymentDesk) -> Self {
        Self { desk }
    }
}

impl Tool for ShowWallet {
    type Arguments = NoArguments;
    type Output = WalletView;
    const NAME: &'static str = "payment_wallet";
    const DESCRIPTION: &'static str = "Tells the address of the wallet and its network.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(&self, _: NoArguments, context: ToolContext) -> Result<WalletView, ToolError> {
        check_owner(&context)?;
        let payments = self.desk.find_wallet().await.map_err(convert_error)?;
        payments.view_wallet().map_err(convert_error)
    }

    fn describe(&self, _: &NoArguments) -> Option<String> {
        Some("Looking at the wallet".to_owned())
    }

    fn report(&self, _: &NoArguments, output: &WalletView) -> Option<CallReport> {
        let WalletView { network, chain_id, .. } = output;
        let address = code_span(&output.address);
        let summary = format!("The wallet is {address} on {network} (chain {chain_id}).");
        Some(CallReport::new(summary).data(output))
    }
}
