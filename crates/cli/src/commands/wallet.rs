//! `lango wallet`: shows the account that payments are made from, and the payments.

use lango_app::Stores;
use lango_payments::{LimitsView, PaymentDesk, PaymentView, Payments};
use lango_protocol::Timestamp;
use serde::Serialize;

use super::sessions::local_time;
use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::WalletCommand;
use lango_terminal::render_table;

#[derive(Serialize)]
struct CreatedWallet {
    address: String,
    network: String,
}

pub(crate) async fn wallet(
    context: &CommandContext,
    command: WalletCommand,
) -> Result<ExitStatus, Failure> {
    let Stores { database, .. } = context.app.open_stores().await?;
    let desk = context.app.open_wallet(database).await?;
    let (printer, payments) = (context.printer, desk.payments());
    match command {
        WalletCommand::Create { json } => create(printer, &desk, json).await?,
        WalletCommand::Show { json } => show(printer, &payments, json)?,
        WalletCommand::Balance { json } => balance(printer, &payments, json).await?,
        WalletCommand::History { limit, offline, json } => {
            history(printer, &payments, limit, offline, json).await?;
        }
        WalletCommand::Limits { json } => limits(printer, &payments, json).await?,
    }
    Ok(ExitStatus::Success)
}

async fn create(printer: Printer, desk: &PaymentDesk, json: bool) -> Result<(), Failure> {
    let address = desk.create_wallet().await?.to_string();
    let network = desk.payments().settings().network.title();
    if json {
        return Ok(printer.json(&CreatedWallet { address, network })?);
    }
    Ok(printer.print(&format!(
        "Created the wallet {address}\n\
         Send USDC to it on {network}, and a little ether for fees.\n\
         Its key is in the vault. Keep a copy of the vault: lango vault export FILE\n"
    ))?)
}

fn show(printer: Printer, payments: &Payments, json: bool) -> Result<(), Failure> {
    let wallet = payments.view_wallet()?;
    if json {
        return Ok(printer.json(&wallet)?);
    }
    let network = payments.settings().network.title();
    let kind =
        if wallet.watch_only { " (watched only: nothing can be paid from it here)" } else { "" };
    let token = wallet.token;
    Ok(printer.print(&format!("{}{kind}\non {network}, USDC at {token}\n", wallet.address))?)
}

async fn balance(printer: Printer, payments: &Payments, json: bool) -> Result<(), Failure> {
    let balance = payments.view_balance().await?;
    if json {
        return Ok(printer.json(&balance)?);
    }
    Ok(printer.print(&format!("{}, and {} for fees\n", balance.balance, balance.for_fees))?)
}

async fn history(
    printer: Printer,
    payments: &Payments,
    limit: u32,
    offline: bool,
    json: bool,
) -> Result<(), Failure> {
    let history = payments.view_history(limit, offline).await?;
    history.notes.iter().for_each(|note| printer.note(note));
    let views = history.payments;
    if json {
        return Ok(printer.json(&views)?);
    }
    if views.is_empty() {
        let example = "lango run \"pay 2 USDC to 0x… for the dataset\"";
        return Ok(printer.print(&format!("No payments yet. To make one: {example}\n"))?);
    }
    let rows: Vec<Vec<String>> = views.iter().map(history_row).collect();
    let header = ["TIME", "STATE", "AMOUNT", "TO", "FEE", "FOR"];
    Ok(printer.print(&render_table(&header, &rows))?)
}

fn history_row(view: &PaymentView) -> Vec<String> {
    let at: Timestamp = view.at;
    let purpose = match &view.detail {
        Some(detail) => format!("{} ({detail})", view.purpose),
        None => view.purpose.clone(),
    };
    vec![
        local_time(at),
        view.state.to_string(),
        view.amount.clone(),
        view.to.clone(),
        view.fee.clone().unwrap_or_default(),
        purpose,
    ]
}

async fn limits(printer: Printer, payments: &Payments, json: bool) -> Result<(), Failure> {
    let limits = payments.view_limits().await?;
    if json {
        return Ok(printer.json(&limits)?);
    }
    let LimitsView {
        network,
        per_payment,
        per_day,
        spent_in_24_hours,
        left_in_24_hours,
        per_recipient,
        allowed_recipients,
        auto_approve_below,
        max_fee,
    } = limits;
    let recipients = match allowed_recipients.as_slice() {
        [] => "any".to_owned(),
        some => some.join(", "),
    };
    Ok(printer.print(&format!(
        "on {network}\n\
         one payment:            at most {per_payment}, for a fee of at most {max_fee}\n\
         within 24 hours:        at most {per_day}: {spent_in_24_hours} spent, {left_in_24_hours} left\n\
         to one recipient:       at most {per_recipient} within 24 hours\n\
         recipients:             {recipients}\n\
         without a question:     below {auto_approve_below}\n"
    ))?)
}
