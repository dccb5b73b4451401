//! Provides payments with a wallet that has money.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lango_payments::{
    AccountAddress, IdempotencyKey, KeyFuture, KeySigner, Network, Payment, PaymentError,
    PaymentLimits, PaymentOrder, PaymentSettings, PaymentState, Payments, SignerError, UsdcAmount,
    Wallet, WalletKey, WalletKeyStore, Wei,
};
use lango_store::{Database, DatabaseLocation};
use tokio_util::sync::CancellationToken;

use lango_payments::testing::TestNode;

pub(crate) const RECIPIENT: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
pub(crate) const OTHER_RECIPIENT: &str = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";

pub(crate) fn recipient() -> AccountAddress {
    RECIPIENT.parse().unwrap()
}

/// Generous limits, and short waits.
pub(crate) fn settings(network: Network) -> PaymentSettings {
    PaymentSettings {
        limits: PaymentLimits {
            per_payment: UsdcAmount::from_whole(100),
            per_day: UsdcAmount::from_whole(1000),
            per_recipient: UsdcAmount::from_whole(1000),
            ..PaymentLimits::default()
        },
        max_fee: Wei(u128::from(u64::MAX)),
        confirmations: 1,
        replacement_depth: 2,
        receipt_timeout: Duration::from_secs(20),
        poll_interval: Duration::from_millis(10),
        reservation_timeout: Duration::ZERO,
        ..PaymentSettings::of(network)
    }
}

/// A node and a wallet with 1,000 USDC.
pub(crate) struct Bench {
    pub(crate) node: TestNode,
    pub(crate) payments: Payments,
    pub(crate) location: DatabaseLocation,
    pub(crate) key: [u8; 32],
}

impl Bench {
    pub(crate) async fn at(location: &DatabaseLocation) -> Self {
        Self::with(location, TestNode::start().await, |_| ()).await
    }

    pub(crate) async fn with(
        location: &DatabaseLocation,
        node: TestNode,
        change: impl FnOnce(&mut PaymentSettings),
    ) -> Self {
        let key = *WalletKey::generate().unwrap().to_bytes();
        let mut settings = settings(node.network());
        change(&mut settings);
        let database = Database::open(location).await.unwrap();
        let wallet = wallet(&key);
        node.fund(wallet.address(), 1000).await;
        let payments = Payments::open(database, settings, Some(wallet)).await.unwrap();
        Self { node, payments, location: location.clone(), key }
    }

    /// Opens the same wallet and ledger as another process would.
    pub(crate) async fn open_again(&self, change: impl FnOnce(&mut PaymentSettings)) -> Payments {
        let mut settings = self.payments.settings().clone();
        change(&mut settings);
        let database = Database::open(&self.location).await.unwrap();
        Payments::open(database, settings, Some(wallet(&self.key))).await.unwrap()
    }

    pub(crate) fn address(&self) -> AccountAddress {
        self.payments.wallet().unwrap().address()
    }

    pub(crate) async fn pay(&self, amount: &str, key: &str) -> Result<Payment, PaymentError> {
        pay(&self.payments, RECIPIENT, amount, key).await
    }

    /// Returns the millionths of USDC that the recipient has.
    pub(crate) async fn received(&self) -> u64 {
        self.node.units_of(recipient()).await
    }

    pub(crate) async fn states_of(&self, payment: &Payment) -> Vec<PaymentState> {
        let changes = self.payments.ledger().list_changes(payment.id).await.unwrap();
        changes.into_iter().map(|change| change.state).collect()
    }

    pub(crate) async fn spent_today(&self) -> u64 {
        self.payments.read_spending(None).await.unwrap().day.units()
    }

    /// Returns the payment of a key as it is now.
    pub(crate) async fn present(&self, key: &str) -> Payment {
        self.payments.ledger().find_by_key(&key.parse().unwrap()).await.unwrap().unwrap()
    }
}

pub(crate) fn wallet(key: &[u8; 32]) -> Wallet {
    Wallet::with_signer(Arc::new(KeySigner::new(WalletKey::from_bytes(key).unwrap())))
}

pub(crate) async fn pay(
    payments: &Payments,
    to: &str,
    amount: &str,
    key: &str,
) -> Result<Payment, PaymentError> {
    let order = payments.order_transfer(to, amount, "a test")?;
    payments.send(&order, &key.parse()?, &CancellationToken::new()).await
}

/// Makes an order without a node.
pub(crate) fn order(to: &str, units: u64) -> PaymentOrder {
    order_on(&Network::base_sepolia(), to, units)
}

pub(crate) fn order_on(network: &Network, to: &str, units: u64) -> PaymentOrder {
    let parts = lango_payments::OrderParts {
        method: lango_payments::PaymentMethod::Transfer,
        from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8".parse().unwrap(),
        to: to.parse().unwrap(),
        amount: UsdcAmount::from_units(units).unwrap(),
        max_fee: Wei(1),
        purpose: "a test",
    };
    PaymentOrder::new(network, parts).unwrap()
}

pub(crate) fn key(text: &str) -> IdempotencyKey {
    text.parse().unwrap()
}

/// Keeps keys in memory.
#[derive(Default)]
pub(crate) struct MemoryKeys {
    keys: Mutex<HashMap<AccountAddress, [u8; 32]>>,
}

impl WalletKeyStore for MemoryKeys {
    fn load(&self, address: AccountAddress) -> KeyFuture<'_, WalletKey> {
        let found = self.keys.lock().unwrap().get(&address).copied();
        Box::pin(async move {
            let bytes = found.ok_or_else(|| SignerError::Key("the vault is locked".to_owned()))?;
            WalletKey::from_bytes(&bytes)
        })
    }

    fn store<'a>(&'a self, key: &'a WalletKey) -> KeyFuture<'a, ()> {
        self.keys.lock().unwrap().insert(key.address(), *key.to_bytes());
        Box::pin(async { Ok(()) })
    }
}
