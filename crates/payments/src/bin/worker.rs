//! Pays in a process that this crate's tests kill.

use std::sync::Arc;
use std::time::Duration;

use lango_payments::{
    KeySigner, Network, PaymentError, PaymentLimits, PaymentSettings, Payments, UsdcAmount, Wallet,
    WalletKey,
};
use lango_store::Database;
use tokio_util::sync::CancellationToken;

/// The settings that the tests share with this program.
fn settings(network: Network, per_day: UsdcAmount) -> PaymentSettings {
    PaymentSettings {
        limits: PaymentLimits {
            per_payment: UsdcAmount::from_whole(1),
            per_day,
            per_recipient: UsdcAmount::from_whole(1000),
            ..PaymentLimits::default()
        },
        max_fee: lango_payments::Wei(u128::from(u64::MAX)),
        confirmations: 1,
        replacement_depth: 2,
        receipt_timeout: Duration::from_secs(20),
        poll_interval: Duration::from_millis(5),
        reservation_timeout: Duration::from_hours(1),
        ..PaymentSettings::of(network)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [database, url, chain_id, token, key, recipient, name, first, end, per_day] =
        arguments.as_slice()
    else {
        let usage =
            "lango-payments-worker DATABASE URL CHAIN TOKEN KEY RECIPIENT NAME FIRST END PER_DAY";
        return Err(format!("usage: {usage}").into());
    };
    let mut bytes = [0; 32];
    lango_payments::hex::decode_to_slice(key, &mut bytes)?;
    let wallet = Wallet::with_signer(Arc::new(KeySigner::new(WalletKey::from_bytes(&bytes)?)));
    let per_day = UsdcAmount::from_units(per_day.parse()?).ok_or("an amount that is too large")?;
    let network = Network::custom("local", chain_id.parse()?, token.parse()?, url);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let database = Database::open(&database.parse()?).await?;
        let payments = Payments::open(database, settings(network, per_day), Some(wallet)).await?;
        payments.reconcile().await?;
        for number in first.parse::<u32>()?..end.parse::<u32>()? {
            let order = payments.order_transfer(recipient, "0.01", "a payment of the worker")?;
            let key = format!("{name} {number}").parse()?;
            match payments.send(&order, &key, &CancellationToken::new()).await {
                Ok(_) | Err(PaymentError::Limit(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    })
}
