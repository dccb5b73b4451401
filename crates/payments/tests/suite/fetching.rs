//! Tests pages that cost money.

use lango_egress::{Guard, Rules};
use lango_payments::{
    FetchOutcome, LimitRefusal, Offer, OfferError, PaidPage, PaymentError, PaymentMethod,
    PaymentState, Payments, UsdcAmount,
};
use lango_store::DatabaseLocation;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Bench, OTHER_RECIPIENT, RECIPIENT};
use lango_payments::testing::{Shop, Terms, TestNode};

type TermsChange = fn(&mut Terms);

fn guard() -> Guard {
    Guard::new(Rules::parse(&["127.0.0.1".to_owned()], &[], &[]).unwrap())
}

async fn open_shop(bench: &Bench, version: u32) -> Shop {
    Shop::open(&bench.node, Terms::of(&bench.node, version, RECIPIENT)).await
}

async fn read_price(payments: &Payments, shop: &Shop) -> Result<Offer, PaymentError> {
    match payments.fetch(&guard(), shop.url()).await? {
        FetchOutcome::Price(offer) => Ok(*offer),
        FetchOutcome::Page(page) => panic!("{page:?}"),
    }
}

async fn buy(payments: &Payments, offer: &Offer, key: &str) -> Result<PaidPage, PaymentError> {
    let cancel = CancellationToken::new();
    payments.fetch_paid(&guard(), offer, &key.parse().unwrap(), &cancel).await
}

pub(crate) async fn a_page_is_paid_once_and_read(location: DatabaseLocation) {
    let bench = Bench::at(&location).await;
    for version in [1, 2] {
        let shop = open_shop(&bench, version).await;
        let before = bench.received().await;
        let offer = read_price(&bench.payments, &shop).await.unwrap();
        assert_eq!(offer.order().amount().units(), 250_000);
        assert_eq!(offer.order().method(), PaymentMethod::Authorization);
        assert_eq!(offer.order().purpose(), format!("reading {}", shop.url()));
        assert!(shop.presented().is_empty(), "a price is not paid by itself");

        let key = format!("version {version}");
        let bought = buy(&bench.payments, &offer, &key).await.unwrap();
        assert_eq!(bought.page.body, b"the data");
        let payment = bought.payment;
        assert_eq!(payment.state, PaymentState::Confirmed, "{:?}", payment.detail);
        assert!(bench.node.has_succeeded(payment.transaction().unwrap()).await);
        assert_eq!(bench.received().await, before + 250_000);

        // The same intention again is not paid again.
        let error = buy(&bench.payments, &offer, &key).await.unwrap_err();
        assert!(matches!(error, PaymentError::Offer(OfferError::AsksAgain(_))), "{error}");
        assert_eq!(shop.presented().len(), 1);
        assert_eq!(bench.received().await, before + 250_000);
    }
    assert_eq!(bench.spent_today().await, 500_000);
}

pub(crate) async fn a_price_above_a_limit_is_not_paid(location: DatabaseLocation) {
    let bench = Bench::with(&location, TestNode::start().await, |settings| {
        settings.limits.per_payment = UsdcAmount::from_whole(1);
        settings.limits.per_day = UsdcAmount::from_units(400_000).unwrap();
    })
    .await;
    let shop = open_shop(&bench, 2).await;
    let offer = read_price(&bench.payments, &shop).await.unwrap();
    let limit = UsdcAmount::from_units(249_999).unwrap();
    assert!(matches!(offer.check_price(limit), Err(OfferError::TooExpensive { .. })));
    buy(&bench.payments, &offer, "within").await.unwrap();
    let error = buy(&bench.payments, &offer, "above").await.unwrap_err();
    assert!(matches!(error, PaymentError::Limit(LimitRefusal::Day { .. })), "{error}");
    shop.change(|terms| "1000001".clone_into(&mut terms.units));
    let offer = read_price(&bench.payments, &shop).await.unwrap();
    let error = buy(&bench.payments, &offer, "too large").await.unwrap_err();
    assert!(matches!(error, PaymentError::Limit(LimitRefusal::Payment { .. })), "{error}");
    assert_eq!((shop.presented().len(), bench.received().await), (1, 250_000));
}

