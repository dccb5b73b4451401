//! Tests payments that go well, and those that must not be made.

use std::sync::Arc;

use futures_util::future::join_all;
use lango_payments::{
    ExternalSigner, LimitRefusal, PaymentDesk, PaymentError, PaymentState, Payments, UsdcAmount,
    Wallet, WalletSource,
};
use lango_store::testing::on_sqlite;
use lango_store::{Database, DatabaseLocation};

use crate::fixture::{Bench, MemoryKeys, OTHER_RECIPIENT, RECIPIENT, pay, settings};
use lango_payments::testing::TestNode;

async fn open_desk(location: &DatabaseLocation, node: &TestNode) -> PaymentDesk {
    let (keys, source) = (Arc::new(MemoryKeys::default()), WalletSource::KeyStore);
    let database = Database::open(location).await.unwrap();
    PaymentDesk::open(database, settings(node.network()), source, keys).await.unwrap()
}

pub(crate) async fn a_new_wallet_receives_and_pays(location: DatabaseLocation) {
    let node = TestNode::start().await;
    let desk = open_desk(&location, &node).await;
    let error = desk.payments().order_transfer(RECIPIENT, "2", "the dataset").unwrap_err();
    assert_eq!(error, PaymentError::NoWallet);
    let address = desk.create_wallet().await.unwrap();
    assert_eq!(open_desk(&location, &node).await.payments().wallet().unwrap().address(), address);
    let payments = desk.payments();
    assert_eq!(payments.read_balance().await.unwrap().usdc, UsdcAmount::ZERO);
    node.fund(address, 5).await;
    assert_eq!(payments.read_balance().await.unwrap().usdc, UsdcAmount::from_whole(5));

    let payment = pay(&payments, RECIPIENT, "2.000001", "first").await.unwrap();

    assert_eq!(payment.state, PaymentState::Confirmed, "{:?}", payment.detail);
    let place = payment.place.unwrap();
    assert!(place.fee.0 > 0 && place.fee <= payment.order.max_fee());
    assert!(node.has_succeeded(payment.transaction().unwrap()).await);
    assert_eq!(node.units_of(RECIPIENT.parse().unwrap()).await, 2_000_001);
    assert_eq!(payments.read_balance().await.unwrap().usdc.units(), 2_999_999);
    assert_eq!(payments.read_spending(None).await.unwrap().day.units(), 2_000_001);
    let listed = payments.list_latest(10).await.unwrap().payments;
    assert_eq!(listed, std::slice::from_ref(&payment));
    let changes = payments.ledger().list_changes(payment.id).await.unwrap();
    let states: Vec<_> = changes.iter().map(|change| change.state).collect();
    let names: Vec<_> = states.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["reserved", "signed", "submitted", "confirmed"]);
}

pub(crate) async fn a_wallet_is_created_once(location: DatabaseLocation) {
    let node = TestNode::start().await;
    let all = [
        open_desk(&location, &node).await,
        open_desk(&location, &node).await,
        open_desk(&location, &node).await,
    ];
    let created = join_all(all.iter().map(PaymentDesk::create_wallet)).await;
    let address = all[0].payments().wallet().unwrap().address();
    assert_eq!(created.iter().filter(|one| **one == Ok(address)).count(), 1);
    let refused = created.iter().filter(|one| **one == Err(PaymentError::WalletExists(address)));
    assert_eq!(refused.count(), 2);
}

pub(crate) async fn an_order_is_paid_once_however_often_it_is_sent(location: DatabaseLocation) {
    let bench = Bench::at(&location).await;
    let other = bench.open_again(|_| ()).await;
    let sends = (0..10).map(|number| {
        let payments = if number % 2 == 0 { &bench.payments } else { &other };
        pay(payments, RECIPIENT, "3", "the same")
    });
    let sent: Vec<_> = join_all(sends).await.into_iter().map(Result::unwrap).collect();
    assert!(sent.iter().all(|payment| payment.id == sent[0].id));
    let settled = bench.pay("3", "the same").await.unwrap();
    assert_eq!(settled.state, PaymentState::Confirmed, "{:?}", settled.detail);
    assert_eq!(bench.received().await, 3_000_000);

    for (to, amount) in [(RECIPIENT, "4"), (OTHER_RECIPIENT, "3")] {
        let error = pay(&bench.payments, to, amount, "the same").await.unwrap_err();
        assert!(matches!(error, PaymentError::KeyInUse { .. }), "{error}");
    }
    assert_eq!(bench.received().await, 3_000_000);
    assert_eq!(bench.spent_today().await, 3_000_000);
}

