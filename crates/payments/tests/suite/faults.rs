//! Tests what goes wrong with nodes and chains. Each time the payment ends in the right state, and
//! money is never sent twice.

use std::time::Duration;

use lango_payments::{ChainError, PaymentError, PaymentState, Reconciliation, UsdcAmount};
use lango_store::DatabaseLocation;
use serde_json::json;

use crate::fixture::{Bench, RECIPIENT, pay, wallet};
use crate::relay::{Loss, Relay};
use lango_payments::testing::TestNode;

const SHORT_WAIT: Duration = Duration::from_millis(300);

pub(crate) async fn without_a_node_nothing_is_paid_and_nothing_counts(location: DatabaseLocation) {
    let mut bench = Bench::at(&location).await;
    bench.node.stop();
    let payment = bench.pay("1", "away").await.unwrap();
    assert_eq!(payment.state, PaymentState::Failed);
    assert!(payment.detail.unwrap().contains("cannot be reached"));
    assert_eq!(bench.spent_today().await, 0);
}

pub(crate) async fn a_transaction_that_never_arrived_is_sent_again_with_the_same_bytes(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    let (relay, url) =
        Relay::start(&bench.node.url(), "eth_sendRawTransaction", Loss::Request).await;
    let through = bench
        .open_again(|settings| {
            settings.network.rpc_url = url;
            settings.receipt_timeout = SHORT_WAIT;
        })
        .await;
    let payment = pay(&through, RECIPIENT, "1", "lost").await.unwrap();
    assert_eq!(payment.state, PaymentState::Unknown, "{:?}", payment.detail);
    assert_eq!((relay.forwarded_count(), bench.received().await), (0, 0));
    assert_eq!(bench.spent_today().await, 1_000_000, "an unknown outcome counts");

    relay.lose(Loss::Nothing);
    through.reconcile().await.unwrap();
    through.reconcile().await.unwrap();
    let settled = bench.present("lost").await;
    assert_eq!(settled.state, PaymentState::Confirmed, "{:?}", settled.detail);
    assert_eq!(settled.signed, payment.signed);
    assert_eq!((relay.forwarded_count(), bench.received().await), (1, 1_000_000));
}

pub(crate) async fn a_transaction_whose_answer_was_lost_is_found_and_not_sent_again(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    let (relay, url) =
        Relay::start(&bench.node.url(), "eth_sendRawTransaction", Loss::Answer).await;
    let through = bench.open_again(|settings| settings.network.rpc_url = url).await;
    let payment = pay(&through, RECIPIENT, "1", "unheard").await.unwrap();
    assert_eq!(payment.state, PaymentState::Confirmed, "{:?}", payment.detail);
    assert!(bench.states_of(&payment).await.contains(&PaymentState::Unknown));
    assert_eq!((relay.forwarded_count(), bench.received().await), (1, 1_000_000));
}

pub(crate) async fn a_transaction_that_is_stuck_is_unknown_until_a_block_has_it(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    let impatient = bench.open_again(|settings| settings.receipt_timeout = SHORT_WAIT).await;
    bench.node.set_mining(false).await;
    let stuck = pay(&impatient, RECIPIENT, "1", "stuck").await.unwrap();
    assert_eq!(stuck.state, PaymentState::Unknown);
    assert_eq!(bench.received().await, 0);
    // However often it is asked for: the same payment, and no second one.
    for _ in 0..3 {
        let again = pay(&impatient, RECIPIENT, "1", "stuck").await.unwrap();
        assert_eq!((again.id, &again.signed), (stuck.id, &stuck.signed));
        impatient.reconcile().await.unwrap();
    }
    bench.node.mine(1).await;
    impatient.reconcile().await.unwrap();
    assert_eq!(bench.present("stuck").await.state, PaymentState::Confirmed);
    assert_eq!(bench.received().await, 1_000_000);
}

