//! Tests external signers: one that signs what it is asked to, and those that sign something else.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use lango_egress::{Guard, HttpClientBuilder, Rules};
use lango_payments::testing::{Shop, Terms, TestNode};
use lango_payments::{
    ExternalSigner, FetchOutcome, PaidPage, PaymentError, PaymentState, Payments, SignerError,
    Wallet,
};
use lango_store::DatabaseLocation;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Bench, OTHER_RECIPIENT, RECIPIENT, pay};

/// An account of the node beside the one that pays.
const OTHER_ACCOUNT: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/// What a signer signs instead of what it is asked to.
type Lie = fn(&mut Value);

/// Starts a signer that asks the node to sign something else; returns its address.
async fn start_liar(node: &TestNode, lie: Lie) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/", post(sign_other)).with_state((node.url(), lie));
    tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
    url
}

async fn sign_other(State((node, lie)): State<(String, Lie)>, body: Bytes) -> Vec<u8> {
    let mut request: Value = serde_json::from_slice(&body).unwrap();
    lie(&mut request["params"]);
    let client = HttpClientBuilder::for_configured_address().build_for(&node.parse().unwrap());
    let sent = client.unwrap().post(node).header("content-type", "application/json");
    let answer = sent.body(request.to_string()).send().await.unwrap();
    answer.bytes().await.unwrap().to_vec()
}

fn signing(payments: &Payments, url: &str) -> Payments {
    let signer = ExternalSigner::new(TestNode::rich_account(), url).unwrap();
    payments.clone().with_wallet(Wallet::with_signer(Arc::new(signer)))
}

async fn buy(payments: &Payments, shop: &Shop, key: &str) -> Result<PaidPage, PaymentError> {
    let guard = Guard::new(Rules::parse(&["127.0.0.1".to_owned()], &[], &[]).unwrap());
    let FetchOutcome::Price(offer) = payments.fetch(&guard, shop.url()).await? else {
        panic!("the page costs nothing");
    };
    let cancel = CancellationToken::new();
    payments.fetch_paid(&guard, &offer, &key.parse().unwrap(), &cancel).await
}

pub(crate) async fn an_external_signer_pays_for_a_page(location: DatabaseLocation) {
    let bench = Bench::at(&location).await;
    bench.node.fund(TestNode::rich_account(), 10).await;
    let payments = signing(&bench.payments, &bench.node.url());
    let shop = Shop::open(&bench.node, Terms::of(&bench.node, 2, RECIPIENT)).await;
    let bought = buy(&payments, &shop, "external").await.unwrap();
    assert_eq!(bought.payment.state, PaymentState::Confirmed, "{:?}", bought.payment.detail);
    assert_eq!((bought.page.body.as_slice(), bench.received().await), (&b"the data"[..], 250_000));
}

pub(crate) async fn what_a_lying_signer_signs_is_not_sent(location: DatabaseLocation) {
    let bench = Bench::at(&location).await;
    bench.node.fund(TestNode::rich_account(), 10).await;
    let lies: [(&str, Lie); 7] = [
        ("another recipient", |params| {
            let data = params[0]["data"].as_str().unwrap().to_lowercase();
            let (from, to) = (&RECIPIENT[2..].to_lowercase(), &OTHER_RECIPIENT[2..].to_lowercase());
            params[0]["data"] = json!(data.replace(from.as_str(), to));
        }),
        ("more money", |params| {
            let data = params[0]["data"].as_str().unwrap().to_owned();
            params[0]["data"] = json!(format!("{}ff", &data[..data.len() - 2]));
        }),
        ("ether on top", |params| params[0]["value"] = json!("0x1")),
        ("a higher fee", |params| params[0]["maxFeePerGas"] = json!("0x174876e800")),
        ("another number", |params| params[0]["nonce"] = json!("0x64")),
        ("another contract", |params| params[0]["to"] = json!(OTHER_RECIPIENT)),
        ("another account", |params| params[0]["from"] = json!(OTHER_ACCOUNT)),
    ];
    for (name, lie) in lies {
        let payments = signing(&bench.payments, &start_liar(&bench.node, lie).await);
        let payment = pay(&payments, RECIPIENT, "1", name).await.unwrap();
        assert_eq!((payment.state, &payment.signed), (PaymentState::Failed, &None), "{name}");
        let detail = payment.detail.unwrap();
        let is_named =
            detail.contains("signed another transaction") || detail.contains("not of the wallet");
        assert!(is_named, "{name}: {detail}");
    }
    assert_eq!((bench.received().await, bench.spent_today().await), (0, 0));
    let moved = bench.node.units_of(OTHER_RECIPIENT.parse().unwrap()).await;
    assert_eq!(moved, 0);
}

pub(crate) async fn what_a_lying_signer_authorizes_is_not_presented(location: DatabaseLocation) {
    let bench = Bench::at(&location).await;
    bench.node.fund(TestNode::rich_account(), 10).await;
    let shop = Shop::open(&bench.node, Terms::of(&bench.node, 2, RECIPIENT)).await;
    let lies: [(&str, Lie); 5] = [
        ("another recipient", |params| params[1]["message"]["to"] = json!(OTHER_RECIPIENT)),
        ("more money", |params| params[1]["message"]["value"] = json!("9000000")),
        ("for ever", |params| params[1]["message"]["validBefore"] = json!("99999999999")),
        ("another chain", |params| params[1]["domain"]["chainId"] = json!(1)),
        ("another account", |params| params[0] = json!(OTHER_ACCOUNT)),
    ];
    for (name, lie) in lies {
        let payments = signing(&bench.payments, &start_liar(&bench.node, lie).await);
        let error = buy(&payments, &shop, name).await.unwrap_err();
        let is_refused = matches!(error, PaymentError::Signer(SignerError::OtherKey { .. }));
        assert!(is_refused, "{name}: {error}");
        assert_eq!(bench.present(name).await.state, PaymentState::Failed);
    }
    assert!(shop.presented().is_empty());
    assert_eq!((bench.received().await, bench.spent_today().await), (0, 0));
}
