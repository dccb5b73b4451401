//! Tests processes that are killed at random points while they pay.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lango_payments::{PaymentState, hex};
use lango_store::DatabaseLocation;

use crate::fixture::{Bench, RECIPIENT};
use lango_payments::testing::{CHAIN_ID, Shop, Terms};
use serde_json::json;

/// Sets the number of kills, unless the variable says otherwise.
const KILLS: u64 = 100;
const KILLS_VARIABLE: &str = "LANGO_TEST_PAYMENT_KILLS";
/// Sets the number of payments of one round of a process.
const PAYMENTS_OF_A_ROUND: u64 = 4;
const UNITS: u64 = 10_000;
/// Sets a limit that no test reaches.
const NO_LIMIT: u64 = 1_000_000_000;

/// Processes that pay from one wallet.
struct Workers {
    bench: Bench,
    database: String,
    /// The limit of a day, in units.
    per_day: u64,
    /// The account that is paid, or the page that is paid for.
    recipient: String,
    /// The payments that a process makes at once.
    at_once: usize,
}

impl Workers {
    async fn at(location: &DatabaseLocation, per_day: u64) -> Self {
        let database = match location {
            DatabaseLocation::Sqlite(path) => path.display().to_string(),
            DatabaseLocation::Postgres(url) => url.clone(),
        };
        let (bench, recipient) = (Bench::at(location).await, RECIPIENT.to_owned());
        Self { bench, database, per_day, recipient, at_once: 1 }
    }