pub(crate) async fn a_site_that_changes_its_terms_gets_nothing(location: DatabaseLocation) {
    let bench = Bench::at(&location).await;
    let shop = open_shop(&bench, 2).await;
    let offer = read_price(&bench.payments, &shop).await.unwrap();
    let original = |terms: &mut Terms, network: &str| {
        network.clone_into(&mut terms.network);
        "250000".clone_into(&mut terms.units);
        RECIPIENT.clone_into(&mut terms.pay_to);
    };
    let changes: [(&str, TermsChange); 4] = [
        ("recipient", |terms| OTHER_RECIPIENT.clone_into(&mut terms.pay_to)),
        ("amount", |terms| "250001".clone_into(&mut terms.units)),
        ("network", |terms| "eip155:8453".clone_into(&mut terms.network)),
        ("asset", |terms| OTHER_RECIPIENT.clone_into(&mut terms.asset)),
    ];
    for (name, change) in changes {
        shop.change(|terms| {
            original(terms, "eip155:31337");
            change(terms);
        });
        let error = buy(&bench.payments, &offer, name).await.unwrap_err();
        let is_refusal = matches!(
            error,
            PaymentError::Offer(OfferError::Changed { .. } | OfferError::NoMatch { .. })
        );
        assert!(is_refusal, "{name}: {error}");
    }
    assert!(shop.presented().is_empty());
    assert_eq!(bench.spent_today().await, 0);
}

pub(crate) async fn a_site_that_was_paid_and_asks_again_gets_no_second_payment(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    let shop = open_shop(&bench, 2).await;
    let changes: [(&str, TermsChange); 5] = [
        ("the same", |_| ()),
        ("recipient", |terms| OTHER_RECIPIENT.clone_into(&mut terms.pay_to)),
        ("more", |terms| "250001".clone_into(&mut terms.units)),
        ("less", |terms| "1".clone_into(&mut terms.units)),
        ("network", |terms| "eip155:8453".clone_into(&mut terms.network)),
    ];
    for (number, (name, change)) in changes.into_iter().enumerate() {
        shop.change(|terms| terms.asks_again = None);
        let offer = read_price(&bench.payments, &shop).await.unwrap();
        let mut again = Terms::of(&bench.node, 2, RECIPIENT);
        change(&mut again);
        shop.change(|terms| terms.asks_again = Some(Box::new(again)));
        let error = buy(&bench.payments, &offer, name).await.unwrap_err();
        assert!(matches!(error, PaymentError::Offer(OfferError::AsksAgain(_))), "{name}: {error}");
        // The intention is used up, whatever the site asks for.
        let error = buy(&bench.payments, &offer, name).await.unwrap_err();
        assert!(matches!(error, PaymentError::Offer(OfferError::AsksAgain(_))), "{name}: {error}");
        assert_eq!(shop.presented().len(), number + 1, "{name}");
        // It holds an authorization, so the amount counts until that is over.
        assert_eq!(bench.present(name).await.state, PaymentState::Unknown);
        assert_eq!(bench.spent_today().await, 250_000 * (number as u64 + 1));
    }
    assert_eq!(bench.received().await, 0);
}

pub(crate) async fn a_payment_that_a_site_does_not_redeem_is_freed_after_its_end(
    location: DatabaseLocation,
) {
    let bench = Bench::with(&location, TestNode::start().await, |settings| {
        settings.receipt_timeout = std::time::Duration::from_millis(200);
    })
    .await;
    let shop = open_shop(&bench, 1).await;
    shop.change(|terms| terms.redeems = false);
    let offer = read_price(&bench.payments, &shop).await.unwrap();
    let bought = buy(&bench.payments, &offer, "unredeemed").await.unwrap();
    assert_eq!(bought.payment.state, PaymentState::Unknown);
    bench.node.mine(5).await;
    bench.payments.reconcile().await.unwrap();
    assert_eq!(bench.present("unredeemed").await.state, PaymentState::Unknown);
    bench.node.call("evm_increaseTime", json!([3600])).await;
    bench.node.mine(5).await;
    bench.payments.reconcile().await.unwrap();
    assert_eq!(bench.present("unredeemed").await.state, PaymentState::Failed);
    assert_eq!((bench.spent_today().await, bench.received().await), (0, 0));
}

pub(crate) async fn an_address_that_may_not_be_reached_is_not_asked_for_its_price(
    location: DatabaseLocation,
) {
    let bench = Bench::at(&location).await;
    let shop = open_shop(&bench, 1).await;
    let strict = Guard::new(Rules::default());
    let error = bench.payments.fetch(&strict, shop.url()).await.unwrap_err();
    assert!(matches!(error, PaymentError::Offer(OfferError::Fetch(_))), "{error}");
}
