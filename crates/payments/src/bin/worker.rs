//! Pays in a process that this crate's tests kill.

use std::sync::Arc;
use std::time::Duration;

use lango_egress::{Guard, Rules};
use lango_payments::{
    FetchOutcome, IdempotencyKey, KeySigner, Network, PaymentError, PaymentLimits, PaymentSettings,
    Payments, UsdcAmount, Wallet, WalletKey,
};
use lango_store::Database;
use tokio::task::JoinSet;
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

/// Makes one payment: to an account, or for a page if the recipient is the address of one.
async fn pay(
    payments: Payments,
    recipient: String,
    key: IdempotencyKey,
) -> Result<(), PaymentError> {
    let cancel = CancellationToken::new();
    if !recipient.starts_with("http") {
        let order = payments.order_transfer(&recipient, "0.01", "a payment of the worker")?;
        return payments.send(&order, &key, &cancel).await.map(drop);
    }
    let rules = Rules::parse(&["127.0.0.1".to_owned()], &[], &[]);
    let guard = Guard::new(rules.map_err(|error| PaymentError::Defect(error.to_string()))?);
    let FetchOutcome::Price(offer) = payments.fetch(&guard, &recipient).await? else {
        return Err(PaymentError::Defect("the page costs nothing".to_owned()));
    };
    payments.fetch_paid(&guard, &offer, &key, &cancel).await.map(drop)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [database, url, chain_id, token, key, recipient, name, first, end, per_day, at_once] =
        arguments.as_slice()
    else {
        let usage = "lango-payments-worker DATABASE URL CHAIN TOKEN KEY RECIPIENT NAME FIRST END PER_DAY AT_ONCE";
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
        let at_once: usize = at_once.parse()?;
        let mut running = JoinSet::new();
        for number in first.parse::<u32>()?..end.parse::<u32>()? {
            let key = format!("{name} {number}").parse()?;
            running.spawn(pay(payments.clone(), recipient.clone(), key));
            while running.len() >= at_once {
                check(running.join_next().await)?;
            }
        }
        while let Some(ended) = running.join_next().await {
            check(Some(ended))?;
        }
        Ok(())
    })
}

type PaymentEnd = Result<Result<(), PaymentError>, tokio::task::JoinError>;

/// Returns an error unless a payment was made, a limit was in its way, or a process before made it.
fn check(ended: Option<PaymentEnd>) -> Result<(), Box<dyn std::error::Error>> {
    match ended.transpose()? {
        None | Some(Ok(()) | Err(PaymentError::Limit(_) | PaymentError::Offer(_))) => Ok(()),
        Some(Err(error)) => Err(error.into()),
    }
}
