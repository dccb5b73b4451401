//! Holds the tools for payments. What is paid, and that it is paid once, is decided in `lango-payments`.

mod arguments;
mod create_wallet;
mod fetch;
mod first_decision;
mod history;
mod proposal;
mod send;
#[cfg(test)]
mod tests;
mod views;

use lango_egress::Guard;
use lango_payments::{PaymentDesk, PaymentError, UsdcAmount};
use lango_protocol::Space;
use lango_tool::{RegisteredTool, SafetyLevel, ToolContext, ToolError};

use create_wallet::CreateWallet;
use fetch::FetchPaid;
use history::ListPayments;
use send::SendPayment;
use views::{ShowBalance, ShowLimits, ShowWallet};

/// Holds what payments work on.
#[derive(Clone)]
pub struct PaymentResources {
    /// The wallet, its limits and its ledger.
    pub desk: PaymentDesk,
    /// Decides which sites may be fetched.
    pub guard: Guard,
}

/// Returns the tools for payments.
pub fn payment_tools(resources: &PaymentResources) -> Vec<RegisteredTool> {
    let desk = || resources.desk.clone();
    let limits = resources.desk.payments().settings().limits.clone();
    let mut tools = vec![
        RegisteredTool::new(SendPayment::new(desk())),
        RegisteredTool::new(FetchPaid::new(desk(), resources.guard.clone())),
    ];
    if limits.auto_approve_below > UsdcAmount::ZERO {
        // What is not below the limit says in its proposal that it is dangerous.
        for tool in &mut tools {
            tool.declaration.level = SafetyLevel::Moderate;
        }
    }
    tools.extend([
        RegisteredTool::new(ShowBalance::new(desk())),
        RegisteredTool::new(ShowLimits::new(desk())),
        RegisteredTool::new(ShowWallet::new(desk())),
        RegisteredTool::new(ListPayments::new(desk())),
        RegisteredTool::new(CreateWallet::new(desk())),
    ]);
    tools
}

/// Returns an error unless the owner of the machine makes the call: it is the owner's money.
fn check_owner(context: &ToolContext) -> Result<(), ToolError> {
    if *context.space.own() == Space::Owner {
        return Ok(());
    }
    let reason = "the wallet belongs to the owner of this machine, and serves no API client";
    Err(ToolError::Forbidden(reason.to_owned()))
}

/// Converts an error for a model.
#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn convert_error(error: PaymentError) -> ToolError {
    let text = error.to_string();
    match error {
        PaymentError::Amount(_)
        | PaymentError::Address(_)
        | PaymentError::Purpose { .. }
        | PaymentError::Key(_)
        | PaymentError::KeyInUse { .. } => ToolError::Arguments(text),
        PaymentError::Limit(_) | PaymentError::WatchOnly(_) | PaymentError::PaysSelf => {
            ToolError::Forbidden(text)
        }
        _ => ToolError::Failed(text),
    }
}