    /// Starts a process that makes the payments of these numbers.
    fn start(&self, name: &str, first: u64, end: u64) -> Child {
        let node = &self.bench.node;
        let (url, token) = (node.url(), node.token.to_string());
        let (key, chain) = (hex::encode(self.bench.key), CHAIN_ID.to_string());
        let (first, end) = (first.to_string(), end.to_string());
        let (per_day, at_once) = (self.per_day.to_string(), self.at_once.to_string());
        let arguments = [
            self.database.as_str(),
            &url,
            &chain,
            &token,
            &key,
            &self.recipient,
            name,
            &first,
            &end,
            &per_day,
            &at_once,
        ];
        Command::new(env!("CARGO_BIN_EXE_lango-payments-worker"))
            .args(arguments)
            .stdin(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Tells whether a payment was interrupted.
    async fn has_open_payment(&self) -> bool {
        let is_open = |state| !matches!(state, PaymentState::Confirmed | PaymentState::Failed);
        let payments = self.bench.payments.list_latest(u32::MAX).await.unwrap().payments;
        payments.iter().any(|payment| is_open(payment.state))
    }
}

/// Waits for a process while the shop answers it, and tells whether it succeeded.
async fn finishes(mut child: Child) -> bool {
    tokio::task::spawn_blocking(move || child.wait().unwrap().success()).await.unwrap()
}

/// Kills a process unless it has ended, and tells whether it was killed.
fn kill(mut child: Child) -> bool {
    if let Some(status) = child.try_wait().unwrap() {
        assert!(status.success());
        return false;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

pub(crate) async fn a_process_that_is_killed_while_it_pays_pays_everything_once(
    location: DatabaseLocation,
) {
    let kills = std::env::var(KILLS_VARIABLE).map_or(KILLS, |text| text.parse().unwrap());
    let workers = Workers::at(&location, NO_LIMIT).await;
    let run = |first: u64, end: u64| workers.start("payment", first, end);
    // The time of a round that is not disturbed: kills are spread over all of it.
    let started = Instant::now();
    assert!(run(0, PAYMENTS_OF_A_ROUND).wait().unwrap().success());
    let undisturbed = started.elapsed().max(Duration::from_millis(40));
    let (mut count, mut killed, mut round) = (PAYMENTS_OF_A_ROUND, 0, 0_u64);
    let mut interrupted = 0;
    while killed < kills {
        // What the round before did not come to is begun once more, beside what is new.
        let first = count - PAYMENTS_OF_A_ROUND;
        count += PAYMENTS_OF_A_ROUND;
        let child = run(first, count);
        // Steps that are coprime to the number of parts reach every part of the round.
        let part = u32::try_from(round * 617 % 1000).unwrap();
        tokio::time::sleep(undisturbed * part / 1000).await;
        round += 1;
        assert!(round < kills * 4, "it is never killed while it works");
        if kill(child) {
            killed += 1;
            interrupted += u64::from(workers.has_open_payment().await);
        }
    }
    assert!(interrupted * 10 > kills, "{interrupted} of {kills} kills interrupted a payment");
    assert!(run(0, count).wait().unwrap().success());

    let bench = &workers.bench;
    let payments = bench.payments.list_latest(u32::MAX).await.unwrap().payments;
    assert_eq!(payments.len() as u64, count, "{killed} kills");
    for payment in &payments {
        assert_eq!(payment.state, PaymentState::Confirmed, "{:?}", payment.detail);
    }
    assert_eq!(bench.received().await, count * UNITS, "{killed} kills");
    assert_eq!(bench.spent_today().await, count * UNITS);
}

pub(crate) async fn two_processes_that_are_killed_pass_no_limit_together(
    location: DatabaseLocation,
) {
    const ROUNDS: u64 = 20;
    const ALLOWED: u64 = 30;
    let workers = Workers::at(&location, ALLOWED * UNITS).await;
    let mut interrupted = 0;
    for round in 0..ROUNDS {
        // Each round has names of its own, and those of the rounds before are begun once more.
        let end = (round + 1) * 2;
        let both = ["one", "two"].map(|name| workers.start(name, 0, end));
        tokio::time::sleep(Duration::from_millis(40 + round * 617 % 400)).await;
        for child in both {
            kill(child);
        }
        interrupted += u64::from(workers.has_open_payment().await);
        let received = workers.bench.received().await;
        assert!(received <= ALLOWED * UNITS, "{received} units in round {round}");
    }
    assert!(interrupted > 0, "no kill interrupted a payment");
    for name in ["one", "two"] {
        assert!(workers.start(name, 0, ROUNDS * 2).wait().unwrap().success());
    }
    // There is more to pay than the limit allows: it is used up, and not passed.
    assert_eq!(workers.bench.received().await, ALLOWED * UNITS);
    let payments = workers.bench.payments.list_latest(u32::MAX).await.unwrap().payments;
    assert_eq!(payments.len() as u64, ALLOWED);
    for payment in &payments {
        assert_eq!(payment.state, PaymentState::Confirmed, "{:?}", payment.detail);
    }
}

pub(crate) async fn a_process_that_is_killed_with_fifty_payments_at_once_passes_no_limit(
    location: DatabaseLocation,
) {
    const ROUNDS: u64 = 15;
    const ALLOWED: u64 = 40;
    let mut workers = Workers::at(&location, ALLOWED * UNITS).await;
    workers.at_once = 50;
    let mut interrupted = 0;
    for round in 0..ROUNDS {
        // The payments of the rounds before are begun once more, beside new ones.
        let child = workers.start("payment", round * 2, round * 2 + 50);
        tokio::time::sleep(Duration::from_millis(30 + round * 617 % 500)).await;
        kill(child);
        interrupted += u64::from(workers.has_open_payment().await);
        let received = workers.bench.received().await;
        assert!(received <= ALLOWED * UNITS, "{received} units in round {round}");
    }
    assert!(interrupted > 0, "no kill interrupted a payment");
    assert!(workers.start("payment", 0, ROUNDS * 2 + 50).wait().unwrap().success());
    assert_eq!(workers.bench.received().await, ALLOWED * UNITS);
    let payments = workers.bench.payments.list_latest(u32::MAX).await.unwrap().payments;
    let confirmed = payments.iter().filter(|payment| payment.state == PaymentState::Confirmed);
    assert_eq!(confirmed.count() as u64, ALLOWED);
    assert!(payments.iter().all(|payment| payment.state.is_settled()), "{payments:?}");
}

pub(crate) async fn a_process_that_is_killed_while_it_pays_for_pages_pays_none_twice(
    location: DatabaseLocation,
) {
    const KILLED: u64 = 30;
    let mut workers = Workers::at(&location, NO_LIMIT).await;
    let mut terms = Terms::of(&workers.bench.node, 2, RECIPIENT);
    terms.units = UNITS.to_string();
    let shop = Shop::open(&workers.bench.node, terms).await;
    workers.recipient = shop.url().to_owned();
    let started = Instant::now();
    assert!(finishes(workers.start("page", 0, PAYMENTS_OF_A_ROUND)).await);
    let undisturbed = started.elapsed().max(Duration::from_millis(40));
    let (mut count, mut killed, mut round, mut interrupted) = (PAYMENTS_OF_A_ROUND, 0, 0_u64, 0);
    while killed < KILLED {
        let first = count - PAYMENTS_OF_A_ROUND;
        count += PAYMENTS_OF_A_ROUND;
        let child = workers.start("page", first, count);
        let part = u32::try_from(round * 617 % 1000).unwrap();
        tokio::time::sleep(undisturbed * part / 1000).await;
        round += 1;
        assert!(round < KILLED * 4, "it is never killed while it works");
        if kill(child) {
            killed += 1;
            interrupted += u64::from(workers.has_open_payment().await);
        }
    }
    assert!(interrupted > 0, "no kill interrupted a payment");
    assert!(finishes(workers.start("page", 0, count)).await);
    // What the shop did not get, or did not redeem, can never be redeemed after its end.
    let bench = &workers.bench;
    bench.node.call("evm_increaseTime", json!([3600])).await;
    bench.node.mine(5).await;
    bench.payments.reconcile().await.unwrap();
    let payments = bench.payments.list_latest(u32::MAX).await.unwrap().payments;
    assert_eq!(payments.len() as u64, count, "each page has one payment");
    assert!(payments.iter().all(|payment| payment.state.is_settled()), "{payments:?}");
    let paid = payments.iter().filter(|payment| payment.state == PaymentState::Confirmed);
    let paid = paid.count() as u64;
    assert!(paid >= count / 2, "{paid} of {count}");
    assert_eq!(bench.received().await, paid * UNITS);
    let mut nonces: Vec<String> = shop
        .presented()
        .iter()
        .map(|payment| payment["payload"]["authorization"]["nonce"].to_string())
        .collect();
    let presented = nonces.len();
    nonces.sort();
    nonces.dedup();
    assert_eq!(nonces.len(), presented, "an authorization was presented twice");
}