pub(crate) async fn a_transaction_that_the_node_dropped_is_sent_again(location: DatabaseLocation) {
    let bench = Bench::at(&location).await;
    let impatient = bench.open_again(|settings| settings.receipt_timeout = SHORT_WAIT).await;
    bench.node.set_mining(false).await;
    let dropped = pay(&impatient, RECIPIENT, "1", "dropped").await.unwrap();
    // While its outcome is unknown, and after it was submitted again.
    for _ in 0..3 {
        bench.node.drop_transaction(dropped.transaction().unwrap()).await;
        impatient.reconcile().await.unwrap();
        assert_eq!(bench.present("dropped").await.state, PaymentState::Submitted);
    }
    bench.node.mine(1).await;
    impatient.reconcile().await.unwrap();
    assert_eq!(bench.present("dropped").await.state, PaymentState::Confirmed);
    assert_eq!(bench.received().await, 1_000_000);
}

pub(crate) async fn a_late_receipt_is_waited_for_within_the_limit(location: DatabaseLocation) {
    let bench = Bench::at(&location).await;
    bench.node.set_mining(false).await;
    let (payment, ()) = tokio::join!(bench.pay("1", "late"), async {
        // Once it is submitted, it takes its time.
        while !has_state(&bench, "late", PaymentState::Submitted).await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(SHORT_WAIT).await;
        bench.node.mine(1).await;
    });
    assert_eq!(payment.unwrap().state, PaymentState::Confirmed);
    assert_eq!(bench.received().await, 1_000_000);
}

pub(crate) async fn a_payment_of_a_block_that_vanished_is_made_again_by_the_same_transaction(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    let payment = bench.pay("1", "reorganised").await.unwrap();
    assert_eq!((payment.state, bench.received().await), (PaymentState::Confirmed, 1_000_000));
    bench.node.set_mining(false).await;
    bench.node.reorganise(1).await;
    assert_eq!(bench.received().await, 0, "the block did not vanish");

    let changed = bench.payments.reconcile().await.unwrap().changed;
    assert_eq!(changed.len(), 1);
    assert_eq!(bench.present("reorganised").await.state, PaymentState::Unknown);
    assert_eq!(bench.spent_today().await, 1_000_000);
    bench.payments.reconcile().await.unwrap();
    bench.node.mine(1).await;
    bench.payments.reconcile().await.unwrap();
    let again = bench.present("reorganised").await;
    assert_eq!(again.state, PaymentState::Confirmed, "{:?}", again.detail);
    assert_eq!(again.signed, payment.signed);
    assert_eq!(bench.received().await, 1_000_000);
}

pub(crate) async fn a_payment_is_confirmed_only_deep_enough(location: DatabaseLocation) {
    let bench = Bench::with(&location, TestNode::start().await, |settings| {
        settings.confirmations = 3;
        settings.receipt_timeout = SHORT_WAIT;
    })
    .await;
    assert_eq!(bench.pay("1", "deep").await.unwrap().state, PaymentState::Unknown);
    bench.node.mine(1).await;
    bench.payments.reconcile().await.unwrap();
    assert_eq!(bench.present("deep").await.state, PaymentState::Unknown);
    bench.node.mine(1).await;
    bench.payments.reconcile().await.unwrap();
    assert_eq!(bench.present("deep").await.state, PaymentState::Confirmed);
}

pub(crate) async fn a_number_that_another_program_took_ends_the_payment(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    let impatient = bench.open_again(|settings| settings.receipt_timeout = SHORT_WAIT).await;
    bench.node.set_mining(false).await;
    let ours = pay(&impatient, RECIPIENT, "1", "ours").await.unwrap();
    bench.node.drop_transaction(ours.transaction().unwrap()).await;
    // The same key in another program, with a ledger of its own.
    let directory = tempfile::tempdir().unwrap();
    let other_place = DatabaseLocation::Sqlite(directory.path().join("other.db"));
    let database = lango_store::Database::open(&other_place).await.unwrap();
    let settings = impatient.settings().clone();
    let other = lango_payments::Payments::open(database, settings, Some(wallet(&bench.key))).await;
    let theirs = pay(&other.unwrap(), RECIPIENT, "5", "theirs").await.unwrap();
    assert_eq!(theirs.state, PaymentState::Unknown, "it took another number");
    bench.node.mine(1).await;

    // Not yet: the other transaction could vanish, and this one come back.
    impatient.reconcile().await.unwrap();
    assert_eq!(bench.present("ours").await.state, PaymentState::Unknown);
    assert_eq!(bench.spent_today().await, 1_000_000);
    bench.node.mine(2).await;
    impatient.reconcile().await.unwrap();
    let ended = bench.present("ours").await;
    assert_eq!(ended.state, PaymentState::Failed);
    assert!(ended.detail.unwrap().contains("took its number"));
    assert_eq!((bench.received().await, bench.spent_today().await), (5_000_000, 0));
    bench.node.set_mining(true).await;
    assert_eq!(bench.pay("1", "next").await.unwrap().state, PaymentState::Confirmed);
}

