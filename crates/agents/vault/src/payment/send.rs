//! Implements `payment_send`, which pays an account in USDC.

use std::time::Duration;

use lango_payments::{
    IdempotencyKey, PaymentDesk, PaymentError, PaymentOrder, PaymentState, PaymentView,
};
use lango_protocol::CallReport;
use lango_text::code_span;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::arguments::{AddressArgument, AmountArgument};
use super::first_decision::FirstDecision;
use super::proposal::{propose_order, propose_refused};
use super::{check_owner, convert_error};

/// Limits the look at earlier payments.
const RECONCILE_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct SendPayment {
    desk: PaymentDesk,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendArguments {
    /// The recipient's address, 0x and 40 digits, exactly as the user gave it.
    to: AddressArgument,
    /// The amount of USDC, such as 2 or 2.50.
    amount: AmountArgument,
    /// What it is for.
    purpose: String,
    /// The same key never pays twice.
    idempotency_key: Option<String>,
    /// The order that was shown.
    #[serde(skip)]
    decided: FirstDecision<Result<PaymentOrder, PaymentError>>,
}

impl SendPayment {
    pub(crate) fn new(desk: PaymentDesk) -> Self {
        Self { desk }
    }

    /// Makes the one order that is proposed, approved and signed.
    fn order(&self, arguments: &SendArguments) -> Result<PaymentOrder, PaymentError> {
        let SendArguments { to, amount, purpose, decided, .. } = arguments;
        let payments = self.desk.payments();
        decided.get_or_decide(|| payments.order_transfer_to(to.0, amount.0, purpose))
    }
}

impl Tool for SendPayment {
    type Arguments = SendArguments;
    type Output = PaymentView;
    const NAME: &'static str = "payment_send";
    const DESCRIPTION: &'static str = "Pays USDC from the user's wallet. The user approves the exact \
         payment. If the state is unknown, do not send it again: it is settled by itself.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: SendArguments,
        context: ToolContext,
    ) -> Result<PaymentView, ToolError> {
        check_owner(&context)?;
        // A wallet that another process created is found here, for the next call: this one was decided
        // on without it.
        let order = self.order(&arguments);
        let payments = self.desk.find_wallet().await.map_err(convert_error)?;
        let order = match order {
            Err(PaymentError::NoWallet) if payments.wallet().is_ok() => {
                let reason = "the wallet was created by another process just now; nothing was paid. \
                              Call again, so that the user sees the payment";
                return Err(ToolError::Failed(reason.to_owned()));
            }
            order => order.map_err(convert_error)?,
        };
        let key = arguments.idempotency_key.unwrap_or_else(|| context.call.to_string());
        let key: IdempotencyKey = key.parse().map_err(convert_error)?;
        // Earlier payments whose outcome is known by now free what they held of the limits. That it
        // cannot be found out now changes nothing.
        let _ = tokio::time::timeout(RECONCILE_TIMEOUT, payments.reconcile()).await;
        let payment = payments.send(&order, &key, &context.cancel).await.map_err(convert_error)?;
        Ok(PaymentView::from(&payment))
    }

    fn describe(&self, arguments: &SendArguments) -> Option<String> {
        Some(format!("Paying {}", arguments.amount.0))
    }

    fn report(&self, _: &SendArguments, output: &PaymentView) -> Option<CallReport> {
        Some(report_payment(output))
    }

    fn propose(&self, arguments: &SendArguments) -> Option<Proposal> {
        let limits = &self.desk.payments().settings().limits.clone();
        let proposed = self.order(arguments).and_then(|order| {
            limits.check_alone(order.to(), order.amount())?;
            propose_order(&order, limits)
        });
        Some(proposed.unwrap_or_else(|error| propose_refused(&error)))
    }
}

/// Says to a person what became of a payment.
pub(super) fn report_payment(payment: &PaymentView) -> CallReport {
    let PaymentView { amount, network, detail, fee, .. } = payment;
    let to = code_span(&payment.to);
    let because = detail.as_deref().map_or_else(String::new, |detail| format!(": {detail}"));
    let fee = fee.as_deref().map_or_else(String::new, |fee| format!(" The fee was {fee}."));
    let summary = match payment.state {
        PaymentState::Confirmed => format!("Paid {amount} to {to} on {network}.{fee}"),
        PaymentState::Failed => format!("{amount} to {to} were not paid{because}"),
        state => format!(
            "It is not known yet whether {amount} to {to} were paid (the payment is {state}{because}). \
             It is not sent again. What became of it: `lango wallet history`"
        ),
    };
    let mut report = CallReport::new(summary).data(payment);
    report.unsuccessful = payment.state == PaymentState::Failed;
    report
}
