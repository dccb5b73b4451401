//! Tests a process that is killed at random points while it pays.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lango_payments::{PaymentState, hex};
use lango_store::DatabaseLocation;

use crate::fixture::{Bench, RECIPIENT};
use lango_payments::testing::CHAIN_ID;

/// Sets the number of kills, unless the variable says otherwise.
const KILLS: u64 = 100;
const KILLS_VARIABLE: &str = "LANGO_TEST_PAYMENT_KILLS";
/// Sets the number of payments of one round of a process.
const PAYMENTS_OF_A_ROUND: u64 = 4;
const UNITS: u64 = 10_000;

pub(crate) async fn a_process_that_is_killed_while_it_pays_pays_everything_once(
    location: DatabaseLocation,
) {
    let kills = std::env::var(KILLS_VARIABLE).map_or(KILLS, |text| text.parse().unwrap());
    let bench = Bench::at(&location).await;
    let database = match &location {
        DatabaseLocation::Sqlite(path) => path.display().to_string(),
        DatabaseLocation::Postgres(url) => url.clone(),
    };
    let (url, token) = (bench.node.url(), bench.node.token.to_string());
    let (key, chain) = (hex::encode(bench.key), CHAIN_ID.to_string());
    let run = |first: u64, end: u64| {
        let (first, end) = (first.to_string(), end.to_string());
        Command::new(env!("CARGO_BIN_EXE_lango-payments-worker"))
            .args([&database, &url, &chain, &token, &key, RECIPIENT, &first, &end])
            .stdin(Stdio::null())
            .spawn()
            .unwrap()
    };
    // The time of a round that is not disturbed: kills are spread over all of it.
    let started = Instant::now();
    assert!(run(0, PAYMENTS_OF_A_ROUND).wait().unwrap().success());
    let undisturbed = started.elapsed().max(Duration::from_millis(40));
    let (mut count, mut killed, mut round) = (PAYMENTS_OF_A_ROUND, 0, 0_u64);
    while killed < kills {
        // What the round before did not come to is begun once more, beside what is new.
        let first = count - PAYMENTS_OF_A_ROUND;
        count += PAYMENTS_OF_A_ROUND;
        let mut child = run(first, count);
        // Steps that are coprime to the number of parts reach every part of the round.
        let part = u32::try_from(round * 617 % 1000).unwrap();
        tokio::time::sleep(undisturbed * part / 1000).await;
        round += 1;
        assert!(round < kills * 4, "it is never killed while it works");
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
    }
    assert!(run(0, count).wait().unwrap().success());

    let payments = bench.payments.list_latest(u32::MAX).await.unwrap();
    assert_eq!(payments.len() as u64, count, "{killed} kills");
    for payment in &payments {
        assert_eq!(payment.state, PaymentState::Confirmed, "{:?}", payment.detail);
    }
    assert_eq!(bench.received().await, count * UNITS, "{killed} kills");
    assert_eq!(bench.spent_today().await, count * UNITS);
}