pub(crate) async fn fifty_sends_at_once_pass_no_limit(location: DatabaseLocation) {
    let day = UsdcAmount::from_whole(20);
    let bench =
        Bench::with(&location, TestNode::start().await, |settings| settings.limits.per_day = day)
            .await;
    let others = [bench.open_again(|_| ()).await, bench.open_again(|_| ()).await];
    let all = [&bench.payments, &others[0], &others[1]];
    let sends = (0..50).map(|number| {
        let payments = all[number % 3].clone();
        async move { pay(&payments, RECIPIENT, "1", &format!("payment {number}")).await }
    });
    let results = join_all(sends).await;
    let mut paid = 0;
    for result in &results {
        match result {
            Ok(payment) => {
                assert_eq!(payment.state, PaymentState::Confirmed, "{:?}", payment.detail);
                paid += 1;
            }
            Err(error) => {
                assert!(matches!(error, PaymentError::Limit(LimitRefusal::Day { .. })), "{error}");
            }
        }
    }
    assert_eq!(paid, 20);
    assert_eq!(bench.received().await, day.units());
    assert_eq!(bench.spent_today().await, day.units());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_limit_is_checked_before_anything_is_reserved() {
    on_sqlite(|location| async move {
        let bench = Bench::with(&location, TestNode::start().await, |settings| {
            settings.limits.per_payment = UsdcAmount::from_whole(5);
            settings.limits.per_recipient = UsdcAmount::from_whole(8);
            settings.limits.per_day = UsdcAmount::from_whole(10);
        })
        .await;
        let refusal = async |payments: &Payments, to: &str, amount: &str, key: &str| match pay(
            payments, to, amount, key,
        )
        .await
        .unwrap_err()
        {
            PaymentError::Limit(refusal) => refusal,
            other => panic!("{other}"),
        };
        let first = refusal(&bench.payments, RECIPIENT, "5.000001", "a").await;
        assert!(matches!(first, LimitRefusal::Payment { .. }), "{first}");
        bench.pay("5", "b").await.unwrap();
        let second = refusal(&bench.payments, RECIPIENT, "3.000001", "c").await;
        assert!(matches!(second, LimitRefusal::Recipient { .. }), "{second}");
        bench.pay("3", "d").await.unwrap();
        let third = refusal(&bench.payments, OTHER_RECIPIENT, "2.000001", "e").await;
        assert!(matches!(third, LimitRefusal::Day { .. }), "{third}");
        let listed = bench
            .open_again(|settings| {
                settings.limits.allowed_recipients = vec![RECIPIENT.parse().unwrap()];
            })
            .await;
        let fourth = refusal(&listed, OTHER_RECIPIENT, "1", "f").await;
        assert!(matches!(fourth, LimitRefusal::NotAllowed { .. }), "{fourth}");
        assert_eq!(bench.spent_today().await, 8_000_000);
        pay(&bench.payments, OTHER_RECIPIENT, "2", "g").await.unwrap();
        assert_eq!(bench.received().await, 8_000_000);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wallet_that_is_watched_pays_nothing() {
    on_sqlite(|location| async move {
        let bench = Bench::at(&location).await;
        let watched = bench.payments.clone().with_wallet(Wallet::watch_only(bench.address()));
        assert_eq!(watched.read_balance().await.unwrap().usdc, UsdcAmount::from_whole(1000));
        let error = pay(&watched, RECIPIENT, "1", "watched").await.unwrap_err();
        assert_eq!(error, PaymentError::WatchOnly(bench.address()));
        assert_eq!(bench.spent_today().await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_external_signer_signs_exactly_the_order() {
    on_sqlite(|location| async move {
        let bench = Bench::at(&location).await;
        let account = TestNode::rich_account();
        bench.node.fund(account, 10).await;
        let signer = ExternalSigner::new(account, &bench.node.url()).unwrap();
        let payments = bench.payments.clone().with_wallet(Wallet::with_signer(Arc::new(signer)));
        let payment = pay(&payments, RECIPIENT, "1", "external").await.unwrap();
        assert_eq!(payment.state, PaymentState::Confirmed, "{:?}", payment.detail);
        assert_eq!(bench.received().await, 1_000_000);

        // The signer has no key of this account.
        let signer = ExternalSigner::new(bench.address(), &bench.node.url()).unwrap();
        let payments = bench.payments.clone().with_wallet(Wallet::with_signer(Arc::new(signer)));
        let payment = pay(&payments, RECIPIENT, "1", "not its own").await.unwrap();
        assert_eq!(payment.state, PaymentState::Failed);
        assert!(payment.detail.unwrap().contains("did not sign"));
        assert_eq!(bench.spent_today().await, 1_000_000);
    })
    .await;
}
