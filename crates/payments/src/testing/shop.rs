//! Serves a page on loopback that costs money (x402), and redeems what it is paid.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{TestNode, call};
use crate::{AccountAddress, hex};

/// Says what a shop asks for, and how it behaves.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The version of x402.
    pub version: u32,
    /// The amount, in base units.
    pub units: String,
    /// The network.
    pub network: String,
    /// The recipient.
    pub pay_to: String,
    /// The token.
    pub asset: String,
    /// What it asks for after it was paid, if it asks again.
    pub asks_again: Option<Box<Terms>>,
    /// Takes what it is paid to the chain.
    pub redeems: bool,
}

impl Terms {
    /// Asks for a quarter of a USDC to this account, on the network of a node.
    pub fn of(node: &TestNode, version: u32, pay_to: &str) -> Self {
        let network = if version == 1 { "local" } else { "eip155:31337" };
        Self {
            version,
            units: "250000".to_owned(),
            network: network.to_owned(),
            pay_to: pay_to.to_owned(),
            asset: node.token.to_string(),
            asks_again: None,
            redeems: true,
        }
    }
}

/// A page that costs money. Clones share it.
#[derive(Clone)]
pub struct Shop {
    url: String,
    node_url: String,
    token: AccountAddress,
    terms: Arc<Mutex<Terms>>,
    payments: Arc<Mutex<Vec<Value>>>,
}

impl Shop {
    /// Opens one, for as long as the test runs.
    pub async fn open(node: &TestNode, terms: Terms) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let shop = Self {
            url: format!("http://{}/data", listener.local_addr().unwrap()),
            node_url: node.url(),
            token: node.token,
            terms: Arc::new(Mutex::new(terms)),
            payments: Arc::default(),
        };
        let router = Router::new().route("/data", get(serve)).with_state(shop.clone());
        tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        shop
    }

    /// Returns the address of the page.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Changes what it asks for.
    pub fn change(&self, change: impl FnOnce(&mut Terms)) {
        change(&mut self.terms.lock().unwrap());
    }

    /// Returns every payment that was presented.
    pub fn presented(&self) -> Vec<Value> {
        self.payments.lock().unwrap().clone()
    }

    fn ask(&self, terms: &Terms) -> Response {
        let Terms { version, units, network, asset, pay_to, .. } = terms;
        let amount = if *version == 1 { "maxAmountRequired" } else { "amount" };
        let accepted = json!({
            "scheme": "exact", "network": network, amount: units, "asset": asset, "payTo": pay_to,
            "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"},
        });
        let other = json!({"scheme": "subscription", "network": "solana", "terms": [1, 2]});
        let document = json!({
            "x402Version": version, "error": "pay", "accepts": [other, accepted],
            "resource": {"url": self.url, "description": "data", "mimeType": "text/plain"},
        });
        let status = StatusCode::PAYMENT_REQUIRED;
        if *version == 1 {
            return (status, document.to_string()).into_response();
        }
        let header = STANDARD.encode(document.to_string());
        (status, [("payment-required", header)], "pay").into_response()
    }

    /// Redeems an authorization; returns the hash of the transaction.
    async fn redeem(&self, payload: &Value) -> Value {
        let authorization = &payload["authorization"];
        let word = |name: &str| {
            let text = authorization[name].as_str().unwrap();
            match text.strip_prefix("0x") {
                Some(digits) => format!("{:0>64}", digits.to_lowercase()),
                None => format!("{:064x}", text.parse::<u128>().unwrap()),
            }
        };
        let signature = hex::decode(payload["signature"].as_str().unwrap()).unwrap();
        let fields = ["from", "to", "value", "validAfter", "validBefore", "nonce"].map(word);
        let data = format!(
            "0xe3ee160e{}{:064x}{}{}",
            fields.concat(),
            signature[64],
            hex::encode(&signature[..32]),
            hex::encode(&signature[32..64]),
        );
        let from = TestNode::rich_account();
        let transaction = json!([{"from": from, "to": self.token, "data": data}]);
        call(&self.node_url, "eth_sendTransaction", transaction).await
    }
}

async fn serve(State(shop): State<Shop>, headers: HeaderMap) -> Response {
    let terms = shop.terms.lock().unwrap().clone();
    let name = if terms.version == 1 { "x-payment" } else { "payment-signature" };
    let Some(header) = headers.get(name) else { return shop.ask(&terms) };
    let payment: Value = serde_json::from_slice(&STANDARD.decode(header).unwrap()).unwrap();
    shop.payments.lock().unwrap().push(payment.clone());
    if let Some(again) = &terms.asks_again {
        return shop.ask(again);
    }
    if terms.version == 2 {
        assert_eq!(payment["accepted"]["payTo"], terms.pay_to);
    }
    let transaction =
        if terms.redeems { shop.redeem(&payment["payload"]).await } else { Value::Null };
    let settlement = json!({"success": true, "transaction": transaction}).to_string();
    let name = if terms.version == 1 { "x-payment-response" } else { "payment-response" };
    ([(name, STANDARD.encode(settlement))], "the data").into_response()
}