pub(crate) async fn without_ether_for_the_fee_nothing_is_signed(location: DatabaseLocation) {
    let bench = Bench::at(&location).await;
    bench.node.set_ether(bench.address(), 1).await;
    let payment = bench.pay("1", "no gas").await.unwrap();
    assert_eq!((payment.state, payment.signed), (PaymentState::Failed, None));
    let detail = payment.detail.unwrap();
    assert!(detail.contains("for fees") || detail.contains("refused"), "{detail}");
    assert_eq!(bench.spent_today().await, 0);
}

pub(crate) async fn a_fee_above_the_approved_one_is_refused(location: DatabaseLocation) {
    let bench = Bench::with(&location, TestNode::start().await, |settings| {
        settings.max_fee = lango_payments::Wei(1000);
    })
    .await;
    let payment = bench.pay("1", "dear").await.unwrap();
    assert_eq!((payment.state, payment.signed), (PaymentState::Failed, None));
    assert!(payment.detail.unwrap().contains("at most 0.000000000000001 ETH were approved"));
}

pub(crate) async fn more_than_the_wallet_has_is_refused_before_it_is_signed(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    for number in 0..10 {
        bench.pay("99", &format!("payment {number}")).await.unwrap();
    }
    assert_eq!(bench.received().await, 990_000_000);
    // The limit of the day has room for it.
    let payment = bench.pay("10", "the last").await.unwrap();
    assert_eq!(payment.state, PaymentState::Confirmed, "{:?}", payment.detail);
    let larger = bench.open_again(|settings| {
        settings.limits.per_day = UsdcAmount::from_whole(5000);
        settings.limits.per_recipient = UsdcAmount::from_whole(5000);
    });
    let payment = pay(&larger.await, RECIPIENT, "1", "empty").await.unwrap();
    assert_eq!((payment.state, payment.signed), (PaymentState::Failed, None));
    assert!(payment.detail.unwrap().contains("the wallet has 0 USDC"));
}

pub(crate) async fn a_chain_that_restarts_goes_on_and_another_one_is_refused(
    location: DatabaseLocation,
) {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state.json");
    let node = TestNode::start_with_state(&state).await;
    let mut bench = Bench::with(&location, node, |_| ()).await;
    bench.pay("1", "before").await.unwrap();
    bench.node.restart(&["--state", state.to_str().unwrap()]);
    reconcile_after_restart(&bench).await.unwrap();
    assert_eq!(bench.present("before").await.state, PaymentState::Confirmed);
    assert_eq!(bench.pay("1", "after").await.unwrap().state, PaymentState::Confirmed);
    assert_eq!(bench.received().await, 2_000_000);

    // A chain of the same id that begins anew is another one, whatever it says.
    bench.node.restart(&["--timestamp", "1700000000"]);
    let error = reconcile_after_restart(&bench).await.unwrap_err();
    assert!(matches!(error, PaymentError::Chain(ChainError::OtherChain { .. })), "{error}");
    assert_eq!(bench.pay("1", "other_place").await.unwrap().state, PaymentState::Failed);
    assert_eq!(bench.present("before").await.state, PaymentState::Confirmed);
    bench.node.restart(&["--chain-id", "1"]);
    let error = reconcile_after_restart(&bench).await.unwrap_err();
    assert!(error.to_string().contains("is of chain 1, not of chain 31337"), "{error}");
}

