//! Tests the ledger without a chain.

use lango_payments::{
    B256, Change, Ledger, LimitRefusal, PaymentError, PaymentLimits, PaymentState, SignedPayment,
    UsdcAmount,
};
use lango_store::{Database, DatabaseLocation, Statement};

use crate::fixture::{OTHER_RECIPIENT, RECIPIENT, key, order};

fn limits(day: u32, recipient: u32) -> PaymentLimits {
    PaymentLimits {
        per_day: UsdcAmount::from_whole(day),
        per_recipient: UsdcAmount::from_whole(recipient),
        ..PaymentLimits::default()
    }
}

fn signed(nonce: u64) -> SignedPayment {
    SignedPayment::Transfer { nonce, hash: B256::repeat_byte(7), raw: vec![1, 2, 3] }
}

async fn open(location: &DatabaseLocation) -> Ledger {
    Ledger::open(Database::open(location).await.unwrap()).await.unwrap()
}

pub(crate) async fn a_key_is_one_payment(location: DatabaseLocation) {
    let (ledger, limits) = (open(&location).await, limits(10, 10));
    let order_of_one = order(RECIPIENT, 1_000_000);
    let first = ledger.reserve(&order_of_one, &key("k"), &limits).await.unwrap();
    let again = ledger.reserve(&order_of_one, &key("k"), &limits).await.unwrap();
    assert_eq!(first, again);
    for other in [order(RECIPIENT, 1_000_001), order(OTHER_RECIPIENT, 1_000_000)] {
        let error = ledger.reserve(&other, &key("k"), &limits).await.unwrap_err();
        assert!(matches!(error, PaymentError::KeyInUse { .. }), "{error}");
    }
    assert_eq!(ledger.list_latest(10).await.unwrap().payments, [first]);
}

pub(crate) async fn limits_count_what_is_reserved_paid_or_unknown(location: DatabaseLocation) {
    let (ledger, limits) = (open(&location).await, limits(3, 2));
    let one = order(RECIPIENT, 1_000_000);
    let first = ledger.reserve(&one, &key("a"), &limits).await.unwrap();
    let second = ledger.reserve(&one, &key("b"), &limits).await.unwrap();
    let refusal = async |to: &str, name: &str| match ledger
        .reserve(&order(to, 1_000_000), &key(name), &limits)
        .await
        .unwrap_err()
    {
        PaymentError::Limit(refusal) => refusal,
        other => panic!("{other}"),
    };
    assert!(matches!(refusal(RECIPIENT, "c").await, LimitRefusal::Recipient { .. }));
    // Signed, submitted, unknown and confirmed count as before.
    let mut payment = ledger.record_signed(&first, signed(0)).await.unwrap().unwrap();
    for state in [PaymentState::Submitted, PaymentState::Unknown, PaymentState::Confirmed] {
        payment = ledger.advance(&payment, state, Change::default()).await.unwrap().unwrap();
        assert!(matches!(refusal(RECIPIENT, "d").await, LimitRefusal::Recipient { .. }));
    }
    // What failed does not.
    ledger.advance(&second, PaymentState::Failed, Change::default()).await.unwrap().unwrap();
    ledger.reserve(&one, &key("e"), &limits).await.unwrap();
    ledger.reserve(&order(OTHER_RECIPIENT, 1_000_000), &key("f"), &limits).await.unwrap();
    assert!(matches!(refusal(OTHER_RECIPIENT, "g").await, LimitRefusal::Day { .. }));
}

pub(crate) async fn of_two_processes_one_goes_on_with_a_payment(location: DatabaseLocation) {
    let (one, other) = (open(&location).await, open(&location).await);
    let limits = limits(10, 10);
    let reserved = one.reserve(&order(RECIPIENT, 1), &key("k"), &limits).await.unwrap();
    let seen = other.find(reserved.id).await.unwrap().unwrap();
    let won = one.record_signed(&reserved, signed(0)).await.unwrap();
    assert!(won.is_some());
    let lost = other.advance(&seen, PaymentState::Failed, Change::default()).await.unwrap();
    assert_eq!(lost, None);
    assert_eq!(other.record_signed(&seen, signed(1)).await.unwrap(), None);
    assert_eq!(other.find(reserved.id).await.unwrap(), won);
    let states: Vec<_> =
        one.list_changes(reserved.id).await.unwrap().into_iter().map(|c| c.state).collect();
    assert_eq!(states, [PaymentState::Reserved, PaymentState::Signed]);
    // No step leads backwards, and none from nothing signed to something sent.
    let signed = won.unwrap();
    let error = one.advance(&signed, PaymentState::Reserved, Change::default()).await.unwrap_err();
    assert!(matches!(error, PaymentError::Defect(_)), "{error}");
    let error = one.advance(&reserved, PaymentState::Submitted, Change::default()).await;
    assert!(matches!(error.unwrap_err(), PaymentError::Defect(_)));
}

