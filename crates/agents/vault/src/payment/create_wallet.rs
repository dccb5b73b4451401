//! Implements `payment_create_wallet`, which creates the wallet with its key in the vault.

use lango_payments::PaymentDesk;
use lango_protocol::CallReport;
use lango_text::code_span;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use serde::Serialize;

use super::views::NoArguments;
use super::{check_owner, convert_error};

pub(crate) struct CreateWallet {
    desk: PaymentDesk,
}

#[derive(Debug, Serialize)]
pub(crate) struct CreatedWallet {
    address: String,
    network: String,
}

impl CreateWallet {
    pub(crate) fn new(desk: PaymentDesk) -> Self {
        Self { desk }
    }
}

impl Tool for CreateWallet {
    type Arguments = NoArguments;
    type Output = CreatedWallet;
    const NAME: &'static str = "payment_create_wallet";
    const DESCRIPTION: &'static str =
        "Creates the user's wallet for payments in USDC. Its key stays in the vault.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(&self, _: NoArguments, context: ToolContext) -> Result<CreatedWallet, ToolError> {
        check_owner(&context)?;
        let address = self.desk.create_wallet().await.map_err(convert_error)?.to_string();
        Ok(CreatedWallet { address, network: self.desk.payments().settings().network.title() })
    }

    fn describe(&self, _: &NoArguments) -> Option<String> {
        Some("Creating a wallet".to_owned())
    }

    fn report(&self, _: &NoArguments, output: &CreatedWallet) -> Option<CallReport> {
        let CreatedWallet { address, network } = output;
        let address = code_span(address);
        let summary = format!("Created the wallet {address}. Send USDC to it on {network}.");
        Some(CallReport::new(summary).data(output))
    }

    fn propose(&self, _: &NoArguments) -> Option<Proposal> {
        let network = self.desk.payments().settings().network.title();
        let summary =
            format!("Create a wallet for payments on {network}, with its key in the vault");
        Some(Proposal::of(summary, ["create"]))
    }
}