pub(crate) async fn a_reservation_that_no_process_goes_on_with_is_given_up(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    let order = bench.payments.order_transfer(RECIPIENT, "1", "a test").unwrap();
    let limits = &bench.payments.settings().limits;
    let reserve = async |key: &str| {
        bench.payments.ledger().reserve(&order, &key.parse().unwrap(), limits).await.unwrap()
    };
    reserve("given up").await;
    assert_eq!(bench.spent_today().await, 1_000_000);
    bench.payments.reconcile().await.unwrap();
    assert_eq!(bench.present("given up").await.state, PaymentState::Failed);
    assert_eq!(bench.spent_today().await, 0);
    // With its key it can be gone on with instead.
    reserve("gone on with").await;
    let payment = bench.pay("1", "gone on with").await.unwrap();
    assert_eq!((payment.state, bench.received().await), (PaymentState::Confirmed, 1_000_000));
}

pub(crate) async fn a_payment_that_the_token_refuses_on_the_chain_fails(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    let impatient = bench.open_again(|settings| settings.receipt_timeout = SHORT_WAIT).await;
    bench.node.set_mining(false).await;
    let reverted = pay(&impatient, RECIPIENT, "1", "reverted").await.unwrap();
    assert_eq!(reverted.state, PaymentState::Unknown);
    // The money is gone before a block has the transaction.
    bench.node.set_units(bench.address(), 0).await;
    bench.node.mine(1).await;
    impatient.reconcile().await.unwrap();
    let ended = bench.present("reverted").await;
    assert_eq!(ended.state, PaymentState::Failed, "{:?}", ended.detail);
    let detail = ended.detail.unwrap();
    assert!(detail.contains("the token refused it; the fee was 0.0"), "{detail}");
    assert!(ended.place.unwrap().fee > lango_payments::Wei::ZERO, "the network takes its fee");
    assert_eq!((bench.received().await, bench.spent_today().await), (0, 0));
    // The same key does not pay again, not even with money.
    bench.node.set_units(bench.address(), 5_000_000).await;
    bench.node.set_mining(true).await;
    assert_eq!(bench.pay("1", "reverted").await.unwrap().state, PaymentState::Failed);
    assert_eq!(bench.pay("1", "another").await.unwrap().state, PaymentState::Confirmed);
    assert_eq!(bench.received().await, 1_000_000);
}

pub(crate) async fn ether_that_another_program_took_delays_a_payment_and_sends_none_twice(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    let impatient = bench.open_again(|settings| settings.receipt_timeout = SHORT_WAIT).await;
    bench.node.set_mining(false).await;
    let sent = pay(&impatient, RECIPIENT, "1", "poor").await.unwrap();
    assert_eq!(sent.state, PaymentState::Unknown);
    bench.node.set_ether(bench.address(), 1).await;
    bench.node.mine(2).await;
    for _ in 0..3 {
        impatient.reconcile().await.unwrap();
        let waiting = bench.present("poor").await;
        assert!(!waiting.state.is_settled(), "{:?}", waiting.detail);
        assert_eq!((waiting.signed, bench.received().await), (sent.signed.clone(), 0));
        assert_eq!(bench.spent_today().await, 1_000_000);
    }
    bench.node.set_ether(bench.address(), 1_000_000_000_000_000_000).await;
    impatient.reconcile().await.unwrap();
    bench.node.mine(1).await;
    impatient.reconcile().await.unwrap();
    let paid = bench.present("poor").await;
    assert_eq!(paid.state, PaymentState::Confirmed, "{:?}", paid.detail);
    assert_eq!((paid.signed, bench.received().await), (sent.signed, 1_000_000));
}