pub(crate) async fn a_number_of_an_account_is_held_by_one_payment(location: DatabaseLocation) {
    let (ledger, limits) = (open(&location).await, limits(10, 10));
    let first = ledger.reserve(&order(RECIPIENT, 1), &key("a"), &limits).await.unwrap();
    let second = ledger.reserve(&order(RECIPIENT, 2), &key("b"), &limits).await.unwrap();
    let first = ledger.record_signed(&first, signed(4)).await.unwrap().unwrap();
    assert_eq!(ledger.record_signed(&second, signed(4)).await.unwrap(), None);
    assert_eq!(ledger.find(second.id).await.unwrap().unwrap(), second, "nothing was written");
    // The chain said that the first one can never happen.
    ledger.advance(&first, PaymentState::Failed, Change::default()).await.unwrap().unwrap();
    assert!(ledger.record_signed(&second, signed(4)).await.unwrap().is_some());
}

pub(crate) async fn a_row_that_was_changed_is_refused(location: DatabaseLocation) {
    let (ledger, limits) = (open(&location).await, limits(10, 10));
    let database = Database::open(&location).await.unwrap();
    for (number, change) in [
        "amount = 1",
        "recipient = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'",
        "order_text = replace(order_text, '\"1000000\"', '\"9000000\"')",
        "order_digest = 'abc'",
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("payment {number}");
        let payment =
            ledger.reserve(&order(RECIPIENT, 1_000_000), &key(&name), &limits).await.unwrap();
        let sql = format!("UPDATE payments SET {change} WHERE id = $1");
        let update = Statement::new(sql).bind(payment.id.to_string()).expect_rows(1);
        database.write(update.into()).await.unwrap();
        let error = ledger.find(payment.id).await.unwrap_err();
        assert!(matches!(error, PaymentError::Store(_)), "{change}: {error}");
    }
}

pub(crate) async fn an_open_payment_counts_however_old_it_is(location: DatabaseLocation) {
    let (ledger, limits) = (open(&location).await, limits(3, 3));
    let database = Database::open(&location).await.unwrap();
    let two = order(RECIPIENT, 2_000_000);
    let reserved = ledger.reserve(&two, &key("old"), &limits).await.unwrap();
    let signed = ledger.record_signed(&reserved, signed(0)).await.unwrap().unwrap();
    let unknown = ledger.advance(&signed, PaymentState::Unknown, Change::default()).await.unwrap();
    let make_older = async || {
        let sql = "UPDATE payments SET created_at = created_at - $1, updated_at = updated_at - $1";
        let older = Statement::new(sql).bind(25 * 60 * 60 * 1_000_000_i64);
        database.write(older.into()).await.unwrap();
    };
    let spent = async || {
        let spending = ledger.read_spending(two.chain_id(), Some(two.to())).await.unwrap();
        (spending.day.units(), spending.to_recipient.units())
    };
    make_older().await;
    assert_eq!(spent().await, (2_000_000, 2_000_000), "it can still be paid");
    let error = ledger.reserve(&two, &key("too much"), &limits).await.unwrap_err();
    assert!(matches!(error, PaymentError::Limit(LimitRefusal::Day { .. })), "{error}");
    // It is paid now, and so counts for a day from now on.
    let paid = Change::default();
    ledger.advance(&unknown.unwrap(), PaymentState::Confirmed, paid).await.unwrap().unwrap();
    assert_eq!(spent().await, (2_000_000, 2_000_000), "it was paid today");
    make_older().await;
    assert_eq!(spent().await, (0, 0));
    ledger.reserve(&two, &key("the next day"), &limits).await.unwrap();
}

pub(crate) async fn a_row_that_was_changed_keeps_no_other_from_being_listed(
    location: DatabaseLocation,
) {
    let (ledger, limits) = (open(&location).await, limits(10, 10));
    let database = Database::open(&location).await.unwrap();
    let mut payments = Vec::new();
    for name in ["first", "changed", "last"] {
        let order = order(RECIPIENT, 1_000_000);
        payments.push(ledger.reserve(&order, &key(name), &limits).await.unwrap());
    }
    let update = Statement::new("UPDATE payments SET amount = 1 WHERE id = $1")
        .bind(payments[1].id.to_string());
    database.write(update.expect_rows(1).into()).await.unwrap();
    let listed = ledger.list_latest(10).await.unwrap();
    let ids: Vec<_> = listed.payments.iter().map(|payment| payment.id).collect();
    assert_eq!(ids, [payments[2].id, payments[0].id]);
    assert_eq!(listed.damaged.len(), 1);
    assert_eq!(listed.damaged[0].id, payments[1].id.to_string());
    assert!(listed.damaged[0].to_string().contains("does not fit its order"), "{listed:?}");
}