pub(crate) async fn a_node_that_ends_after_a_payment_was_sent_leaves_it_unknown(
    location: DatabaseLocation,
) {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state.json");
    let node = TestNode::start_with_state(&state).await;
    let mut bench = Bench::with(&location, node, |settings| {
        settings.receipt_timeout = SHORT_WAIT;
    })
    .await;
    bench.node.set_mining(false).await;
    let sent = bench.pay("1", "cut off").await.unwrap();
    assert_eq!(sent.state, PaymentState::Unknown);
    bench.node.stop();
    let error = bench.payments.reconcile().await.unwrap_err();
    assert!(matches!(error, PaymentError::Chain(ChainError::Unreachable { .. })), "{error}");
    assert_eq!(bench.present("cut off").await.state, PaymentState::Unknown);
    assert_eq!(bench.spent_today().await, 1_000_000);
    // It forgot what no block had.
    bench.node.restart(&["--state", state.to_str().unwrap()]);
    reconcile_after_restart(&bench).await.unwrap();
    bench.payments.reconcile().await.unwrap();
    let paid = bench.present("cut off").await;
    assert_eq!(paid.state, PaymentState::Confirmed, "{:?}", paid.detail);
    assert_eq!((paid.signed, bench.received().await), (sent.signed, 1_000_000));
}

pub(crate) async fn bytes_that_were_changed_are_not_sent_and_keep_no_other_payment_back(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    let impatient = bench.open_again(|settings| settings.receipt_timeout = SHORT_WAIT).await;
    bench.node.set_mining(false).await;
    let mut sent = Vec::new();
    for (amount, key) in [("1", "changed"), ("2", "donor"), ("3", "whole")] {
        let payment = pay(&impatient, RECIPIENT, amount, key).await.unwrap();
        assert_eq!(payment.state, PaymentState::Unknown);
        sent.push(payment);
    }
    for payment in &sent {
        bench.node.drop_transaction(payment.transaction().unwrap()).await;
    }
    // The bytes of another payment, signed by the wallet.
    let database = lango_store::Database::open(&location).await.unwrap();
    let sql = "UPDATE payments SET signed_bytes = \
               (SELECT signed_bytes FROM payments WHERE idempotency_key = 'donor') \
               WHERE idempotency_key = 'changed'";
    database.write(lango_store::Statement::new(sql).expect_rows(1).into()).await.unwrap();
    // A row that is no payment at all comes first of all.
    let sql = "UPDATE payments SET amount = 7, created_at = 0 WHERE idempotency_key = 'donor'";
    database.write(lango_store::Statement::new(sql).expect_rows(1).into()).await.unwrap();
    for state in [PaymentState::Unknown, PaymentState::Submitted] {
        // What was submitted and dropped is sent again by another way.
        let sql =
            format!("UPDATE payments SET state = '{state}' WHERE idempotency_key = 'changed'");
        database.write(lango_store::Statement::new(sql).expect_rows(1).into()).await.unwrap();
        let reconciled = impatient.reconcile().await.unwrap();
        assert_eq!(reconciled.problems.len(), 2, "{:?}", reconciled.problems);
        assert!(reconciled.problems[0].contains("cannot be read"), "{:?}", reconciled.problems);
        assert!(reconciled.problems[1].contains("is not of the order that was approved"));
        assert_eq!(bench.present("changed").await.state, state, "it counts as sent");
    }
    assert_eq!(bench.present("whole").await.state, PaymentState::Submitted);
    let pending = bench.node.call("eth_getTransactionByHash", json!([sent[1].transaction()])).await;
    assert!(pending.is_null(), "the bytes of another payment were sent: {pending}");
}

/// Looks at the chain. A connection of before a restart may end with an error first.
async fn reconcile_after_restart(bench: &Bench) -> Result<Reconciliation, PaymentError> {
    match bench.payments.reconcile().await {
        Err(PaymentError::Chain(ChainError::Unreachable { .. })) => {
            bench.payments.reconcile().await
        }
        looked_at => looked_at,
    }
}

async fn has_state(bench: &Bench, key: &str, state: PaymentState) -> bool {
    let found = bench.payments.ledger().find_by_key(&key.parse().unwrap()).await.unwrap();
    found.is_some_and(|payment| payment.state == state)
}
